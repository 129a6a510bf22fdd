"""dates/1 in Python against what others compute: datetime, calendar, numpy and python-dateutil."""

import calendar
import re
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Any

import numpy as np
from dateutil.relativedelta import relativedelta
from hypothesis import given
from hypothesis import strategies as st

from evalspan.evaluators.in_process.dates import evaluate
from evalspan.evaluators.outcome import Failure, Value
from evalspan.policies.errors import ErrorCode

DAY_NAMES = list(calendar.day_name)

dates = st.dates() | st.dates(date(2019, 1, 1), date(2025, 12, 31))
locals_ = st.datetimes() | st.datetimes(datetime(2023, 12, 1), datetime(2024, 3, 31))
zones = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timezone(timedelta(minutes=minutes)))
instants = st.builds(lambda local, zone: local.replace(tzinfo=zone), locals_, zones)


def shown(text: str) -> str:
    outcome = evaluate(text.encode(), {})
    assert isinstance(outcome, Value), outcome
    return outcome.text


def seconds_of(text: str) -> timedelta:
    """The length of a duration without years and months, read by numpy's and datetime's rules for its parts."""
    found = re.fullmatch(r"(-)?P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,6}))?S)?)?", text)
    assert found is not None
    sign, *parts, fraction = found.groups()
    days, hours, minutes, seconds = (int(part or 0) for part in parts)
    micros = int((fraction or "").ljust(6, "0"))
    length = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds, microseconds=micros)
    return -length if sign else length


