"""Errors on their way from where they happen to the `Failure` that reports them."""

from __future__ import annotations

from evalspan.evaluators.outcome import Failure
from evalspan.policies.errors import ErrorCode

__all__ = ["Fault", "SyntaxFault", "failure_at"]


class Fault(Exception):
    """An operation has no answer; whoever knows which part of the input it was makes it a `Failure`."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class SyntaxFault(Fault):
    """An error of the parser, which knows the bytes `start` to `stop` of the input that it is about."""

    def __init__(self, code: ErrorCode, message: str, start: int, stop: int) -> None:
        super().__init__(code, message)
        self.start = start
        self.stop = stop


_MAX_PIECE_BYTES = 32  # of the input, in a message: the operator standard's bound


def failure_at(fault: Fault, data: bytes, start: int, stop: int) -> Failure:
    """The failure about `data[start:stop]`; a piece over 32 bytes is cut on a character boundary."""
    if stop > start + _MAX_PIECE_BYTES:
        stop = start + _MAX_PIECE_BYTES
        while stop > start and data[stop] & 0xC0 == 0x80:  # a UTF-8 continuation byte
            stop -= 1
    return Failure(fault.code, fault.message, start, stop - start)
