"""Guests that answer whatever they like: the host's side of the ABI."""

from __future__ import annotations

from pathlib import Path

from evalspan.conformance.fuzz.host.guests import read_guest
from evalspan.conformance.fuzz.host.subjects.modules import run_guest
from evalspan.policies import Registry

__all__ = ["AnswerSubject"]

_REGISTRY = """
version = 1
[policy.default]
fuel = 20_000
deadline_ms = 60_000
memory_pages = 4
max_result_bytes = 32
[[evaluator]]
name = "guest"
module = "guest.wasm"
[[span]]
name = "calc"
open = "<c>"
close = "</c>"
evaluator = "guest"
"""
_MOST_INPUTS = 4


class AnswerSubject:
    """Runs the guest that a recipe describes, on both paths, twice each."""

    def __init__(self) -> None:
        self._registry = Registry.parse(_REGISTRY, folder=Path())

    def run(self, data: bytes) -> str:
        """What came of its inputs."""
        guest = read_guest(data)
        return run_guest(self._registry, guest.code(), guest.inputs[:_MOST_INPUTS] or [b"x"])[0]
