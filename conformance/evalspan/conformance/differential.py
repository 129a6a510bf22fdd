"""The same random inputs on two runtimes: whatever they answer, they must agree.

An input is a function of the specification, a seed and an index, so that a run can go on where it stopped and any of
its inputs can be asked again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from evalspan.conformance.generators import GENERATORS, Chance, Sample
from evalspan.conformance.minimize import minimized_sample
from evalspan.conformance.runtimes import on_runtime
from evalspan.conformance.vectors import Evaluate, comparable
from evalspan.evaluators import Outcome, RuntimeName, Value
from evalspan.policies import ErrorCode

__all__ = ["RUNTIMES", "Disagreement", "Pair", "Tally", "agree", "compare", "pair", "samples"]

RUNTIMES: tuple[RuntimeName, RuntimeName] = ("wasm", "in_process")
"""What is compared: the module and the reference, which share no code."""

FUEL = 1_000_000_000
"""The most that a policy may allow: an evaluation that runs out of fuel compares nothing."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two implementations."""

    left: Evaluate
    right: Evaluate

    def answers(self, sample: Sample) -> tuple[Outcome, Outcome]:
        """What each answers."""
        return self.left(sample.data, sample.options), self.right(sample.data, sample.options)


def agree(left: Outcome, right: Outcome) -> bool:
    """Whether two answers are one: value and exactness, or code and offset. No fault of either is an answer.

    Running out of fuel is outside the equality: only one of the two has any.
    """
    codes = {outcome.code for outcome in (left, right) if not isinstance(outcome, Value)}
    if ErrorCode.FUEL_EXHAUSTED in codes:
        return True
    return ErrorCode.INTERNAL not in codes and comparable(left) == comparable(right)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An input that has two answers."""

    index: int
    sample: Sample
    shortest: Sample
    """What is left of the sample when all is taken out that the disagreement does not need."""
    answers: tuple[Outcome, Outcome]
    """Those to the shortest."""


@dataclass(slots=True)
class Tally:
    """What was compared so far."""

    start: int
    compared: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    """How many answers are a value, and how many each error code, by the first implementation."""
    disagreement: Disagreement | None = None

    @property
    def next_index(self) -> int:
        """The index to go on with."""
        return self.start + self.compared


def samples(spec: str, seed: int, start: int) -> Iterator[Sample]:
    """The inputs of a specification from the index `start` on, without end."""
    generator, chance, index = GENERATORS[spec], Chance(), start
    while True:
        chance.restart(seed, index)
        yield generator.draw(chance)
        index += 1


@contextmanager
def pair(spec: str) -> Iterator[Pair]:
    """The two implementations of a specification.

    Raises:
        EvaluatorError: one is not there; the reference needs the extra `reference`.
    """
    left, right = RUNTIMES
    with on_runtime(spec, left, fuel=FUEL) as one, on_runtime(spec, right) as other:
        yield Pair(one, other)


def compare(
    spec: str, both: Pair, tally: Tally, *, seed: int, count: int, on_progress: Callable[[int], None] | None = None
) -> None:
    """Ask both implementations the next `count` inputs after `tally`, up to the first disagreement.

    `tally` is up to date after every input, so that an interrupted run knows where to go on. `on_progress` is called
    with the number of inputs compared, about a hundred times a second.
    """
    often = 200  # 50 to 100 us each
    for sample in samples(spec, seed, tally.next_index):
        if tally.compared >= count:
            break
        left, right = both.answers(sample)
        if not agree(left, right):
            tally.disagreement = _shortened(both, tally.next_index, sample)
            break
        tally.answers["value" if isinstance(left, Value) else left.code.value] += 1
        tally.compared += 1
        if on_progress is not None and tally.compared % often == 0:
            on_progress(tally.compared)


def _shortened(both: Pair, index: int, sample: Sample) -> Disagreement:
    def differs(data: bytes, options: Mapping[str, int]) -> bool:
        return not agree(*both.answers(Sample(data, options)))

    shortest = minimized_sample(sample, differs)
    return Disagreement(index, sample, shortest, both.answers(shortest))
