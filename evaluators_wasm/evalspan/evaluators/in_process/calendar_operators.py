"""The operators of dates/1: what every pair of types gives, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import partial
from operator import eq, ge, gt, le, lt
from types import MappingProxyType
from typing import Any

from evalspan.evaluators.errors import EvaluatorUnavailable
from evalspan.evaluators.in_process.calendar_values import DAY, MINUTE, SECOND, Clock, Duration, Moment, Value
from evalspan.evaluators.in_process.faults import Fault
from evalspan.policies.errors import ErrorCode

try:
    from dateutil.relativedelta import relativedelta
except ImportError:
    message = "its Python reference needs python-dateutil: pip install 'evalspan[reference]'"
    raise EvaluatorUnavailable("dates/1", message) from None

__all__ = [
    "ANY",
    "BOOLEAN",
    "COMPARISONS",
    "DATE",
    "DATETIME",
    "DURATION",
    "INTEGER",
    "TEXT",
    "TIME",
    "TIMED",
    "Operation",
    "add_length",
    "add_months",
    "binary",
    "difference",
    "position",
    "unary",
]

ANY = "any"
"""The type of what has no answer anyway: it fits everywhere."""
BOOLEAN = "boolean"
DATE = "date"
DATETIME = "datetime"
DURATION = "duration"
INTEGER = "integer"
TEXT = "text"
TIME = "time"
TIMED = "timed duration"
"""A duration with hours, minutes or seconds by its form: no date takes one."""

Operation = Callable[..., Value]
"""From operands to a value. Raises Fault."""


def add_months(value: date | Moment, months: int) -> date | Moment:
    """The same day that many months on, or the month's last. Raises Fault `range`."""
    try:
        if isinstance(value, Moment):
            return Moment(value.local + relativedelta(months=months), value.nanoseconds, value.offset)
        return value + relativedelta(months=months)
    except (ValueError, OverflowError):
        raise _out_of_range() from None


