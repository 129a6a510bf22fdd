"""A cursor over a part of a WebAssembly binary, which never reads past its end."""

from __future__ import annotations

from evalspan.evaluators.binary import FormatError

__all__ = ["Reader"]

_MAX_LEB_BYTES = 10
"""Bytes of a 64-bit number; whether a number fits its own type is the engine's to say."""


class Reader:
    """Reads `code` from the offset `at` up to `end`; both count from the start of the file.

    Raises:
        FormatError: from every method, where the bytes end too early.
    """

    def __init__(self, code: bytes, at: int, end: int) -> None:
        self.code = code
        self.at = at
        self.end = end

    @property
    def done(self) -> bool:
        """Whether nothing is left."""
        return self.at >= self.end

    def byte(self) -> int:
        """One byte."""
        at = self.at
        if at >= self.end:
            raise FormatError(f"the bytes end at {at}, where more are due")
        self.at = at + 1
        return self.code[at]

    def peek(self) -> int:
        """The next byte, which stays."""
        byte = self.byte()
        self.at -= 1
        return byte

    def skip(self, count: int) -> None:
        """Pass `count` bytes."""
        if count > self.end - self.at:
            raise FormatError(f"{count} bytes are due at {self.at}, where {self.end - self.at} are left")
        self.at += count

    def number(self) -> int:
        """An unsigned LEB128 of up to 64 bits."""
        start, value = self.at, 0
        for shift in range(0, 7 * _MAX_LEB_BYTES, 7):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise FormatError(f"the number at {start} is too long")

    def signed(self) -> int:
        """A signed LEB128 of up to 64 bits."""
        start = self.at
        value = self.number()
        bits = 7 * (self.at - start)
        return value - (1 << bits) if value >> (bits - 1) else value

    def name(self) -> str:
        """A length and so many bytes of UTF-8; what is not UTF-8 is replaced."""
        length = self.number()
        start = self.at
        self.skip(length)
        return self.code[start : self.at].decode("utf-8", "replace")
