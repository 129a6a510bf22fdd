"""dates/1 in Python: laws that hold for every input."""

import random
import sys
from datetime import date, datetime
from importlib import import_module
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalspan.evaluators.errors import EvaluatorUnavailable
from evalspan.evaluators.in_process.calendar_functions import FUNCTIONS
from evalspan.evaluators.in_process.dates import OPTIONS, SPEC, evaluate
from evalspan.evaluators.outcome import Failure, Value
from evalspan.policies.errors import ErrorCode

UNITS = ("year", "month", "week", "day", "hour", "minute", "second")
OPERATORS = "evalspan.evaluators.in_process.calendar_operators"


def shown(text: str, **options: int) -> str:
    outcome = evaluate(text.encode(), options)
    assert isinstance(outcome, Value), outcome
    assert outcome.exact
    return outcome.text


def failure(text: str, **options: int) -> tuple[ErrorCode, int]:
    outcome = evaluate(text.encode(), options)
    assert isinstance(outcome, Failure), outcome
    return outcome.code, outcome.offset


def spelt_offset(minutes: int) -> str:
    hours, rest = divmod(abs(minutes), 60)
    return "Z" if minutes == 0 else f"{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}"


def spelt_moment(local: datetime, nanoseconds: int, offset: int | None) -> str:
    fraction = f".{nanoseconds:09}".rstrip("0") if nanoseconds else ""
    return local.isoformat() + fraction + ("" if offset is None else spelt_offset(offset))


dates = st.dates()
moments = st.builds(
    spelt_moment,
    st.datetimes().map(lambda value: value.replace(microsecond=0)),
    st.just(0) | st.integers(0, 999_999_999),
    st.none() | st.integers(-23 * 60 - 59, 23 * 60 + 59),
)
days = dates.map(str) | moments
counts = st.integers(-4000, 4000) | st.integers(-(10**18) + 1, 10**18 - 1)
durations = st.lists(st.tuples(st.sampled_from(UNITS), st.integers(0, 5000)), min_size=1, max_size=7).map(
    lambda parts: " ".join(
        f"{number} {unit}s" for unit, number in sorted(dict(parts).items(), key=lambda part: UNITS.index(part[0]))
    )
)
expressions = st.recursive(
    days | durations | st.integers(0, 12).map(str),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["+", "-"]), inner).map(" ".join)
        | inner.map("({})".format)
        | inner.map("- {}".format)
        | st.tuples(
            st.sampled_from(sorted(FUNCTIONS)),
            st.lists(inner | st.sampled_from(['"Monday"', '"+02:00"', "today"]), min_size=1, max_size=2),
        ).map(lambda call: f"{call[0]}({', '.join(call[1])})")
    ),
    max_leaves=6,
)


@given(days)
def test_a_canonical_date_or_datetime_is_its_own_value(text: str) -> None:
    assert shown(text) == text
    assert shown(f"{text} == {text}") == "true"


@given(durations)
def test_the_text_of_a_duration_is_the_same_duration(text: str) -> None:
    canonical = shown(text)
    assert shown(canonical) == canonical
    assert shown(f"{text} == {canonical}") == "true"
    assert shown(f"({text}) - ({text})") == "PT0S"
    assert shown(f"-(-({text}))") == canonical


@given(durations, durations)
def test_sums_of_durations_commute(a: str, b: str) -> None:
    assert shown(f"{a} + {b}") == shown(f"{b} + {a}")


@given(dates, dates)
def test_a_difference_of_dates_leads_back(a: date, b: date) -> None:
    assert shown(f"add_days({a}, {b} - {a})") == str(b)
    assert shown(f"{b} - {a}") == shown(f"days_between({a}, {b})")


@given(moments, moments)
def test_a_difference_of_datetimes_leads_back_as_an_instant(a: str, b: str) -> None:
    difference = evaluate(f"{b} - {a}".encode(), {})
    if isinstance(difference, Failure):
        assert (difference.code, difference.offset) == (ErrorCode.DOMAIN, len(b) + 1)
        return
    moved = evaluate(f"{a} + {difference.text} == {b}".encode(), {})
    if isinstance(moved, Failure):  # b may lie outside the years in the local time of a
        assert moved.code is ErrorCode.RANGE
    else:
        assert moved.text == "true"


@given(days, days)
def test_a_whole_number_of_months_is_the_furthest_that_is_not_beyond(a: str, b: str) -> None:
    outcome = evaluate(f"months_between({a}, {b})".encode(), {})
    if isinstance(outcome, Failure):
        assert (outcome.code, outcome.offset) == (ErrorCode.DOMAIN, 0)
        return
    months = int(outcome.text)
    assert shown(f"years_between({a}, {b})") == str(int(months / 12))
    assert shown(f"age({a}, {b})") == str(int(months / 12))
    forward = shown(f"{a} <= {b}") == "true"
    at_most = "<=" if forward else ">="
    assert shown(f"add_months({a}, {months}) {at_most} {b}") == "true"
    further = evaluate(f"add_months({a}, {months + (1 if forward else -1)}) {at_most} {b}".encode(), {})
    assert further == Value("false") or (isinstance(further, Failure) and further.code is ErrorCode.RANGE)


