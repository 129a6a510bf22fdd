"""A subject with every fault that the host's fuzzer must see."""

from __future__ import annotations

import os

from evalspan.conformance.fuzz.host.subject import Disagreement
from evalspan.policies import EvalspanError

__all__ = ["Faulty"]

_MIB = 1 << 20


class Rude(EvalspanError):
    """Its text is not one line."""

    def __str__(self) -> str:
        return "one\ntwo"


class Faulty:
    """Does what the input says."""

    def run(self, data: bytes) -> str:
        if data == b"loop":
            while True:
                pass
        if data == b"much":
            return str(len(bytearray(300 * _MIB)))
        if data == b"all":
            return str(len(bytearray(4096 * _MIB)))
        if data == b"abort":
            os.abort()
        if data == b"exit":
            os._exit(3)
        if data == b"raise":
            raise ValueError("no\nline")
        if data == b"rude":
            raise Rude
        if data == b"typed":
            raise EvalspanError("fine")
        if data == b"differ":
            raise Disagreement("one is not the other", "1 and 2")
        return "fine"
