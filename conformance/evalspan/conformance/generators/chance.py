"""Choices from one stream of random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

__all__ = ["Chance"]

T = TypeVar("T")


class Chance:
    """Choices that are a function of a seed and an index, the same in every version of Python.

    Every choice is one number of `Random.random`, the only method whose sequence Python promises to keep. A 0 is
    the simplest choice, so that what shrinks the numbers shrinks the sample.
    """

    __slots__ = ("_source", "random")

    def __init__(self, source: Random | None = None) -> None:
        """Choices from `source`, or from a stream that `restart` must begin."""
        self._source = source or Random()  # noqa: S311 - samples, not secrets
        self.random = self._source.random
        """The next number in [0, 1)."""

    def restart(self, seed: int, index: int) -> None:
        """Begin the stream of `index` under `seed`; neither is negative, and an index is below 2**64."""
        self._source.seed(seed << 64 | index)

    def below(self, bound: int) -> int:
        """An integer from 0 to `bound` - 1."""
        return int(self.random() * bound)

    def between(self, least: int, most: int) -> int:
        """An integer from `least` to `most`, both included."""
        return least + int(self.random() * (most - least + 1))

    def pick(self, items: Sequence[T]) -> T:
        """One of the items, each with the same chance."""
        return items[int(self.random() * len(items))]

    def one_in(self, times: int) -> bool:
        """True once in so many times."""
        return self.random() >= 1 - 1 / times

    def size(self, most: int) -> int:
        """A size from 1 to `most`, small ones far more often."""
        return 1 + int(self.random() ** 3 * most)

    def digits(self, count: int) -> str:
        """So many decimal digits."""
        # 15 digits are what one number can tell apart.
        blocks = "".join(f"{int(self.random() * 10**15):015}" for _ in range(0, count, 15))
        return blocks[:count]