@given(days, counts)
def test_functions_that_add_are_the_operator(day: str, count: int) -> None:
    for unit in ("day", "week", "month", "year"):
        called = evaluate(f"add_{unit}s({day}, {count})".encode(), {})
        added = evaluate(f"{day} + {count} {unit}s".replace("+ -", "- ").encode(), {})
        if isinstance(called, Value):
            assert added == called
        else:
            assert called.code is ErrorCode.RANGE
            assert isinstance(added, Failure)
            assert added.code in (ErrorCode.RANGE, ErrorCode.TOO_LARGE)


@given(dates, st.integers(-3000, 3000).filter(bool))
def test_workdays_move_over_so_many_workdays(start: date, count: int) -> None:
    outcome = evaluate(f"add_workdays({start}, {count})".encode(), {})
    if isinstance(outcome, Failure):
        assert outcome.code is ErrorCode.RANGE
        return
    end = date.fromisoformat(outcome.text)
    passed = (
        range(start.toordinal() + 1, end.toordinal() + 1) if count > 0 else range(end.toordinal(), start.toordinal())
    )
    assert end.weekday() < 5
    assert sum(date.fromordinal(day).weekday() < 5 for day in passed) == abs(count)


@given(moments.filter(lambda text: not text[19:].startswith(".")), st.integers(-23 * 60 - 59, 23 * 60 + 59))
def test_an_instant_keeps_its_unix_time_under_every_offset(text: str, offset: int) -> None:
    outcome = evaluate(f"to_unix({text})".encode(), {})
    if isinstance(outcome, Failure):
        assert outcome.code is ErrorCode.DOMAIN
        return
    moved = evaluate(f'to_offset({text}, "{"+00:00" if offset == 0 else spelt_offset(offset)}")'.encode(), {})
    if isinstance(moved, Failure):
        assert (moved.code, moved.offset) == (ErrorCode.RANGE, 0)
        return
    assert moved.text.endswith(spelt_offset(offset))
    assert shown(f"to_unix({moved.text})") == outcome.text
    assert shown(f"{moved.text} == {text}") == "true"


@given(expressions, st.randoms(use_true_random=False))
def test_white_space_between_tokens_changes_no_value(text: str, chance: random.Random) -> None:
    def wide() -> str:
        return "".join(chance.choices(" \t\r\n", k=chance.randrange(1, 3)))

    spaced = "".join(wide() if c == " " else c + wide() if c in "(," else c for c in text)
    limits = {"max_input_bytes": 16_384}
    plain, other = evaluate(text.encode(), limits), evaluate(spaced.encode(), limits)
    if isinstance(plain, Value):
        assert other == plain
    else:
        assert isinstance(other, Failure)
        assert other.code is plain.code
        assert "".join(spaced[: other.offset].split()) == "".join(text[: plain.offset].split())


PIECES = [
    *["2024-02-29", "2024-02-29T04:20", "04:20:30.5", "Z", "+02:00", "P1Y2M", "PT5H", "2021-W53-1", "1.5", "3"],
    *["day", "months", "seconds", "(", ")", ",", "+", "-", "<", "<=", "==", ">", " ", " ", "weekday", "next"],
    *["to_offset", "days_between", '"friday"', "'Z'", "today", "UTC", "Europe/Berlin"],
]
BROKEN = ["016", "24-12-31", "5.", "T", ":", "W", "x", '"', "'", "\\", "é", "٣", "−", "\x00", "=", "1" * 20]


@given(
    st.lists(st.sampled_from(PIECES + BROKEN), max_size=16).map(lambda pieces: "".join(pieces).encode())
    | st.binary(max_size=40)
    | expressions.map(str.encode)
)
def test_every_input_has_an_answer_and_a_syntax_error_is_at_the_first_impossible_token(data: bytes) -> None:
    outcome = evaluate(data, {})
    assert evaluate(data, {}) == outcome
    if isinstance(outcome, Value):
        assert outcome.text.isascii()
        assert outcome.exact
        return
    assert outcome.code in {
        ErrorCode.SYNTAX,
        ErrorCode.DOMAIN,
        ErrorCode.RANGE,
        ErrorCode.UNSUPPORTED,
        ErrorCode.TOO_LONG,
        ErrorCode.TOO_LARGE,
    }
    assert 0 <= outcome.offset <= len(data)
    assert outcome.offset + outcome.piece_length <= len(data)
    assert outcome.piece_length <= 32
    data[outcome.offset : outcome.offset + outcome.piece_length].decode()
    assert len(outcome.message.encode()) <= 200
    if outcome.code is ErrorCode.SYNTAX:
        # What stands before the offset is no error by itself, but for ending too early.
        before = evaluate(data[: outcome.offset], {})
        if isinstance(before, Failure) and before.code is ErrorCode.SYNTAX:
            assert before.offset == outcome.offset


