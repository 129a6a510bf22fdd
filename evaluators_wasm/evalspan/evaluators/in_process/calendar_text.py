"""The canonical text of a value of dates/1."""

from __future__ import annotations

from datetime import date

from evalspan.evaluators.in_process.calendar_values import DAY, HOUR, MINUTE, SECOND, Clock, Duration, Moment, Value

__all__ = ["render"]


def render(value: Value) -> str:
    """The text of `value`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Moment):
        return f"{value.local.isoformat()}{_fraction(value.nanoseconds)}{_offset(value.offset)}"
    if isinstance(value, Clock):
        return f"{value.time.isoformat()}{_fraction(value.nanoseconds)}"
    if isinstance(value, Duration):
        return _duration(value)
    return str(value)


def _fraction(nanoseconds: int) -> str:
    return f".{nanoseconds:09}".rstrip("0") if nanoseconds else ""


def _offset(offset: int | None) -> str:
    if offset is None:
        return ""
    if offset == 0:
        return "Z"
    hours, minutes = divmod(abs(offset), 60)
    return f"{'-' if offset < 0 else '+'}{hours:02}:{minutes:02}"


def _duration(value: Duration) -> str:
    if not value.months and not value.length:
        return "PT0S"
    years, months = divmod(abs(value.months), 12)
    days, rest = divmod(abs(value.length), DAY)
    hours, rest = divmod(rest, HOUR)
    minutes, rest = divmod(rest, MINUTE)
    seconds, nanoseconds = divmod(rest, SECOND)

    day_part = "".join(f"{n}{unit}" for n, unit in ((years, "Y"), (months, "M"), (days, "D")) if n)
    time_part = "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M")) if n)
    if seconds or nanoseconds:
        time_part += f"{seconds}{_fraction(nanoseconds)}S"
    sign = "-" if value.months < 0 or value.length < 0 else ""
    return f"{sign}P{day_part}T{time_part}" if time_part else f"{sign}P{day_part}"
