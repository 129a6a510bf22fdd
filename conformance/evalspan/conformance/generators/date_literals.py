"""Literals of dates/1, most of them with a value: a field in a hundred is out of its range."""

from __future__ import annotations

from evalspan.conformance.generators.chance import Chance

__all__ = ["UNITS", "date_literal", "datetime_literal", "duration_literal", "time_literal", "year"]

UNITS = ("year", "month", "week", "day", "hour", "minute", "second")
"""In descending order; the first four are of the calendar."""


def year(chance: Chance) -> str:
    """Four digits, often of a year at an edge of the calendar."""
    if chance.random() < 0.5:
        return chance.pick(("2024", "2023", "2000", "1900", "2100", "0001", "9999", "1970", "1582"))
    return f"{chance.between(0 if chance.one_in(30) else 1, 9999):04}"


def date_literal(chance: Chance) -> str:
    """A date, often at the end of a month."""
    month = chance.between(1, 12) if chance.random() < 0.98 else chance.pick((0, 13, 99))
    kind = chance.random()
    if kind < 0.5:
        day = chance.between(1, 28)
    elif kind < 0.7:
        day = chance.pick((1, 15, 28))
    elif kind < 0.98:
        day = chance.pick((28, 29, 30, 31))
    else:
        day = chance.pick((0, 32, 99))
    return f"{year(chance)}-{month:02}-{day:02}"


def time_literal(chance: Chance) -> str:
    """A time of day, with seconds and a fraction or without."""
    hour = chance.between(0, 23) if chance.random() < 0.98 else 24
    clock = f"{hour:02}:{chance.between(0, 59) if chance.random() < 0.98 else 60:02}"
    if chance.random() < 0.5:
        clock += f":{chance.between(0, 59) if chance.random() < 0.98 else 60:02}"
        if chance.random() < 0.4:
            clock += f".{chance.digits(chance.size(9))}"
    return clock


def datetime_literal(chance: Chance, offset: bool) -> str:
    """A date and a time, with an offset from UTC or without one."""
    zone = ""
    if offset:
        minutes = chance.pick((0, 30, 45, 59)) if chance.random() < 0.97 else 60
        hours = chance.between(0, 23) if chance.random() < 0.97 else 24
        zone = "Z" if chance.one_in(3) else f"{chance.pick('+-')}{hours:02}:{minutes:02}"
    return f"{date_literal(chance)}T{time_literal(chance)}{zone}"


def duration_literal(chance: Chance, timed: bool) -> str:
    """A duration of the calendar, or one that may have hours, in words or as ISO 8601 has it."""
    names = UNITS if timed else UNITS[:4]
    first = chance.below(len(names))
    chosen = [name for name in names[first:] if name == names[first] or chance.one_in(3)]
    if chance.random() < 0.5:
        parts = [f"{_amount(chance)} {unit}{'' if chance.one_in(4) else 's'}" for unit in chosen]
        if chosen[-1] == "second" and chance.one_in(3):
            parts[-1] = f"{chance.below(90)}.{chance.digits(chance.size(9))} seconds"
        return " ".join(parts)
    if "week" in chosen:
        return f"P{_amount(chance)}W"
    calendar = "".join(f"{_amount(chance)}{unit[0].upper()}" for unit in chosen if unit in UNITS[:4])
    clock = "".join(f"{_amount(chance)}{unit[0].upper()}" for unit in chosen if unit in UNITS[4:])
    if clock.endswith("S") and chance.one_in(3):
        clock = f"{clock[:-1]}.{chance.digits(chance.size(9))}S"
    return f"P{calendar}T{clock}" if clock else f"P{calendar}"


def _amount(chance: Chance) -> str:
    if chance.random() < 0.8:
        return str(chance.below(60))
    return chance.pick(("0", "12", "100", "400", "10000", "999999", "999999999999999999", "10000000000000000000"))
