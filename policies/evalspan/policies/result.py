"""The result policy: what a text must be before it may be forced into a sequence."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from evalspan.policies.patterns import LinearPattern

__all__ = ["MAX_PIECE_BYTES", "ResultPolicy", "quote_piece"]

MAX_PIECE_BYTES = 32
"""How much of the input a message may quote."""


class ResultPolicy:
    """Decides whether a text may stand inside a fence. For one thread at a time."""

    def __init__(self, tags: Iterable[str], max_bytes: int, pattern: str | None = None) -> None:
        self._tags = tuple(dict.fromkeys(tag.encode() for tag in tags))
        self._starts = tuple(dict.fromkeys(tag[:1] for tag in self._tags))
        self._max_bytes = max_bytes
        self._pattern = None if pattern is None else LinearPattern(pattern)

    def objection(self, text: str) -> str | None:
        """Why `text` may not be injected, or None where it may. The reason never quotes the text."""
        try:
            data = text.encode()
        except UnicodeEncodeError:
            return "the text is not valid UTF-8"
        if len(data) > self._max_bytes:
            return f"the text has {len(data)} bytes, the limit is {self._max_bytes}"
        if not text.isascii() or not text.isprintable():
            for char in text:
                if unicodedata.category(char) in _FORBIDDEN:
                    return f"the text has a control character, U+{ord(char):04X}"
        for start in self._starts:  # nearly every text has no byte that begins a tag: one look instead of many
            if start in data and any(tag in data for tag in self._tags):
                return "the text has a registered tag"
        if self._pattern is not None and not self._pattern.matches(data):
            return f"the text does not match the result pattern {self._pattern.pattern!r}"
        return None


_FORBIDDEN = frozenset({"Cc", "Cs"})  # control characters and surrogates


def quote_piece(data: bytes, offset: int, length: int) -> str:
    """The piece of `data` that an error is about: at most 32 bytes of whole characters, '' if it is no text."""
    piece = data[offset : offset + min(length, MAX_PIECE_BYTES)]
    while piece:
        try:
            return piece.decode()
        except UnicodeDecodeError as error:
            if error.end < len(piece) or error.reason != "unexpected end of data":
                return ""
            piece = piece[: error.start]
    return ""
