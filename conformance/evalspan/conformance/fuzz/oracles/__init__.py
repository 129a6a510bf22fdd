"""The oracles of evaluators: each a function of a trial that answers None, or why the answer cannot be right."""

from __future__ import annotations

from collections.abc import Callable

from evalspan.conformance.fuzz.oracles import agreement, answers, fuel, injection
from evalspan.conformance.fuzz.oracles.trial import Objection, Trial
from evalspan.conformance.fuzz.relations import RELATIONS

__all__ = ["Objection", "Oracle", "Trial", "every_time", "in_turn"]

Oracle = Callable[[Trial], Objection | None]
"""Judges one answer."""


def every_time(*, has_twin: bool) -> dict[str, Oracle]:
    """The oracles that judge every answer, by name; `has_twin` says that there is a second instance."""
    oracles: dict[str, Oracle] = {
        "trap": answers.trap,
        "error code": answers.error_code,
        "fuel bound": fuel.bound,
        "result cap": answers.result_cap,
        "canonical result": answers.canonical,
    }
    if has_twin:
        oracles["two instances"] = agreement.two_instances
    return oracles


def in_turn(spec: str) -> dict[str, Oracle]:
    """The oracles that take turns, one for each answer, by name: each asks again, in another way."""
    return {
        "two runs": agreement.two_runs,
        "injected text": injection.injected_text,
        **RELATIONS.get("", {}),
        **RELATIONS.get(spec, {}),
    }
