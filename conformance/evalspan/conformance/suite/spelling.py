"""Every way to cut a text into the tokens of a vocabulary: the fewest, the most, and random ways between."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence

from evalspan.conformance.suite.outcome import Unsupported
from evalspan.orchestrator.backend import Tokenizer

__all__ = ["Spelling"]

_LONGEST = 64  # bytes of a piece that is looked for; what a span is made of is shorter


class Spelling:
    """A vocabulary by its pieces."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.pieces: Sequence[bytes] = tokenizer.pieces
        self._ids: dict[bytes, int] = {}
        control = tokenizer.special_ids | tokenizer.eos_ids
        for token, piece in enumerate(self.pieces):
            if piece and len(piece) <= _LONGEST and token not in control:
                self._ids.setdefault(piece, token)

    def token(self, piece: bytes) -> int | None:
        """The token of a piece, where there is one."""
        return self._ids.get(piece)

    def beginning(self, start: bytes) -> Iterator[tuple[bytes, int]]:
        """The pieces that begin so and go on, with their tokens."""
        for piece, token in self._ids.items():
            if len(piece) > len(start) and piece.startswith(start):
                yield piece, token

    def spell(self, tokens: Sequence[int]) -> bytes:
        """The bytes of tokens."""
        return b"".join(self.pieces[token] for token in tokens)

    def fewest(self, text: bytes) -> list[int]:
        """The text in large tokens."""
        return self._cut(text, lambda sizes: sizes[-1])

    def most(self, text: bytes) -> list[int]:
        """The text in small tokens: bytes, where the vocabulary has them all."""
        return self._cut(text, lambda sizes: sizes[0])

    def by_chance(self, text: bytes, seed: int) -> list[int]:
        """The text in tokens of any size."""
        chance = random.Random(seed)  # noqa: S311  a reproducible choice, nothing secret
        return self._cut(text, chance.choice)

    def uncrossed(self, text: bytes) -> list[int]:
        """As `fewest`, with no token over the end of a close tag: what such a token has behind it is dropped."""
        return _joined(map(self.fewest, _parts(text)))

    def ways(self, text: bytes, count: int, *, crossing: bool = True) -> list[list[int]]:
        """Different ways to cut the text, `count` at most; with `crossing` also over a close tag's end."""
        parts = [text] if crossing else _parts(text)
        found = [_joined(map(self.fewest, parts)), _joined(map(self.most, parts))]
        found += [_joined(self.by_chance(part, seed) for part in parts) for seed in range(4 * count)]
        return [list(way) for way in dict.fromkeys(map(tuple, found))][:count]

    def _cut(self, text: bytes, choose: Callable[[list[int]], int]) -> list[int]:
        following = self._following(text)
        tokens: list[int] = []
        at = 0
        while at < len(text):
            size = choose(following[at])
            tokens.append(self._ids[text[at : at + size]])
            at += size
        return tokens

    def _following(self, text: bytes) -> list[list[int]]:
        """For each place, the sizes of pieces after which the text can be spelt to its end."""
        sizes: list[list[int]] = [[] for _ in text]
        for at in range(len(text) - 1, -1, -1):
            for size in range(1, min(_LONGEST, len(text) - at) + 1):
                end = at + size
                if text[at:end] in self._ids and (end == len(text) or sizes[end]):
                    sizes[at].append(size)
        if text and not sizes[0]:
            raise Unsupported(f"the vocabulary cannot spell {text!r}")
        return sizes


def _parts(text: bytes) -> list[bytes]:
    """The text, cut after each close tag."""
    parts: list[bytes] = []
    start = 0
    while (tag := text.find(b"</", start)) >= 0 and (end := text.find(b">", tag) + 1):
        parts.append(text[start:end])
        start = end
    return [*parts, text[start:]] if start < len(text) else parts


def _joined(lists: Iterable[list[int]]) -> list[int]:
    return [token for tokens in lists for token in tokens]
