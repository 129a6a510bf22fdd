"""The functions of dates/1."""

from __future__ import annotations

from calendar import isleap, monthrange
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date, datetime, timedelta
from functools import partial
from types import MappingProxyType

from evalspan.evaluators.in_process.calendar_operators import (
    BOOLEAN,
    DATE,
    DATETIME,
    INTEGER,
    TEXT,
    Operation,
    add_length,
    add_months,
    difference,
)
from evalspan.evaluators.in_process.calendar_values import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    Moment,
    offset_literal,
    weekday_literal,
)
from evalspan.evaluators.in_process.faults import Fault
from evalspan.policies.errors import ErrorCode

__all__ = ["FUNCTIONS", "SAME", "Signature"]

SAME = "same"
"""The result's type is that of the first argument."""

Parameter = frozenset[str] | Callable[[str], int]
"""The types that an argument may have, or what reads it where it must be a string literal."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes, gives and does."""

    parameters: tuple[Parameter, ...]
    result: str
    operation: Operation


Day = date | Moment
"""A date, or a datetime."""

_DAY = frozenset({DATE, DATETIME})
_DATE = frozenset({DATE})
_DATETIME = frozenset({DATETIME})
_INTEGER = frozenset({INTEGER})

_WORKDAYS = 5  # of a week, Monday to Friday
_EPOCH = datetime(1970, 1, 1)


def _out_of_range(what: str) -> Fault:
    return Fault(ErrorCode.RANGE, what)


def _date_of(day: Day) -> date:
    return day.local.date() if isinstance(day, Moment) else day


def _date_at(ordinal: int) -> date:
    try:
        return date.fromordinal(ordinal)
    except (ValueError, OverflowError):
        raise _out_of_range("the result is outside the years 0001 to 9999") from None


def _with_date(day: Day, new: date) -> Day:
    if not isinstance(day, Moment):
        return new
    return Moment(datetime.combine(new, day.local.time()), day.nanoseconds, day.offset)


