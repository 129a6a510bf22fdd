"""An awkward vocabulary: whatever real tokenizers do to make masks go wrong, in a few hundred tokens."""

from __future__ import annotations

from collections.abc import Iterable

from evalspan.backends.scripted import ScriptedTokenizer
from evalspan.backends.vocabulary import vocabulary_digest

__all__ = ["AWKWARD", "AwkwardTokenizer"]

AWKWARD: tuple[bytes, ...] = (
    *(b"<", b"</", b"<c", b"c>", b"<c>", b"</c>", b"</c", b"/c>", b"c", b">"),  # tags, whole and in other cuts
    *(b"<r>", b"</r>", b"<r", b"r>", b"<e>", b"</e>", b"<e>5</e>"),  # the engine's tags
    *(b"</c><r>", b"</c><r>2</r>", b"1</c>x", b">.", b"><", b"c><", b">\n\n", b"x<c>1", b"x<r"),  # over a tag's end
    *(b'{"', b'": ', b'"}', b'": 1', b"12}", b'"k": "', b'", "n": ', b'{"k": "a", "n": 12}'),  # over several terminals
    *(b'{"n"', b" 1", b"10", b"13", b"012", b"1.0", b"-0", b"1e0", b'"\n', b'  "', b" null", b"}}"),  # fragments
    *(b"\\u0061", b"\\u", b"\\x", b"\\'", b'\\"', b"\\\\", b'a\\"', b"\\ud83d", b"\\"),  # escapes, right and wrong
    *("é".encode(), b"a\xc3", b"\xa9x", b"\xe2\x82", b"\xac", "€x".encode(), b"\xf0\x9f"),  # characters, cut
    *(b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\x00", b"\x7f", b"\r\n"),  # what is no text, or hardly
    *(b"<|end|>", b"<|evalspan:0|>", b"<|control:256|>", b"[<", b"]>"),  # text that is spelt like a control token
)
"""Pieces that every case is tried with, beside its own and all bytes."""


class AwkwardTokenizer(ScriptedTokenizer):
    """All bytes and the pieces given, some of them twice; two end tokens, a control token, and one that is empty."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        super().__init__(pieces)
        longer = [piece for piece in self.pieces if len(piece) > 1]
        size = len(self.pieces)
        self.pieces = (*self.pieces, b"", b"", b"", *longer[::5], b"a", b"<")
        self.eos_ids = self.eos_ids | {size}
        self.special_ids = self.special_ids | {size, size + 1}
        # Token size + 2 is empty and no control token: some vocabularies have such placeholders.
        self.digest = vocabulary_digest(self.pieces, self.special_ids, self.eos_ids)
