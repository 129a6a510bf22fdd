"""Evaluating for one generation, within its budget of time."""

from __future__ import annotations

import time

from evalspan.evaluators import Evaluators, Failure, Outcome
from evalspan.policies import ErrorCode, SpanRule

__all__ = ["EvaluationClock"]


class EvaluationClock:
    """What a generation's evaluations have taken together; the registry's `max_evaluation_ms` bounds it."""

    def __init__(self, evaluators: Evaluators) -> None:
        self._evaluators = evaluators
        self._budget = evaluators.registry.limits.max_evaluation_ms * 1000.0
        self._spent = 0.0

    def evaluate(self, name: str, content: bytes, rule: SpanRule | None) -> tuple[Outcome, float]:
        """See `Evaluate` in `machine.py`; `over_budget` once the time is used up."""
        if self._spent > self._budget:
            return Failure(ErrorCode.OVER_BUDGET, "the generation has had its evaluation time"), 0.0
        start = time.perf_counter()
        if rule is None:
            outcome = self._evaluators.evaluate_bound(name, content)
        else:
            outcome = self._evaluators.evaluate(name, content, rule)
        microseconds = (time.perf_counter() - start) * 1e6
        self._spent += microseconds
        return outcome, round(microseconds, 1)
