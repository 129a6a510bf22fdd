"""Expressions of dates/1: typed sums, comparisons and calls, with fields at their edges and past them."""

from __future__ import annotations

from collections.abc import Mapping

from evalspan.conformance.generators.chance import Chance
from evalspan.conformance.generators.date_literals import (
    UNITS,
    date_literal,
    datetime_literal,
    duration_literal,
    time_literal,
    year,
)
from evalspan.conformance.generators.literals import literal

__all__ = ["FRAGMENTS", "OPTIONS", "text"]

OPTIONS: tuple[Mapping[str, int], ...] = (
    {},
    {},
    {"max_depth": 2},
    {"max_input_bytes": 40, "max_result_bytes": 9},
    {"max_input_bytes": 16_384, "max_depth": 64, "max_result_bytes": 16_384},
)
"""Sets of options: the defaults, tight ones, and the widest."""

_SPANS = tuple(f"{unit}s_between" for unit in UNITS)
_PAIRS = (*_SPANS, "age")
_DAYS = ("weekday", "iso_weekday", "iso_week", "day_of_year", "quarter", "start_of_month", "end_of_month")
_ADDS = ("add_days", "add_weeks", "add_months", "add_years", "add_workdays")
_OTHERS = ("next", "previous", "days_in_month", "is_leap_year", "to_unix", "from_unix", "to_offset")
_NAMES = (*_PAIRS, "workdays_between", *_DAYS, *_ADDS, *_OTHERS)
_ZONES = ("UTC", "CET", "PST", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "Asia", "HST", "US/a")
_WEEKDAYS = ("Monday", "tuesday", "WEDNESDAY", "Thursday", "friday", "Saturday", "Sunday")
_TEXTS = (*_WEEKDAYS, "fri", "", "Z", "+02:00", "-05:30", "+24:00", "-00:00", "+23:59", "+0200", "UTC", "z", "+1:00")
_COMPARISONS = ("<", "<=", "==", ">=", ">")
_SIGNS = (" + ", " - ", "+", "-", " +\t", "\n- ", " - -", " + -")
_ODD = (
    *("today", "today()", "now", "now( )", "2021-W53-1", "2021W531", "2021-W53", "2024-2-9", "24-12-31", "2024-12"),
    *("016", "4:20", "24:00", "10000-01-01", "0000-01-01", "P1.5D", "P1M1Y", "P1W2D", "PT", "P", "P01D", "P1DT"),
    *("2024-02-29t04:20", "2024-02-29T04", "04:20:30.1234567891", "04:20Z", "tomorrow", "1.5 hours", "3days", "5 d"),
    *("2024-060", "9999-12-31T23:59:59.999999999-23:59", "0001-01-01T00:00:00+23:59", "-00:30", "999999999999999999"),
    *("999999999999999999 years", "99999999999999999 years", "9223372036854775807 seconds", "P999999999999999999M"),
    *("999999999999999999.999999999 seconds", "1000000000000000000 days", "P142857142857142857W", "P11574074074074D"),
)
_INTEGERS = ("0", "1", "-1", "2", "7", "12", "28", "366", "1000", "9999", "10000", "-10000", "999999999999999999")

_LONGEST = ("999999999999999999 months", "P999999999999999999M", "999999999999999999.999999999 seconds")
_SHORTEST = ("1 month", "P1M", "PT0.000000001S", "1 second", "P0D")
"""Durations at their limits, and what takes them to the limit and over it."""

FRAGMENTS = (
    *(name.encode() for name in (*_NAMES, *_ZONES, *_ODD)),
    *(comparison.encode() for comparison in (*_COMPARISONS, "=", "!=", "<>")),
    *(unit.encode() for unit in (*UNITS, *(f"{unit}s" for unit in UNITS), "days ", " day", "Day")),
    *(b"2024-02-29", b"2024-01-31", b"T", b"T10:00", b"Z", b"+02:00", b"-05:00", b"04:20", b":30", b".5", b"-W01"),
    *(b"P1D", b"PT1H", b"P1Y2M3DT4H5M6.7S", b"P", b"W", b"1 day", b"1 month", b"2 hours 30 minutes", b"- -", b"01"),
    *(b'"friday"', b'"', b"'", b'"+01:00"', b"next(", b"to_offset(", b"weekday(", b"(", b")", b",", b"+", b"-", b"9"),
)
"""Tokens, right and wrong."""


