"""`bench overhead`: what an injection costs on each runtime, what one evaluation can cost at most, and the goals."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any, NamedTuple

from evalspan.conformance.bench.decode_step import DecodeStep, between_steps
from evalspan.conformance.bench.holds import Hold, count, holds
from evalspan.conformance.bench.machine import load, machine_line
from evalspan.conformance.bench.progress import Progress
from evalspan.conformance.bench.subjects import CaseName, Subject, Variant, opened
from evalspan.conformance.bench.timing import interleaved, median_us, percentile_us

__all__ = ["Goal", "Overhead", "Row", "run"]

_HOLD_REPEATS = 5
"""One takes up to a second. The longest of five is what is reported."""
_STEPS_EACH = 25
"""Decode steps of some 10 ms for each evaluator and runtime: 400 in all."""

_ARITHMETIC_RATIO, _OTHER_RATIO, _OTHER_US, _FRESH_US = 1.0, 2.0, 10.0, 20.0
"""The goals, all of the typical input: what a sandbox may cost so that nobody has a reason to do without it."""


class Row(NamedTuple):
    """What one evaluation costs."""

    evaluator: str
    runtime: Variant
    case: CaseName
    p50_us: float
    p99_us: float
    ratio_to_in_process: float
    """Of the medians in this run."""
    fuel: int | None
    """None where the runtime has none."""


class Goal(NamedTuple):
    """A goal, and what was measured."""

    about: str
    measured: str
    met: bool


class Overhead(NamedTuple):
    """All that one run measured."""

    machine: str
    load: str
    """Load average before and after."""
    rounds: int
    rows: list[Row]
    holds: list[Hold]
    decode_step: DecodeStep | None

    @property
    def longest_hold_us(self) -> float:
        """The longest time that one evaluation held the caller at the default fuel."""
        return max(hold.longest_us for hold in self.holds)

    @property
    def goals(self) -> list[Goal]:
        """The goals in the order of the evaluators."""
        goals: list[Goal] = []
        typical = {(row.evaluator, row.runtime): row for row in self.rows if row.case == "typical"}
        for (evaluator, runtime), row in typical.items():
            ratio, p50 = row.ratio_to_in_process, row.p50_us
            measured = f"{ratio:.2f}, {p50:.1f} us"
            if runtime == "wasm" and evaluator == "arithmetic":
                about = f"{evaluator} in wasm: at most {_ARITHMETIC_RATIO} of in_process"
                goals.append(Goal(about, measured, ratio <= _ARITHMETIC_RATIO))
            elif runtime == "wasm":
                about = f"{evaluator} in wasm: at most {_OTHER_RATIO} of in_process, or under {_OTHER_US:.0f} us"
                goals.append(Goal(about, measured, ratio <= _OTHER_RATIO or p50 < _OTHER_US))
            elif runtime == "wasm_fresh":
                goals.append(Goal(f"{evaluator} in wasm_fresh: under {_FRESH_US:.0f} us", measured, p50 < _FRESH_US))
        return goals

    def as_json(self) -> dict[str, Any]:
        """What `--json` prints; `decode_step` is there where a model was given."""
        answer: dict[str, Any] = {
            "machine": self.machine,
            "rows": [row._asdict() for row in self.rows],
            "longest_hold_us": round(self.longest_hold_us, 1),
        }
        if self.decode_step is not None:
            step = self.decode_step
            answer["decode_step"] = step._asdict() | {"shares": [share._asdict() for share in step.shares]}
        return answer


def run(rounds: int, model: str | None) -> Overhead:
    """Measure; progress goes to standard error.

    Raises:
        EvaluatorError: a runtime or a library of a reference is not installed.
        BackendError: the model cannot be used.
    """
    before = load()
    decode_step = None
    with opened() as (groups, sandbox):
        if model is not None:  # first, so that a model that cannot be used is known at once
            each = min(_STEPS_EACH, rounds)
            typical = [subject for group in groups for subject in group if subject.case == "typical"]
            with Progress("evaluations between decode steps", each) as progress:
                decode_step = between_steps(model, typical, each, progress.step)
        with Progress("rounds", rounds) as progress:
            samples = interleaved([[subject.run for subject in group] for group in groups], rounds, progress.step)
        rows = [row for group, times in zip(groups, samples, strict=True) for row in _rows(group, times)]
    repeats = min(_HOLD_REPEATS, rounds)
    with Progress("longest holds", count(repeats)) as progress:
        longest = holds(repeats, progress.step)
    machine = f"{machine_line('wasmtime')}, {sandbox} sandbox"
    return Overhead(machine, f"{before} before, {load()} after", rounds, rows, longest, decode_step)


def _rows(group: list[Subject], samples: list[array[int]]) -> Iterator[Row]:
    """The rows of one expression.

    Raises:
        RuntimeError: a runtime no longer gives the right answer, so that nobody knows what was measured.
    """
    medians = [median_us(times) for times in samples]
    base = next(median for median, subject in zip(medians, group, strict=True) if subject.runtime == "in_process")
    for subject, times, median in zip(group, samples, medians, strict=True):
        subject.check()
        yield Row(
            evaluator=subject.evaluator,
            runtime=subject.runtime,
            case=subject.case,
            p50_us=round(median, 2),
            p99_us=round(percentile_us(times, 99), 2),
            ratio_to_in_process=round(median / base, 4),
            fuel=subject.fuel,
        )
