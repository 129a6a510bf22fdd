"""Cuts of a stream: the whole, single bytes, and some at random that are a function of the bytes."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import pairwise

from evalspan.conformance.generators import Chance

__all__ = ["chance_of", "cut_at_random", "cuts"]

_RANDOM = 3


def chance_of(data: bytes, turn: int = 0) -> Chance:
    """Choices that are a function of the bytes, so that a finding is repeated by its input alone."""
    chance = Chance()
    chance.restart(zlib.crc32(data), turn)
    return chance


def cut_at_random(data: bytes, chance: Chance) -> list[bytes]:
    """The bytes in pieces, many of them short; some are empty."""
    places = sorted(chance.below(len(data) + 1) for _ in range(chance.size(24)))
    return [data[start:end] for start, end in pairwise([0, *places, len(data)])]


def cuts(data: bytes) -> Iterator[list[bytes]]:
    """The same bytes in several chunkings; the whole comes first."""
    yield [data]
    yield [data[at : at + 1] for at in range(len(data))]
    for turn in range(_RANDOM):
        yield cut_at_random(data, chance_of(data, turn))
