"""What every answer of an evaluator must be, whatever the operator."""

from __future__ import annotations

import re

from evalspan.conformance.fuzz.oracles.trial import Objection, Trial
from evalspan.conformance.vectors import described
from evalspan.evaluators import Value
from evalspan.policies import ErrorCode

__all__ = ["canonical", "error_code", "result_cap", "trap"]

_RESOURCES = (ErrorCode.FUEL_EXHAUSTED, ErrorCode.MEMORY_EXHAUSTED)


def trap(trial: Trial) -> Objection | None:
    """No trap, no broken response: an evaluation ends with a value or with a typed error.

    Running out of memory is one that the user may allow; running out of fuel is for the fuel bound to judge.
    """
    outcome = trial.outcome
    if isinstance(outcome, Value) or outcome.code in trial.subject.allowed:
        return None
    if outcome.code in (ErrorCode.INTERNAL, ErrorCode.MEMORY_EXHAUSTED):
        cause = re.sub(r"[0-9]+", "N", f"{outcome.code.value}: {outcome.message}")
        return Objection(cause, f"{outcome.code.value}: {outcome.message}")
    return None


def error_code(trial: Trial) -> Objection | None:
    """Only the error codes of the specification, with an offset inside the input."""
    outcome = trial.outcome
    if isinstance(outcome, Value):
        return None
    code, subject = outcome.code, trial.subject
    if code in subject.codes:
        if 0 <= outcome.offset <= len(trial.data):
            return None
        return Objection("offset outside the input", f"{code.value} at byte {outcome.offset} of {len(trial.data)}")
    if code in subject.allowed or code in _RESOURCES or code in (ErrorCode.INTERNAL, ErrorCode.REFUSED):
        return None  # another oracle's, or allowed
    return Objection(f"{code.value} is not of {subject.spec}", f"{code.value}: {outcome.message}")


def result_cap(trial: Trial) -> Objection | None:
    """A value is UTF-8 and within `max_result_bytes`; the host refuses what is not, the evaluator must not try."""
    outcome = trial.outcome
    if isinstance(outcome, Value):
        size, limit = len(outcome.text.encode("utf-8", "surrogatepass")), trial.limits.max_result_bytes
        return Objection("over the limit", f"{size} bytes, the limit is {limit}") if size > limit else None
    if outcome.code is ErrorCode.REFUSED and outcome.code not in trial.subject.allowed:
        return Objection(re.sub(r"[0-9]+", "N", outcome.message), f"the host refused the result: {outcome.message}")
    return None


def canonical(trial: Trial) -> Objection | None:
    """A value is the shortest canonical text: no sign of zero, no zeros at the ends, no form of its own."""
    outcome = trial.outcome
    if not isinstance(outcome, Value):
        return None
    form = _FORMS.get(trial.subject.spec)
    if form is None or (form.fullmatch(outcome.text) and outcome.text not in ("-0", "-PT0S")):
        return None
    return Objection("not canonical", f"{described(outcome)} is not canonical")


# Results of an evaluator under test, at most 16 KiB, and expressions without nested repetition: matching is linear.
_INTEGER = r"-?(?:0|[1-9][0-9]*)"
_DATE = r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{0,8}[1-9])?"
_OFFSET = r"(?:Z|[+-](?!00:00)(?:[01][0-9]|2[0-3]):[0-5][0-9])"
_DAYS = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_PART = "[1-9][0-9]*"
_SECONDS = rf"(?:(?:{_PART}|0(?=\.))(?:\.[0-9]{{0,8}}[1-9])?S)"
_PERIOD = rf"-?P(?=[0-9T])(?:{_PART}Y)?(?:{_PART}M)?(?:{_PART}D)?(?:T(?=[0-9])(?:{_PART}H)?(?:{_PART}M)?{_SECONDS}?)?"
_FORMS = {
    "arithmetic/1": re.compile(rf"{_INTEGER}(?:\.[0-9]*[1-9])?"),
    "dates/1": re.compile(
        rf"{_INTEGER}|{_DATE}(?:T{_TIME}{_OFFSET}?)?|{_TIME}|{_PERIOD}|PT0S|true|false|{_DAYS}|[0-9]{{4}}-W[0-5][0-9]"
    ),
    "checksums/1": re.compile(r"[0-9a-f]+|X|true|false"),
}
