"""The work of an evaluation is bounded by the length of its input."""

from __future__ import annotations

from evalspan.conformance.fuzz.oracles.trial import Objection, Trial
from evalspan.conformance.generators import GENERATORS
from evalspan.evaluators import Value
from evalspan.evaluators.fuel_bounds import fuel_bound
from evalspan.policies import ErrorCode

__all__ = ["bound", "stated_bound"]


def stated_bound(trial: Trial) -> int:
    """The most fuel that an input of this length may take: what the specification states, else the policy's limit."""
    subject = trial.subject
    if subject.spec not in GENERATORS:
        return subject.fuel_limit
    return fuel_bound(subject.spec, len(trial.data), trial.limits)


def bound(trial: Trial) -> Objection | None:
    """An evaluation takes no more fuel than is stated for the length of its input, and never runs out of fuel below."""
    outcome = trial.outcome
    most = stated_bound(trial)
    fuel = outcome.fuel or 0
    exhausted = not isinstance(outcome, Value) and outcome.code is ErrorCode.FUEL_EXHAUSTED
    if fuel <= most and not exhausted:
        return None
    if exhausted and ErrorCode.FUEL_EXHAUSTED in trial.subject.allowed:
        return None
    return Objection("over the bound", f"{fuel} units for {len(trial.data)} bytes, the bound is {most}")
