"""Two ways to the same answer: another instance, the same one again, and the reference."""

from __future__ import annotations

from evalspan.conformance.differential import agree
from evalspan.conformance.fuzz.oracles.trial import Objection, Trial
from evalspan.conformance.vectors import comparable, described
from evalspan.evaluators import Outcome, Value
from evalspan.policies import ErrorCode

__all__ = ["kind", "reference", "two_instances", "two_runs"]


def two_instances(trial: Trial) -> Objection | None:
    """A fresh instance gives the same answer for the same fuel as the one that is used again and again."""
    twin = trial.subject.twin
    return None if twin is None else _different(trial.outcome, twin(trial.data, trial.options))


def two_runs(trial: Trial) -> Objection | None:
    """The same instance gives the same answer again, for the same fuel, whatever it was asked in between."""
    trial.again(b"\x00" * min(64, trial.limits.max_input_bytes))
    return _different(trial.outcome, trial.again(trial.data))


def reference(trial: Trial) -> Objection | None:
    """The independent reference gives the same value and exactness, or the same code at the same byte."""
    ask = trial.subject.reference
    if ask is None:
        return None
    other = ask(trial.data, trial.options)
    if agree(trial.outcome, other):
        return None
    message = "" if isinstance(other, Value) or other.code is not ErrorCode.INTERNAL else f" ({other.message})"
    detail = f"{described(trial.outcome)}, the reference has {described(other)}{message}"
    return Objection(f"{kind(trial.outcome)} for {kind(other)}", detail)


def kind(outcome: Outcome) -> str:
    """`value` or the error code."""
    return "value" if isinstance(outcome, Value) else outcome.code.value


def _different(one: Outcome, other: Outcome) -> Objection | None:
    if one == other:
        return None
    if comparable(one) == comparable(other) and one.fuel != other.fuel:
        return Objection("fuel", f"{one.fuel} units of fuel, then {other.fuel}")
    return Objection(f"{kind(one)} then {kind(other)}", f"{described(one)}, then {described(other)}")
