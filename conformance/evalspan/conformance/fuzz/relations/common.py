"""Relations of several operators."""

from __future__ import annotations

from evalspan.conformance.fuzz.oracles.trial import Objection, Trial
from evalspan.conformance.vectors import described
from evalspan.evaluators import Outcome, Value
from evalspan.policies import ErrorCode

__all__ = ["parentheses", "result_again", "white_space"]

_GAPS = (b" ", b"\t", b"\n", b"\r\n", b"  \r")
_SIZES = (ErrorCode.TOO_LONG, ErrorCode.TOO_DEEP, ErrorCode.FUEL_EXHAUSTED)
"""Codes that depend on the length or the depth of the input: a longer or deeper one may have them."""


def white_space(trial: Trial) -> Objection | None:
    """White space before an input changes nothing but offsets; white space around one with a value changes nothing."""
    outcome = trial.outcome
    gap = trial.chance.pick(_GAPS)
    if isinstance(outcome, Value):
        other = trial.again(gap + trial.data + trial.chance.pick(_GAPS))
        return None if _of_size(other) or _same_value(outcome, other) else _objection(outcome, other)
    if outcome.code in _SIZES:
        return None
    other = trial.again(gap + trial.data)
    if _of_size(other) or (
        not isinstance(other, Value) and other.code is outcome.code and _moved(trial, other, len(gap))
    ):
        return None
    return _objection(outcome, other)


def parentheses(trial: Trial) -> Objection | None:
    """Parentheses around a whole expression change nothing but the offset of an error of the evaluation."""
    outcome = trial.outcome
    if not isinstance(outcome, Value) and outcome.code in (*_SIZES, ErrorCode.SYNTAX):
        return None
    other = trial.again(b"(" + trial.data + b")")
    if _of_size(other):
        return None
    if isinstance(outcome, Value):
        return None if _same_value(outcome, other) else _objection(outcome, other)
    if not isinstance(other, Value) and other.code is outcome.code and _moved(trial, other, 1):
        return None
    return _objection(outcome, other)


def result_again(trial: Trial) -> Objection | None:
    """A result is an expression of itself, where the operator can read it."""
    outcome = trial.outcome
    if not isinstance(outcome, Value) or outcome.text.isalpha() or "W" in outcome.text:
        return None  # true, a weekday and a week are results that are no expressions
    other = trial.again(outcome.text.encode())
    if isinstance(other, Value):
        same = other.text == outcome.text and other.exact
        return None if same else _objection(outcome, other)
    # A text of a thousand digits may be too long to be read again, and a rounded one may have more digits than allowed.
    return None if _of_size(other) or other.code is ErrorCode.TOO_LARGE else _objection(outcome, other)


def _moved(trial: Trial, other: Outcome, by: int) -> bool:
    """Whether an error moved with its piece; that of a result too large is about no piece, and stays at 0."""
    outcome = trial.outcome
    if isinstance(outcome, Value) or isinstance(other, Value):
        return False
    at_start = outcome.code is ErrorCode.TOO_LARGE and outcome.offset == 0 == other.offset
    return at_start or other.offset == outcome.offset + by


def _of_size(outcome: Outcome) -> bool:
    return not isinstance(outcome, Value) and outcome.code in _SIZES


def _same_value(one: Value, other: Outcome) -> bool:
    return isinstance(other, Value) and (one.text, one.exact) == (other.text, other.exact)


def _objection(outcome: Outcome, other: Outcome) -> Objection:
    return Objection(f"{_kind(outcome)} and {_kind(other)}", f"{described(outcome)}, but {described(other)}")


def _kind(outcome: Outcome) -> str:
    return "value" if isinstance(outcome, Value) else outcome.code.value