@given(dates)
def test_fields_are_those_of_datetime_and_calendar(day: date) -> None:
    assert shown(f"{day}") == day.isoformat()
    assert shown(f"weekday({day})") == calendar.day_name[day.weekday()]
    assert shown(f"iso_weekday({day})") == str(day.isoweekday())
    year, week, _ = day.isocalendar()
    assert shown(f"iso_week({day})") == f"{year:04}-W{week:02}"
    assert shown(f"day_of_year({day})") == str((day - date(day.year, 1, 1)).days + 1)
    assert shown(f"quarter({day})") == str((day.month - 1) // 3 + 1)
    last = calendar.monthrange(day.year, day.month)[1]
    assert shown(f"days_in_month({day.year}, {day.month})") == str(last)
    assert shown(f"is_leap_year({day.year})") == str(calendar.isleap(day.year)).lower()
    assert shown(f"start_of_month({day})") == str(np.datetime64(day, "M").astype("M8[D]"))
    assert shown(f"end_of_month({day})") == str(day.replace(day=last))


@given(dates, st.integers(0, 6))
def test_the_next_weekday_is_dateutils(day: date, weekday: int) -> None:
    target = relativedelta(weekday=weekday)
    for name, step, towards in (("next", 1, target), ("previous", -1, relativedelta(weekday=_back(weekday)))):
        outcome = evaluate(f'{name}({day}, "{DAY_NAMES[weekday]}")'.encode(), {})
        try:
            expected = day + timedelta(days=step) + towards
        except OverflowError:
            assert isinstance(outcome, Failure)
            assert (outcome.code, outcome.offset) == (ErrorCode.RANGE, 0)
        else:
            assert outcome == Value(str(expected))


def _back(weekday: int) -> Any:
    """dateutil's weekday, the first at or before a day."""
    from dateutil.relativedelta import weekday as dateutil_weekday

    return dateutil_weekday(weekday, -1)


@given(dates, dates)
def test_workdays_are_numpys_in_both_directions(a: date, b: date) -> None:
    assert shown(f"workdays_between({a}, {b})") == str(np.busday_count(a, b))


@given(dates, st.integers(-20_000, 20_000).filter(bool))
def test_moving_by_workdays_is_numpys_offset(day: date, count: int) -> None:
    roll = "backward" if count > 0 else "forward"
    expected = np.busday_offset(np.datetime64(day), count, roll=roll)  # type: ignore[call-overload]
    outcome = evaluate(f"add_workdays({day}, {count})".encode(), {})
    if np.datetime64("0001-01-01") <= expected <= np.datetime64("9999-12-31"):
        assert outcome == Value(str(expected))
    else:
        assert isinstance(outcome, Failure)
        assert (outcome.code, outcome.offset) == (ErrorCode.RANGE, 0)


@given(dates, st.integers(-130_000, 130_000) | st.integers(-100, 100))
def test_added_months_are_clamped_to_the_month_that_numpy_gives(day: date, months: int) -> None:
    month = np.datetime64(day, "M") + np.timedelta64(months, "M")
    outcome = evaluate(f"add_months({day}, {months})".encode(), {})
    if np.datetime64("0001-01") <= month <= np.datetime64("9999-12"):
        last = (month + 1).astype("M8[D]") - np.timedelta64(1, "D")
        assert outcome == Value(str(min(month.astype("M8[D]") + np.timedelta64(day.day - 1, "D"), last)))
    else:
        assert isinstance(outcome, Failure)
        assert (outcome.code, outcome.offset) == (ErrorCode.RANGE, 0)


@given(dates, dates)
def test_months_and_years_between_dates_are_dateutils(a: date, b: date) -> None:
    delta = relativedelta(b, a)
    assert shown(f"months_between({a}, {b})") == str(delta.years * 12 + delta.months)
    assert shown(f"years_between({a}, {b})") == str(delta.years)
    assert shown(f"age({a}, {b})") == str(delta.years)


@given(locals_, locals_)
def test_months_between_datetimes_are_dateutils(a: datetime, b: datetime) -> None:
    delta = relativedelta(b, a)
    assert shown(f"months_between({a.isoformat()}, {b.isoformat()})") == str(delta.years * 12 + delta.months)


@given(
    dates,
    st.integers(-200, 200),
    st.integers(-30, 30),
    st.integers(-300, 300),
)
def test_a_date_and_a_duration_are_dateutils(day: date, years: int, months: int, days: int) -> None:
    sign = -1 if years < 0 else 1
    years, months, days = abs(years), abs(months), abs(days)
    operator = "-" if sign < 0 else "+"
    outcome = evaluate(f"{day} {operator} {years} years {months} months {days} days".encode(), {})
    try:
        expected = day + relativedelta(months=sign * (12 * years + months)) + timedelta(days=sign * days)
    except (ValueError, OverflowError):
        assert isinstance(outcome, Failure)
        assert (outcome.code, outcome.offset) == (ErrorCode.RANGE, 11)
    else:
        assert outcome == Value(str(expected))


@given(
    locals_,
    st.timedeltas(timedelta(days=-4_000_000), timedelta(days=4_000_000))
    | st.timedeltas(timedelta(days=-2), timedelta(days=2)),
)
def test_a_datetime_and_a_length_are_datetimes(local: datetime, length: timedelta) -> None:
    operator = "-" if length < timedelta(0) else "+"
    size = abs(length)
    duration = f"{size.days} days {size.seconds // 60} minutes {size.seconds % 60}.{size.microseconds:06} seconds"
    outcome = evaluate(f"{local.isoformat()} {operator} {duration}".encode(), {})
    try:
        expected = local + length
    except OverflowError:
        assert isinstance(outcome, Failure)
        assert outcome.code is ErrorCode.RANGE
    else:
        assert outcome == Value(trimmed(expected.isoformat()))


def trimmed(text: str) -> str:
    """Python's isoformat without the zeros at the end of a fraction."""
    return text.rstrip("0") if "." in text else text


@given(locals_, locals_)
def test_a_difference_of_local_datetimes_is_datetimes(a: datetime, b: datetime) -> None:
    assert seconds_of(shown(f"{a.isoformat()} - {b.isoformat()}")) == a - b
    assert shown(f"{a.isoformat()} < {b.isoformat()}") == str(a < b).lower()


@given(instants, instants)
def test_instants_are_datetimes(a: datetime, b: datetime) -> None:
    x, y = a.isoformat(), b.isoformat()
    difference = seconds_of(shown(f"{x} - {y}"))
    assert difference == a - b
    assert shown(f"{x} >= {y}") == str(a >= b).lower()
    assert shown(f"{x} == {y}") == str(a == b).lower()
    for unit, size in (("seconds", 1), ("minutes", 60), ("hours", 3600), ("days", 86_400), ("weeks", 604_800)):
        length = b - a
        whole = abs(length) // timedelta(seconds=size)
        assert shown(f"{unit}_between({x}, {y})") == str(-whole if length < timedelta(0) else whole)


@given(instants, zones)
def test_changing_the_offset_is_datetimes(instant: datetime, zone: timezone) -> None:
    minutes = zone.utcoffset(None) // timedelta(minutes=1)
    offset = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    outcome = evaluate(f'to_offset({instant.isoformat()}, "{offset}")'.encode(), {})
    local = moved(instant, minutes)
    if local is None:
        assert isinstance(outcome, Failure)
        assert (outcome.code, outcome.offset) == (ErrorCode.RANGE, 0)
    else:
        assert outcome == Value(trimmed(local.isoformat()) + ("Z" if minutes == 0 else offset))


def moved(instant: datetime, minutes: int) -> datetime | None:
    """The local time of an instant; astimezone would go through UTC, which may be outside the years."""
    own = instant.utcoffset()
    assert own is not None
    try:
        return instant.replace(tzinfo=None) + (timedelta(minutes=minutes) - own)
    except OverflowError:
        return None


@given(st.integers(-62_135_596_800, 253_402_300_799))
def test_unix_time_is_datetimes(seconds: int) -> None:
    expected = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    text = shown(f"from_unix({seconds})")
    assert text == expected.isoformat().replace("+00:00", "Z")
    assert shown(f"to_unix({text})") == str(seconds)


@given(st.times(), st.times())
def test_times_are_datetimes(a: time, b: time) -> None:
    assert shown(a.isoformat()) == trimmed(a.isoformat())
    assert shown(f"{a.isoformat()} < {b.isoformat()}") == str(a < b).lower()


@given(st.integers(-(10**18) + 1, 10**18 - 1), st.integers(0, 10**9 - 1))
def test_nanoseconds_are_numpys(second: int, nanosecond: int) -> None:
    # numpy's nanoseconds reach from 1678 to 2262
    total = np.datetime64(second % (9 * 10**9), "s") + np.timedelta64(nanosecond, "ns")
    text = str(total.astype("M8[ns]"))
    assert shown(f"{text} - 1970-01-01T00:00 == {second % (9 * 10**9)}.{nanosecond:09} seconds") == "true"


def test_the_calendar_of_every_year_is_that_of_datetime() -> None:
    for year in range(1, 10_000):
        first = date(year, 1, 1)
        assert shown(f"weekday({first})") == calendar.day_name[first.weekday()]
        assert shown(f"{year:04}-12-31 - {first}") == str(364 + calendar.isleap(year))
        assert isinstance(evaluate(f"{year:04}-02-29".encode(), {}), Value) == calendar.isleap(year)
