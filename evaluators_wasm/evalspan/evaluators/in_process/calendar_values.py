"""The values of dates/1, and what its literals stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from types import MappingProxyType

from evalspan.evaluators.in_process.faults import Fault
from evalspan.policies.errors import ErrorCode

__all__ = [
    "DAY",
    "HOUR",
    "MINUTE",
    "SECOND",
    "UNITS",
    "Clock",
    "Duration",
    "Moment",
    "Quantity",
    "Value",
    "clock_literal",
    "date_literal",
    "duration_literal",
    "integer_literal",
    "iso_duration_literal",
    "moment_literal",
    "offset_literal",
    "weekday_literal",
]

SECOND = 1_000_000_000  # nanoseconds, as are all lengths here: 9 fraction digits
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

_MAX_DIGITS = 18  # of an integer, of a duration's months and of its whole seconds: they fit 64 bits
_BOUND = 10**_MAX_DIGITS


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day: a whole second, and the nanoseconds after it."""

    time: time
    nanoseconds: int


@dataclass(frozen=True, slots=True)
class Moment:
    """A datetime: a local whole second, the nanoseconds after it, and the offset from UTC in minutes or None."""

    local: datetime
    nanoseconds: int
    offset: int | None


@dataclass(frozen=True, slots=True)
class Duration:
    """Months, and a length in nanoseconds: one of them is 0 or both have the same sign."""

    months: int
    length: int

    @classmethod
    def of(cls, months: int, length: int) -> Duration:
        """A duration within the limits. Raises Fault: `domain` for two signs, `too_large`."""
        if (months < 0 < length) or (length < 0 < months):
            raise Fault(ErrorCode.DOMAIN, "months and days of opposite signs have no common duration")
        if abs(months) >= _BOUND or abs(length) >= _BOUND * SECOND:
            raise Fault(ErrorCode.TOO_LARGE, f"a duration has more than {_MAX_DIGITS} digits of months or seconds")
        return cls(months, length)


Value = int | str | date | Clock | Moment | Duration
"""A value of an expression; a boolean is an int of Python's."""

Quantity = tuple[str, str, str]
"""The unit, one of `UNITS`, and the digits before and after the point."""

UNITS = ("years", "months", "weeks", "days", "hours", "minutes", "seconds")
"""The units in the order in which a duration names them."""

_MONTHS: Mapping[str, int] = MappingProxyType({"years": 12, "months": 1})
_LENGTHS: Mapping[str, int] = MappingProxyType(
    {"weeks": 7 * DAY, "days": DAY, "hours": HOUR, "minutes": MINUTE, "seconds": SECOND}
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_OFFSET = re.compile(r"[+-][0-9]{2}:[0-9]{2}")
_ZONE_NAME = re.compile(r"[A-Za-z]")


def integer_literal(digits: str) -> int:
    """The integer. Raises Fault `too_large`."""
    if len(digits) > _MAX_DIGITS:
        raise Fault(ErrorCode.TOO_LARGE, f"an integer has at most {_MAX_DIGITS} digits")
    return int(digits)


def date_literal(found: re.Match[str]) -> date:
    """The date of a year, a month and a day. Raises Fault `range`."""
    return _date(found[1], found[2], found[3])


def clock_literal(found: re.Match[str]) -> Clock:
    """The time of day. Raises Fault `range`."""
    return Clock(_time(found[1], found[2], found[3]), _nanoseconds(found[4]))


def moment_literal(found: re.Match[str]) -> Moment:
    """The datetime. Raises Fault `range`."""
    year, month, day, hour, minute, second, fraction, offset = found.groups()
    local = datetime.combine(_date(year, month, day), _time(hour, minute, second))
    return Moment(local, _nanoseconds(fraction), None if offset is None else _offset(offset))


def duration_literal(quantities: Iterable[Quantity]) -> Duration:
    """The sum of the quantities. Raises Fault `too_large`."""
    months = length = 0
    for unit, whole, fraction in quantities:
        number = integer_literal(whole)
        if unit in _MONTHS:
            months += number * _MONTHS[unit]
        else:
            length += number * _LENGTHS[unit] + _nanoseconds(fraction)
    return Duration.of(months, length)


def iso_duration_literal(found: re.Match[str]) -> Duration:
    """The duration of an ISO 8601 literal, whose groups are named as the units. Raises Fault `too_large`."""
    parts = found.groupdict(default="")
    fraction = parts.pop("fraction")
    return duration_literal((unit, parts[unit] or "0", fraction if unit == "seconds" else "") for unit in UNITS)


def weekday_literal(name: str) -> int:
    """The weekday of that English name, Monday being 0. Raises Fault `domain`."""
    if name.isascii() and name.lower() in _WEEKDAYS:
        return _WEEKDAYS.index(name.lower())
    raise Fault(ErrorCode.DOMAIN, "not the full English name of a weekday")


def offset_literal(text: str) -> int:
    """The offset in minutes. Raises Fault: `range`, `unsupported` for what may be a zone's name, `domain`."""
    if text == "Z" or _OFFSET.fullmatch(text):
        return _offset(text)
    if _ZONE_NAME.match(text):
        raise Fault(ErrorCode.UNSUPPORTED, "there is no database of time zones; write an offset such as +02:00")
    raise Fault(ErrorCode.DOMAIN, "an offset is written Z or +02:00")


def _date(year: str, month: str, day: str) -> date:
    if len(year) > 4:
        raise Fault(ErrorCode.RANGE, "a year is 0001 to 9999")
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        message = "a year is 0001 to 9999, a month 01 to 12, a day one that the month has"
        raise Fault(ErrorCode.RANGE, message) from None


def _time(hour: str, minute: str, second: str | None) -> time:
    try:
        return time(int(hour), int(minute), int(second or 0))
    except ValueError:
        raise Fault(ErrorCode.RANGE, "an hour is 00 to 23, a minute and a second 00 to 59") from None


def _nanoseconds(fraction: str | None) -> int:
    return int(fraction.ljust(9, "0")) if fraction else 0


def _offset(text: str) -> int:
    if text == "Z":
        return 0
    hours, minutes = int(text[1:3]), int(text[4:6])
    if hours > 23 or minutes > 59 or text == "-00:00":
        raise Fault(ErrorCode.RANGE, "an offset is -23:59 to +23:59, and zero is written Z or +00:00")
    total = hours * 60 + minutes
    return -total if text[0] == "-" else total
