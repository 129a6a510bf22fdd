"""Relations of dates/1: the calendar goes there and back."""

from __future__ import annotations

from evalspan.conformance.fuzz.oracles.trial import Objection, Trial
from evalspan.evaluators import Value

__all__ = ["between", "durations", "there_and_back", "weekdays"]

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_COUNTS = (1, 7, 28, 30, 31, 59, 365, 366, 1461, 36_524, 146_097, 1_000_000)


def there_and_back(trial: Trial) -> Objection | None:
    """d + n days - n days is d; so it is with months where the day exists in every month."""
    day = _day(trial)
    if day is None:
        return None
    n = trial.chance.pick(_COUNTS)
    objection = _is(trial, f"{day} + {n} days - {n} days", day) or _is(
        trial, f"add_days({day}, {n})", f"{day} + {n} days"
    )
    if objection is None and int(day[8:10]) <= 28:
        objection = _is(trial, f"{day} - {n} months + {n} months", day)
    if objection is None and "T" in day:
        objection = _is(trial, f"{day} + {n} seconds - {n} seconds", day)
    return objection


def between(trial: Trial) -> Objection | None:
    """What is added is what lies between, in both directions."""
    day = _day(trial)
    if day is None:
        return None
    n = trial.chance.pick(_COUNTS)
    return (
        _is(trial, f"days_between({day}, {day} + {n} days)", str(n))
        or _is(trial, f"days_between({day} + {n} days, {day})", str(-n))
        or _is(trial, f"months_between({day}, {day} + {n} months)", str(n))
        or _is(trial, f"{day} + {n} days > {day}", "true")
    )


def weekdays(trial: Trial) -> Objection | None:
    """Weekdays come again after seven days, the next one of a name has it, and a week has five workdays."""
    day = _day(trial)
    if day is None:
        return None
    n, name = trial.chance.pick(_COUNTS), trial.chance.pick(_DAYS)
    return (
        _is(trial, f"weekday({day} + {7 * n} days)", f"weekday({day})")
        or _is(trial, f'weekday(next({day}, "{name}"))', name)
        or _is(trial, f"days_between({day[:10]}, next({day}, weekday({day})))", "7")
        or _is(trial, f"workdays_between({day[:10]}, {day[:10]} + {7 * n} days)", str(5 * n))
        or _is(trial, f"end_of_month({day}) + 1 day", f"start_of_month(end_of_month({day}) + 1 day)")
    )


def durations(trial: Trial) -> Objection | None:
    """A duration less itself is nothing, and twice its negative is itself."""
    outcome = trial.outcome
    if not isinstance(outcome, Value) or not outcome.text.lstrip("-").startswith("P"):
        return None
    span = outcome.text
    return (
        _is(trial, f"({span}) - ({span})", "PT0S")
        or _is(trial, f"-(-({span}))", span)
        or _is(trial, f"({span}) + ({span}) - ({span})", span)
        or _is(trial, f"({span}) == ({span})", "true")
    )


def _day(trial: Trial) -> str | None:
    """The result, where it is a date or a datetime."""
    outcome = trial.outcome
    if not isinstance(outcome, Value):
        return None
    text = outcome.text
    return text if len(text) >= 10 and text[4] == "-" == text[7] and text[:4].isdigit() else None


def _is(trial: Trial, expression: str, expected: str) -> Objection | None:
    """`expected` is a text, or an expression where it has parentheses or spaces in it."""
    value = trial.value(expression)
    wanted = trial.value(expected) if "(" in expected or " " in expected else Value(expected)
    if value is None or wanted is None or value.text == wanted.text:
        return None  # out of range, or longer or deeper than the limits
    return Objection(_form(expression), f"{expression[:200]} is {value.text[:80]}, not {wanted.text[:80]}")


def _form(expression: str) -> str:
    """The letters and signs of an expression: what tells its relation from another."""
    return "".join(one for one in expression if not one.isdigit() and one not in ":.TZ")[:60]
