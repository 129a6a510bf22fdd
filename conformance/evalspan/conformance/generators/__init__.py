"""Random inputs of each operator, right and broken: each a function of a seed and an index.

One module per operator has its grammar (`text`), its tokens (`FRAGMENTS`) and the sets of options that are worth
trying (`OPTIONS`). They share no code with the operators and judge no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from evalspan.conformance.generators import arithmetic, checksums, dates, strings
from evalspan.conformance.generators.chance import Chance
from evalspan.conformance.generators.mutation import mutated, noise

__all__ = ["GENERATORS", "Chance", "Generator", "Sample"]


@dataclass(frozen=True, slots=True)
class Sample:
    """One input and the options that differ from their defaults."""

    data: bytes
    options: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Generator:
    """What makes inputs of one specification."""

    text: Callable[[Chance], str]
    """An input that is right, or has a mistake that a writer would make."""
    fragments: Sequence[bytes]
    options: Sequence[Mapping[str, int]]

    def draw(self, chance: Chance) -> Sample:
        """Two inputs in three as the grammar has them, the others with bytes inserted, changed and taken out."""
        options = chance.pick(self.options)
        kind = chance.random()
        if kind > 0.97:
            return Sample(noise(chance, self.fragments), options)
        data = self.text(chance).encode()
        if kind > 0.66:
            data = mutated(data, chance, self.fragments)
        return Sample(data, options)


GENERATORS: Mapping[str, Generator] = MappingProxyType(
    {
        "arithmetic/1": Generator(arithmetic.text, arithmetic.FRAGMENTS, arithmetic.OPTIONS),
        "checksums/1": Generator(checksums.text, checksums.FRAGMENTS, checksums.OPTIONS),
        "dates/1": Generator(dates.text, dates.FRAGMENTS, dates.OPTIONS),
        "strings/1": Generator(strings.text, strings.FRAGMENTS, strings.OPTIONS),
    }
)
"""By specification."""
