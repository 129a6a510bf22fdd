"""Strings of a document as literals of an evaluator, so that no text in them is read as anything else."""

from __future__ import annotations

import json

from evalspan.policies import LinearPattern

__all__ = ["date_literal", "quoted"]

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_DATE = "[0-9]{4,5}-[0-9]{2}-[0-9]{2}"
_TIME = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?"
_INTEGER = "(0|[1-9][0-9]*)"
_SECONDS = rf"{_INTEGER}(\.[0-9]{{1,9}})?"
_UNITS = "(year|month|week|day|hour|minute|second)s?"
_VALUE = "|".join(
    (
        _INTEGER,
        _DATE,
        _TIME,
        f"{_DATE}T{_TIME}(Z|[+-][0-9]{{2}}:[0-9]{{2}})?",
        rf"{_INTEGER} +{_UNITS}( +{_INTEGER} +{_UNITS})*( +{_SECONDS} +seconds?)?",
        rf"{_SECONDS} +seconds?",
        rf"P{_INTEGER}W",
        rf"P({_INTEGER}[YMD])*(T({_INTEGER}[HM])*({_SECONDS}S)?)?",
    )
)
"""The forms of a value of dates/1. What is wrong in one, such as a month 13, is the evaluator's to say."""


def quoted(text: str) -> str:
    """The text as a string literal, without a raw control character."""
    return "".join(
        f"\\u{ord(char):04x}" if "\x7f" <= char <= "\x9f" else char for char in json.dumps(text, ensure_ascii=False)
    )


def date_literal(text: str) -> str | None:
    """The text as one operand of dates/1: a value in parentheses, the name of a day in quotes; None if it is more."""
    if text.lower() in _WEEKDAYS:
        return quoted(text)
    # One per call: it is not shared between threads, and building it takes less than the evaluation.
    return f"({text})" if LinearPattern(_VALUE).matches(text.encode()) else None