def _truncated(a: int, b: int) -> int:
    """a / b towards zero, b being positive."""
    return -(-a // b) if a < 0 else a // b


def _between(a: Day, b: Day, *, unit: int) -> int:
    return _truncated(difference(b, a), unit)


def _months_between(a: Day, b: Day) -> int:
    distance = difference(b, a)
    if distance == 0:
        return 0
    sign = 1 if distance > 0 else -1
    from_date, to_date = _date_of(a), _date_of(b)
    # In local time b is in this month or, with another offset than a's, at most one further.
    months = abs((to_date.year - from_date.year) * 12 + to_date.month - from_date.month) + 1
    while months > 0 and _is_beyond(a, sign * months, b, sign):
        months -= 1
    return sign * months


def _is_beyond(a: Day, months: int, b: Day, sign: int) -> bool:
    """Whether a moved by `months` lies after b, before b where `sign` is negative."""
    try:
        moved = add_months(a, months)
    except Fault:
        return True  # b is within the years that there are
    return difference(moved, b) * sign > 0


def _years_between(a: Day, b: Day) -> int:
    # a + n years is a + 12n months, and these do not decrease in n
    return _truncated(_months_between(a, b), 12)


def _add_days(d: Day, n: int, *, days: int) -> Day:
    return add_length(d, n * days * DAY)


def _add_months(d: Day, n: int, *, months: int) -> Day:
    return add_months(d, n * months)


def _add_workdays(d: Day, n: int) -> Day:
    if n == 0:
        return d
    start = _date_of(d)
    weekday, ordinal = start.weekday(), start.toordinal()
    weeks, rest = divmod(abs(n), _WORKDAYS)
    days = weeks * 7 + rest
    # A weekend counts as the Friday before it, going forward, and as the Monday after it, going back.
    if n > 0:
        back = max(0, weekday - 4)
        weekend = 2 if weekday - back + rest > 4 else 0
        return _with_date(d, _date_at(ordinal - back + days + weekend))
    ahead = 7 - weekday if weekday > 4 else 0
    weekend = 2 if (weekday + ahead) % 7 - rest < 0 else 0
    return _with_date(d, _date_at(ordinal + ahead - days - weekend))


def _workdays_before(ordinal: int) -> int:
    """The days from Monday to Friday before `ordinal`, from day 1, a Monday."""
    weeks, rest = divmod(ordinal - 1, 7)
    return weeks * _WORKDAYS + min(rest, _WORKDAYS)


def _workdays_between(a: date, b: date) -> int:
    start, stop = a.toordinal(), b.toordinal()
    if stop < start:
        return _workdays_before(stop + 1) - _workdays_before(start + 1)
    return _workdays_before(stop) - _workdays_before(start)


_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _weekday(d: Day) -> str:
    return _WEEKDAYS[_date_of(d).weekday()]


def _iso_weekday(d: Day) -> int:
    return _date_of(d).isoweekday()


def _iso_week(d: Day) -> str:
    year, week, _ = _date_of(d).isocalendar()
    return f"{year:04}-W{week:02}"


def _day_of_year(d: Day) -> int:
    return _date_of(d).timetuple().tm_yday


def _quarter(d: Day) -> int:
    return (_date_of(d).month + 2) // 3


def _start_of_month(d: Day) -> date:
    return _date_of(d).replace(day=1)


def _end_of_month(d: Day) -> date:
    day = _date_of(d)
    return day.replace(day=monthrange(day.year, day.month)[1])


def _next(d: Day, weekday: int) -> date:
    day = _date_of(d)
    return _date_at(day.toordinal() + 1 + (weekday - day.weekday() - 1) % 7)


def _previous(d: Day, weekday: int) -> date:
    day = _date_of(d)
    return _date_at(day.toordinal() - 1 - (day.weekday() - weekday - 1) % 7)


def _checked_year(y: int) -> int:
    if not MINYEAR <= y <= MAXYEAR:
        raise _out_of_range("a year is 1 to 9999")
    return y


def _days_in_month(y: int, m: int) -> int:
    if not 1 <= m <= 12:
        raise _out_of_range("a month is 1 to 12")
    return monthrange(_checked_year(y), m)[1]


def _is_leap_year(y: int) -> bool:
    return isleap(_checked_year(y))


def _offset_of(t: Moment) -> int:
    if t.offset is None:
        raise Fault(ErrorCode.DOMAIN, "the datetime has no offset; write one, such as Z or +02:00")
    return t.offset


def _to_unix(t: Moment) -> int:
    offset = _offset_of(t)
    if t.nanoseconds:
        raise Fault(ErrorCode.DOMAIN, "only a whole second is a Unix time")
    return (t.local - _EPOCH) // timedelta(seconds=1) - offset * 60


def _from_unix(n: int) -> Moment:
    try:
        return Moment(_EPOCH + timedelta(seconds=n), 0, 0)
    except OverflowError:
        raise _out_of_range("the result is outside the years 0001 to 9999") from None


def _to_offset(t: Moment, offset: int) -> Moment:
    moved = add_length(t, (offset - _offset_of(t)) * MINUTE)
    assert isinstance(moved, Moment)  # noqa: S101 - adding keeps the type
    return Moment(moved.local, moved.nanoseconds, offset)


def _signature(operation: Operation, result: str, *parameters: Parameter) -> Signature:
    return Signature(parameters, result, operation)


FUNCTIONS: Mapping[str, Signature] = MappingProxyType(
    {
        "add_days": _signature(partial(_add_days, days=1), SAME, _DAY, _INTEGER),
        "add_months": _signature(partial(_add_months, months=1), SAME, _DAY, _INTEGER),
        "add_weeks": _signature(partial(_add_days, days=7), SAME, _DAY, _INTEGER),
        "add_workdays": _signature(_add_workdays, SAME, _DAY, _INTEGER),
        "add_years": _signature(partial(_add_months, months=12), SAME, _DAY, _INTEGER),
        "age": _signature(_years_between, INTEGER, _DAY, _DAY),
        "day_of_year": _signature(_day_of_year, INTEGER, _DAY),
        "days_between": _signature(partial(_between, unit=DAY), INTEGER, _DAY, _DAY),
        "days_in_month": _signature(_days_in_month, INTEGER, _INTEGER, _INTEGER),
        "end_of_month": _signature(_end_of_month, DATE, _DAY),
        "from_unix": _signature(_from_unix, DATETIME, _INTEGER),
        "hours_between": _signature(partial(_between, unit=HOUR), INTEGER, _DAY, _DAY),
        "is_leap_year": _signature(_is_leap_year, BOOLEAN, _INTEGER),
        "iso_week": _signature(_iso_week, TEXT, _DAY),
        "iso_weekday": _signature(_iso_weekday, INTEGER, _DAY),
        "minutes_between": _signature(partial(_between, unit=MINUTE), INTEGER, _DAY, _DAY),
        "months_between": _signature(_months_between, INTEGER, _DAY, _DAY),
        "next": _signature(_next, DATE, _DAY, weekday_literal),
        "previous": _signature(_previous, DATE, _DAY, weekday_literal),
        "quarter": _signature(_quarter, INTEGER, _DAY),
        "seconds_between": _signature(partial(_between, unit=SECOND), INTEGER, _DAY, _DAY),
        "start_of_month": _signature(_start_of_month, DATE, _DAY),
        "to_offset": _signature(_to_offset, DATETIME, _DATETIME, offset_literal),
        "to_unix": _signature(_to_unix, INTEGER, _DATETIME),
        "weekday": _signature(_weekday, TEXT, _DAY),
        "weeks_between": _signature(partial(_between, unit=7 * DAY), INTEGER, _DAY, _DAY),
        "workdays_between": _signature(_workdays_between, INTEGER, _DATE, _DATE),
        "years_between": _signature(_years_between, INTEGER, _DAY, _DAY),
    }
)
"""The functions by name."""