def add_length(value: date | Moment, length: int) -> date | Moment:
    """The value that many nanoseconds on, whole days for a date. Raises Fault `range`."""
    try:
        if isinstance(value, Moment):
            seconds, nanoseconds = divmod(value.nanoseconds + length, SECOND)
            return Moment(value.local + timedelta(seconds=seconds), nanoseconds, value.offset)
        return value + timedelta(days=length // DAY)
    except OverflowError:
        raise _out_of_range() from None


def position(value: date | Moment) -> int:
    """Nanoseconds since the start of year 1: as an instant where there is an offset, else in local time."""
    if not isinstance(value, Moment):
        return value.toordinal() * DAY
    local = value.local
    second_of_day = local.hour * 3600 + local.minute * 60 + local.second
    offset = value.offset or 0
    return local.toordinal() * DAY + second_of_day * SECOND + value.nanoseconds - offset * MINUTE


def difference(a: date | Moment, b: date | Moment) -> int:
    """The nanoseconds from `b` to `a`. Raises Fault `domain` where they are not of one kind."""
    if isinstance(a, Moment) != isinstance(b, Moment):
        raise Fault(ErrorCode.DOMAIN, "a date and a datetime have no difference; write both with a time or none")
    if isinstance(a, Moment) and isinstance(b, Moment) and (a.offset is None) != (b.offset is None):
        raise Fault(ErrorCode.DOMAIN, "one datetime has an offset and the other has none")
    return position(a) - position(b)


def _out_of_range() -> Fault:
    return Fault(ErrorCode.RANGE, "the result is outside the years 0001 to 9999")


def _move(value: date | Moment, duration: Duration) -> date | Moment:
    if duration.months:
        value = add_months(value, duration.months)
    return add_length(value, duration.length) if duration.length else value


def _move_back(value: date | Moment, duration: Duration) -> date | Moment:
    return _move(value, _negative(duration))


def _days(a: date, b: date) -> int:
    return a.toordinal() - b.toordinal()


def _elapsed(a: Moment, b: Moment) -> Duration:
    return Duration(0, difference(a, b))


def _sum(a: Duration, b: Duration) -> Duration:
    return Duration.of(a.months + b.months, a.length + b.length)


def _negative(a: Duration) -> Duration:
    return Duration(-a.months, -a.length)


def _compare_durations(a: Duration, b: Duration) -> int:
    months, length = a.months - b.months, a.length - b.length
    if (months < 0 < length) or (length < 0 < months):
        raise Fault(ErrorCode.DOMAIN, "months have no fixed length; compare months with months, days with days")
    return months or length


def _compare_clocks(a: Clock, b: Clock) -> int:
    if a == b:
        return 0
    return 1 if (a.time, a.nanoseconds) > (b.time, b.nanoseconds) else -1


def _compare_integers(a: int, b: int) -> int:
    return a - b


def _no_answer(*operands: Value, message: str) -> Value:
    raise Fault(ErrorCode.DOMAIN, message)


def _test(a: Any, b: Any, *, test: Callable[[int, int], bool], compare: Callable[[Any, Any], int]) -> bool:
    return test(compare(a, b), 0)


_HOURS = partial(_no_answer, message="a date has no hours; write it as a datetime, such as 2024-02-29T00:00")
_CLOCK = partial(_no_answer, message="a time alone has no day to move into; write a datetime")
_UNKNOWN = partial(_no_answer, message="the operator has no answer for these two types")

_BINARY: Mapping[tuple[str, str, str], tuple[Operation, str]] = MappingProxyType(
    {
        ("+", DATE, DURATION): (_move, DATE),
        ("-", DATE, DURATION): (_move_back, DATE),
        ("+", DATE, TIMED): (_HOURS, DATE),
        ("-", DATE, TIMED): (_HOURS, DATE),
        ("-", DATE, DATE): (_days, INTEGER),
        ("+", DATETIME, DURATION): (_move, DATETIME),
        ("-", DATETIME, DURATION): (_move_back, DATETIME),
        ("+", DATETIME, TIMED): (_move, DATETIME),
        ("-", DATETIME, TIMED): (_move_back, DATETIME),
        ("-", DATETIME, DATETIME): (_elapsed, TIMED),
        ("+", TIME, DURATION): (_CLOCK, ANY),
        ("-", TIME, DURATION): (_CLOCK, ANY),
        ("+", TIME, TIMED): (_CLOCK, ANY),
        ("-", TIME, TIMED): (_CLOCK, ANY),
    }
)
_COMPARABLE: Mapping[tuple[str, str], Callable[[Any, Any], int]] = MappingProxyType(
    {
        (INTEGER, INTEGER): _compare_integers,
        (DATE, DATE): difference,
        (DATETIME, DATETIME): difference,
        (TIME, TIME): _compare_clocks,
        (DURATION, DURATION): _compare_durations,
        (DURATION, TIMED): _compare_durations,
        (TIMED, DURATION): _compare_durations,
        (TIMED, TIMED): _compare_durations,
    }
)
COMPARISONS: Mapping[str, Callable[[int, int], bool]] = MappingProxyType(
    {"<": lt, "<=": le, "==": eq, ">=": ge, ">": gt}
)
"""The comparisons, as tests of a difference against 0."""


def binary(operator: str, left: str, right: str) -> tuple[Operation, str]:
    """What `operator` does to operands of these two types, and the type that comes out."""
    if operator in COMPARISONS:
        compare = _COMPARABLE.get((left, right))
        if compare is None:
            return _UNKNOWN, BOOLEAN
        return partial(_test, test=COMPARISONS[operator], compare=compare), BOOLEAN
    if left in (DURATION, TIMED) and right in (DURATION, TIMED):
        kind = DURATION if left == right == DURATION else TIMED
        return (_sum, kind) if operator == "+" else (lambda a, b: _sum(a, _negative(b)), kind)
    return _BINARY.get((operator, left, right), (_UNKNOWN, ANY))


def unary(sign: str, operand: str) -> tuple[Operation, str]:
    """What `sign` does to an operand of that type, and the type that comes out."""
    if operand == INTEGER:
        return (lambda a: a if sign == "+" else -a), INTEGER
    if operand in (DURATION, TIMED):
        return (lambda a: a if sign == "+" else _negative(a)), operand
    return _UNKNOWN, ANY
