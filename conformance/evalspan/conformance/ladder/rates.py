"""Rates over all inputs, with intervals: what share of a file holds at each rung."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from evalspan.conformance.ladder.climb import RUNGS, Climb, Rung

__all__ = ["LEVEL", "RESAMPLES", "LadderReport", "RungReport", "report"]

RESAMPLES = 10_000
"""Resamples of a bootstrap: the ends of an interval move by less than a tenth of its width with another seed."""

LEVEL = 0.95
"""Of an interval."""


@dataclass(frozen=True, slots=True)
class RungReport:
    """One rung over all inputs: `inputs` are `passed`, `failed` and `not_asked` together.

    An input that fails below fails here. `rate` is of the inputs that this was asked of, None where it was asked of
    none; whether it is asked depends on the input, never on the output. `low` and `high` are its percentile interval.
    `of_all` is what share of all inputs is known to hold: what was not asked does not count as passed.
    """

    rung: Rung
    inputs: int
    passed: int
    failed: int
    not_asked: int
    rate: float | None
    low: float | None
    high: float | None
    of_all: float


@dataclass(frozen=True, slots=True)
class LadderReport:
    """The ladder of a file."""

    rungs: tuple[RungReport, ...]
    resamples: int
    level: float
    seed: int
    climbs: tuple[Climb, ...]

    def as_json(self) -> dict[str, Any]:
        """As JSON: rungs, how the intervals were made, and every input that fails with its reason."""
        failures = [
            {"id": climb.id, "line": climb.number, "failed": climb.failed, "reason": climb.reason}
            for climb in self.climbs
            if climb.failed is not None
        ]
        bootstrap = {"resamples": self.resamples, "level": self.level, "seed": self.seed}
        return {"rungs": [asdict(rung) for rung in self.rungs], "bootstrap": bootstrap, "failures": failures}


def report(climbs: Sequence[Climb], *, resamples: int = RESAMPLES, seed: int = 0) -> LadderReport:
    """The rates of some climbs. An interval is a percentile bootstrap over inputs (Efron 1979), not over tokens."""
    random = np.random.Generator(np.random.PCG64(seed))
    rungs = tuple(_rung(rung, climbs, resamples, random) for rung in RUNGS)
    return LadderReport(rungs, resamples, LEVEL, seed, tuple(climbs))


def _rung(rung: Rung, climbs: Sequence[Climb], resamples: int, random: np.random.Generator) -> RungReport:
    asked = [climb for climb in climbs if rung in climb.asked]
    passed = sum(climb.passes(rung) for climb in asked)
    inputs = len(climbs)
    counts = (passed, len(asked) - passed, inputs - len(asked))
    if not asked:
        return RungReport(rung, inputs, *counts, None, None, None, passed / inputs)
    # Drawing so many inputs with replacement gives multinomial counts of the three kinds.
    drawn = random.multinomial(inputs, [count / inputs for count in counts], size=resamples)
    asked_of = drawn[:, 0] + drawn[:, 1]
    rates = drawn[asked_of > 0, 0] / asked_of[asked_of > 0]
    low, high = np.quantile(rates, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return RungReport(rung, inputs, *counts, passed / len(asked), float(low), float(high), passed / inputs)