@given(
    st.integers(1, 64),
    st.integers(0, 70),
    st.sampled_from([("(", "1", ")"), ("-", "1", ""), ("+", "P1D", ""), ("add_days(", "2024-01-01", ", 0)")]),
)
def test_depth_is_the_number_of_constructs_around_a_literal(
    limit: int, depth: int, construct: tuple[str, str, str]
) -> None:
    opening, literal, closing = construct
    text = opening * depth + literal + closing * depth
    options = {"max_depth": limit, "max_input_bytes": 16_384}
    outcome = evaluate(text.encode(), options)
    if depth <= limit:
        assert isinstance(outcome, Value)
    else:
        assert isinstance(outcome, Failure)
        assert (outcome.code, outcome.offset) == (ErrorCode.TOO_DEEP, len(opening) * limit)


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-01 + 999999999999999999 months",
        "2024-01-01T00:00 - 999999999999999999 seconds",
        "2024-01-01 + " + "9" * 480 + " days",
        "add_days(2024-01-01, 999999999999999999)",
        "add_years(2024-01-01, -999999999999999999)",
        "add_workdays(2024-01-01, 999999999999999999)",
        "add_workdays(9999-12-30, -999999999999999999)",
        "from_unix(-999999999999999999)",
        "days_in_month(999999999999999999, 1)",
        "months_between(0001-01-01T00:00:00.1-23:59, 9999-12-31T23:59+23:59)",
        "workdays_between(9999-12-31, 0001-01-01)",
        "P" + "9" * 400 + "D",
    ],
)
def test_a_size_is_checked_before_the_work(text: str) -> None:
    start = perf_counter()
    evaluate(text.encode(), {})
    assert perf_counter() - start < 0.1  # microseconds in fact; counting up would take hours


def test_the_longest_input_is_answered_in_bounded_time() -> None:
    start = perf_counter()
    for unit in (b" + 1 month - P1M", b"+1 year - 12 months", b" - 0 days"):
        outcome = evaluate(b"2024-01-01" + unit * (16_000 // len(unit)), {"max_input_bytes": 16_384})
        assert outcome == Value("2024-01-01")
    for text in ("-", "1", "(", "2024-", "1 day", '"', ":", "Etc/", "P1", "é"):
        evaluate((text * 16_384).encode()[:16_384], {"max_input_bytes": 16_384})
    assert perf_counter() - start < 5  # 50 milliseconds in fact: linear in the input


def test_messages_never_quote_the_input() -> None:
    for text in ("<result>5</result>", "foo<b>(1)", "1_<i>", 'next(2024-01-01, "<b>")', "weekday(<", "\x1b[31m"):
        outcome = evaluate(text.encode(), {})
        assert isinstance(outcome, Failure)
        assert "<" not in outcome.message
        assert outcome.message.isprintable()


def test_a_piece_covers_the_whole_literal_up_to_32_bytes() -> None:
    outcome = evaluate(b"2024-01-01 + 83333333333333334 years", {})
    assert isinstance(outcome, Failure)
    assert (outcome.offset, outcome.piece_length) == (13, 23)
    outcome = evaluate('next(2024-01-01, "ééééééééééééééééé")'.encode(), {})
    assert isinstance(outcome, Failure)
    assert (outcome.offset, outcome.piece_length) == (17, 31)


def test_offsets_count_bytes_after_characters_of_several() -> None:
    assert failure('next(2024-01-01, "é") + 2024-13-01') == (ErrorCode.DOMAIN, 17)
    assert failure('previous(2024-01-01, "\\u00e9é") + 016') == (ErrorCode.SYNTAX, 35)
    assert failure('previous(next(2024-01-01, "friday"), "é")') == (ErrorCode.DOMAIN, 37)


def test_the_module_names_its_specification_and_sane_options() -> None:
    assert SPEC == "dates/1"
    assert all(option.minimum <= option.default <= option.maximum for option in OPTIONS.values())


def test_without_dateutil_the_module_says_which_extra_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, OPERATORS)
    monkeypatch.setitem(sys.modules, "dateutil.relativedelta", None)
    with pytest.raises(EvaluatorUnavailable, match=r"python-dateutil.*evalspan\[reference\]"):
        import_module(OPERATORS)