def text(chance: Chance) -> str:
    """One expression."""
    form = chance.random()
    if form < 0.97:
        return _expression(chance, chance.size(8))
    if form < 0.999:
        return _deep(chance)
    unit = chance.pick(("+P1M-P1M", "+1 day", "-P1D", "+1", " - 0.1 seconds", "+PT1S"))
    head = chance.pick(("2024-01-31T00:00:00.1+01:00", "2024-01-31", "P1D", "5", "today"))
    return head + unit * (chance.pick((480, 16_000)) // len(unit))


def _expression(chance: Chance, size: int) -> str:
    """Of about `size` literals."""
    kind = chance.random()
    if kind < 0.3:
        return _call(chance, size)
    if kind < 0.5:
        return _compared(chance, size)
    if kind < 0.52:
        return f"{_any(chance, size)} {chance.pick(_COMPARISONS)} {_any(chance, size)}"
    return _any(chance, size)


def _any(chance: Chance, size: int) -> str:
    kind = chance.random()
    if kind < 0.25:
        return _date(chance, size)
    if kind < 0.45:
        return _datetime(chance, size, chance.pick((True, False)))
    if kind < 0.7:
        return _duration(chance, size)
    if kind < 0.8:
        return _integer(chance, size)
    if kind < 0.9:
        left = _any(chance, size // 2)
        return f"{left}{chance.pick(_SIGNS)}{_any(chance, size // 2)}" if size > 1 else left
    if kind < 0.94:
        return time_literal(chance)
    if kind < 0.97:
        return chance.pick(_ODD)
    return f"{datetime_literal(chance, False)} {chance.pick(_ZONES)}" if chance.one_in(2) else chance.pick(_ZONES)


def _compared(chance: Chance, size: int) -> str:
    """A comparison of two of one type."""
    make = chance.pick((_date, _duration, _integer, _local, _instant, _clock))
    operator = chance.pick(_COMPARISONS)
    gap = chance.pick((" ", "", " ", "\n"))
    return f"{make(chance, size // 2)}{gap}{operator}{gap}{make(chance, size // 2)}"


def _date(chance: Chance, size: int) -> str:
    """Mostly a date."""
    kind = chance.random()
    if size <= 1 or kind < 0.3:
        return date_literal(chance)
    if kind < 0.7:
        return f"{_date(chance, size - 1)}{chance.pick(_SIGNS)}{_duration(chance, size // 3, timed=chance.one_in(12))}"
    if kind < 0.8:
        return f"({_date(chance, size - 1)})"
    if kind < 0.9:
        return f"{chance.pick(_ADDS)}({_date(chance, size - 1)}, {_integer(chance, 1)})"
    if kind < 0.95:
        return f"{chance.pick(('start_of_month', 'end_of_month'))}({_date(chance, size - 1)})"
    return f"{chance.pick(('next', 'previous'))}({_date(chance, size - 1)}, {_text(chance)})"


def _clock(chance: Chance, size: int) -> str:
    return time_literal(chance)


def _local(chance: Chance, size: int) -> str:
    return _datetime(chance, size, False)


def _instant(chance: Chance, size: int) -> str:
    return _datetime(chance, size, True)


def _datetime(chance: Chance, size: int, offset: bool) -> str:
    """Mostly a datetime, with an offset or without one."""
    kind = chance.random()
    if size <= 1 or kind < 0.3:
        return datetime_literal(chance, offset)
    if kind < 0.7:
        timed = chance.one_in(2)
        duration = _duration(chance, size // 3, timed=timed)
        return f"{_datetime(chance, size - 1, offset)}{chance.pick(_SIGNS)}{duration}"
    if kind < 0.8:
        return f"({_datetime(chance, size - 1, offset)})"
    if offset and kind < 0.9:
        return f"to_offset({_datetime(chance, size - 1, offset)}, {_text(chance)})"
    if offset:
        return f"from_unix({_integer(chance, size - 1)})"
    return f"{chance.pick(_ADDS)}({_datetime(chance, size - 1, offset)}, {_integer(chance, 1)})"


def _duration(chance: Chance, size: int, timed: bool | None = None) -> str:
    """Mostly a duration."""
    kind = chance.random()
    if size <= 1 or kind < 0.4:
        return duration_literal(chance, chance.one_in(2) if timed is None else timed)
    if kind < 0.6:
        return f"{_duration(chance, size - 1, timed)}{chance.pick(_SIGNS)}{_duration(chance, size // 3, timed)}"
    if kind < 0.75:
        return f"({_duration(chance, size - 1, timed)})"
    if kind < 0.82:
        return f"-{_duration(chance, size - 1, timed)}"
    if kind < 0.85:
        return f"{chance.pick(_LONGEST)}{chance.pick(_SIGNS)}{chance.pick(_SHORTEST)}"
    offset = chance.one_in(2)
    return f"({_datetime(chance, size // 2, offset)} - {_datetime(chance, size // 2, offset)})"


def _integer(chance: Chance, size: int) -> str:
    """Mostly an integer."""
    kind = chance.random()
    if size <= 1 or kind < 0.4:
        if chance.random() < 0.6:
            return str(chance.between(-40, 400))
        return chance.pick(_INTEGERS) if chance.one_in(2) else str(chance.between(-4_000_000, 4_000_000))
    if kind < 0.6:
        return f"({_date(chance, size // 2)} - {_date(chance, size // 2)})"
    if kind < 0.7:
        return f"-{_integer(chance, size - 1)}"
    return _call(chance, size)


def _call(chance: Chance, size: int) -> str:
    name = chance.pick(_NAMES)
    size -= 1
    if name in _PAIRS:
        make = chance.pick((_date, _local, _instant, _moment))
        arguments = [make(chance, size // 2), make(chance, size // 2)]
    elif name == "workdays_between":
        arguments = [_date(chance, size // 2), _date(chance, size // 2)]
    elif name in _DAYS:
        arguments = [_moment(chance, size)]
    elif name in _ADDS:
        arguments = [_moment(chance, size), _integer(chance, size // 3)]
    elif name in ("next", "previous"):
        arguments = [_moment(chance, size), _text(chance)]
    elif name == "days_in_month":
        arguments = [year(chance), str(chance.between(0, 13))]
    elif name == "is_leap_year":
        arguments = [year(chance) if chance.random() < 0.8 else _integer(chance, size)]
    elif name == "to_unix":
        arguments = [_datetime(chance, size, chance.random() < 0.8)]
    elif name == "to_offset":
        arguments = [_datetime(chance, size, chance.random() < 0.9), _text(chance)]
    else:
        arguments = [_integer(chance, size) if chance.random() < 0.5 else str(chance.between(-(10**11), 3 * 10**11))]
    if chance.one_in(40):
        arguments[chance.below(len(arguments))] = _any(chance, size)
    if chance.one_in(60):
        arguments.append("1")
    if chance.one_in(100):
        name = chance.pick(("Weekday", "add_hours", "weekdays", "today", "now"))
    comma = chance.pick((", ", ",", ", ", " , "))
    return f"{name}({comma.join(arguments)})"


def _moment(chance: Chance, size: int) -> str:
    return _date(chance, size) if chance.random() < 0.6 else _datetime(chance, size, chance.one_in(2))


def _text(chance: Chance) -> str:
    if chance.one_in(3):
        sign, hour, minute = chance.pick("+-"), chance.between(0, 24), chance.pick((0, 0, 30, 45, 59, 60))
        return literal(chance, f"{sign}{hour:02}:{minute:02}")
    return literal(chance, chance.pick(_TEXTS)) if chance.random() < 0.98 else _any(chance, 1)


def _deep(chance: Chance) -> str:
    """Nested about as deep as the limits, or a long chain."""
    inner = chance.pick(("5", "2024-01-31", "P1D", "2024-01-01T00:00Z", "2024-02-30", "1"))
    depth = chance.pick((1, 2, 3, 31, 32, 33, 63, 64, 65))
    opening = chance.pick(("(", "-", "+", "start_of_month(", "(-", "add_days(", "weekday("))
    closing = {"add_days(": ",1)"}.get(opening, ")" * opening.count("("))
    return f"{opening * depth}{inner}{closing * depth}"
