"""Evaluators with faults, for the tests to find: each line of `ask` is one of them."""

from __future__ import annotations

import os
import time

__all__ = ["CALLS", "ask", "flood", "only_text"]

CALLS: list[int] = []


def ask(text: str) -> object:
    """Adds numbers, unless a sign asks for a fault."""
    if "&" in text:
        raise KeyError(text)
    if ";" in text:
        time.sleep(60)
    if "|" in text:
        return len(bytearray(2**34))
    if "~" in text:
        os._exit(3)
    if "@" in text:
        raise SystemExit(1)
    if "!" in text:
        CALLS.append(1)
        return len(CALLS)
    if "^" in text:
        raise ValueError("declared")
    return sum(text.encode())


def only_text(text: bytes) -> int:
    """Wants text, and so does not take bytes that are none."""
    return len(text.decode())


def flood(text: str) -> object:
    """Prints, which is no answer."""
    print("x" * 100_000)
    return text
