"""The modules against data and libraries that nobody here wrote.

| outside | what is compared | where from |
|---|---|---|
| General Decimal Arithmetic test cases | arithmetic: exact cases, remainders | CPython's own tests |
| Unicode's GraphemeBreakTest.txt | strings: clusters | Debian's `unicode-data` |
| ICU 78, which has Unicode 17.0 | strings: every character between neighbours | `pip install --group oracles` |
| numpy | dates: workdays | numpy |

crccheck, zlib, hashlib and python-stdnum are in test_checksums_outside.py, the references' own oracles in the other
files of that name. What is missing skips its tests with the reason, and fails them in continuous integration.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import regex
from evaluators.oracles import DecimalCase, break_test_rows, decimal_cases, icu_clusters
from hypothesis import given, settings
from hypothesis import strategies as st

from evalspan.conformance.runtimes import on_runtime
from evalspan.evaluators import Outcome, Value
from evalspan.evaluators.in_process.unicode_text import clusters
from evalspan.policies import ErrorCode

Ask = Callable[[str, str], Outcome]
"""An evaluator's name and an input, to its answer under the widest limits."""

WIDEST = {"max_input_bytes": 16_384, "max_depth": 64, "max_result_bytes": 16_384}

MAX_DIGITS = 1024


@pytest.fixture(scope="module", params=["wasm", "in_process"])
def ask(request: pytest.FixtureRequest) -> Iterator[Ask]:
    with ExitStack() as stack:
        names = ("arithmetic", "strings", "dates")
        evaluate = {name: stack.enter_context(on_runtime(f"{name}/1", request.param)) for name in names}
        yield lambda name, text: evaluate[name](text.encode(), WIDEST)


def value(outcome: Outcome) -> str:
    assert isinstance(outcome, Value), outcome
    assert outcome.exact
    return outcome.text


def spelt(number: Decimal) -> str:
    """A number as arithmetic writes it, with a point where it has a fraction and is short."""
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    if -40 <= exponent < 0:
        return f"({number:f})"
    return f"({'-' if sign else ''}{int(''.join(map(str, digits)))}e{exponent})"


def rational(number: Decimal) -> Fraction | None:
    """The value of a number, or None where it is larger than arithmetic's values or has a larger denominator."""
    if number == 0:
        return Fraction(0)
    if abs(number.adjusted()) > 2 * MAX_DIGITS or len(number.as_tuple().digits) > 2 * MAX_DIGITS:
        return None
    return Fraction(number)


def fits(number: Fraction | None) -> bool:
    """Whether arithmetic has this value."""
    return number is not None and max(abs(number.numerator), number.denominator) < 10**MAX_DIGITS


EXPRESSIONS = {
    "add": "{0}+{1}",
    "subtract": "{0}-{1}",
    "multiply": "{0}*{1}",
    "divide": "{0}/{1}",
    "divideint": "trunc({0}/{1})",
    "remainder": "{0}-{1}*trunc({0}/{1})",
    "remaindernear": "{0}-{1}*round_even({0}/{1})",
    "max": "max({0},{1})",
    "min": "min({0},{1})",
    "abs": "abs({0})",
    "minus": "-{0}",
    "squareroot": "sqrt({0})",
}
"""How arithmetic says what a decimal operation means."""


def fitting(operation: str, case: DecimalCase) -> bool:
    """Whether arithmetic has all the values of a case, those on the way included."""
    values = [rational(number) for number in case.operands]
    if case.result is not None:
        values.append(rational(case.result))
    if not all(map(fits, values)):
        return False
    a, b = (values[0] or Fraction(0)), (values[1] or Fraction(0))
    if operation in ("divideint", "remainder", "remaindernear") and b:
        quotient = a / b
        whole = round(quotient) if operation == "remaindernear" else int(quotient)
        return fits(quotient) and fits(Fraction(whole)) and fits(b * whole)
    return True


@pytest.mark.parametrize("operation", EXPRESSIONS)
def test_arithmetic_has_the_exact_answers_of_the_decimal_test_cases(ask: Ask, operation: str) -> None:
    compared = {"equal": 0, "by zero": 0, "too large": 0}
    for case in decimal_cases(operation):
        expression = EXPRESSIONS[operation].format(*map(spelt, case.operands))
        if not fitting(operation, case):
            outcome = ask("arithmetic", expression if case.result is None else f"{expression}-{spelt(case.result)}")
            assert not isinstance(outcome, Value), case
            assert outcome.code is ErrorCode.TOO_LARGE, case
            compared["too large"] += 1
        elif case.result is None:
            outcome = ask("arithmetic", expression)
            assert not isinstance(outcome, Value), case
            assert outcome.code is ErrorCode.DIVISION_BY_ZERO, case
            compared["by zero"] += 1
        else:
            assert value(ask("arithmetic", f"({expression})-{spelt(case.result)}")) == "0", case
            compared["equal"] += 1
    assert compared["equal"] >= 100, "so many of each are there at least"
    assert bool(compared["by zero"]) == (operation in ("divide", "divideint", "remainder", "remaindernear"))


def test_arithmetics_modulo_is_the_decimal_remainder_with_the_divisors_sign(ask: Ask) -> None:
    compared = 0
    for case in decimal_cases("remainder"):
        if case.result is None or not fitting("remainder", case):
            continue
        a, b = map(spelt, case.operands)
        remainder = spelt(case.result)
        other_sign = case.result != 0 and (case.result < 0) != (case.operands[1] < 0)
        expected = f"({remainder}+{b})" if other_sign else remainder
        assert value(ask("arithmetic", f"{a}%{b}-{expected}")) == "0", case
        compared += 1
    assert compared >= 1000


def quoted(text: str) -> str:
    """A literal of strings: JSON's, with the control characters that JSON leaves as they are."""
    return json.dumps(text, ensure_ascii=False).translate({code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)})


@pytest.mark.parametrize("write", [quoted, json.dumps])
def test_strings_breaks_unicodes_rows_where_their_version_and_17_agree(ask: Ask, write: Callable[[str], str]) -> None:
    """A row that another version breaks elsewhere is broken as in 17.0: test_strings_outside.py says which."""
    agreeing = 0
    for row in break_test_rows():
        text = write("".join(row))
        expected = list(clusters("".join(row)))
        agreeing += expected == row
        assert value(ask("strings", f"len({text})")) == str(len(expected))
        for place, cluster in enumerate(expected, 1):
            assert value(ask("strings", f"nth({text}, {place})")) == cluster
    assert agreeing >= 580


NEIGHBOURS = (
    "a{}a",
    "\u1100{}\u11a8",
    "\u00a9{}\u200d\u00a9",
    "\u00a9\u200d{}",
    "\u0915\u094d{}",
    "\u0915{}\u0937",
    "{}\u094d\u0937",
)
"""Neighbours that bring out the class of a character: letters, jamo, pictographs, conjuncts."""


def test_every_character_breaks_in_strings_as_in_icu(ask: Ask) -> None:
    """All that are assigned but ideographs; of the syllables of Hangul one in 27, LV among them."""
    everything = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF)
    characters = regex.findall(r"(?V1)[\p{Assigned}--\p{Ideographic}--\p{Co}--[\uac00-\ud7a3]]", everything)
    characters += [chr(code) for code in range(0xAC00, 0xD7A4, 27)]
    assert len(characters) > 35_000
    for neighbours in NEIGHBOURS:
        for start in range(0, len(characters), 500):  # with escapes, under the most bytes of an input
            text = "\n".join(neighbours.format(one) for one in characters[start : start + 500])
            assert value(ask("strings", f"reverse({quoted(text)})")) == "".join(reversed(icu_clusters(text)))


dates = st.dates() | st.dates(date(2019, 1, 1), date(2025, 12, 31))


@given(dates, dates)
@settings(deadline=None)  # the first example compiles the module
def test_workdays_are_numpys(ask: Ask, a: date, b: date) -> None:
    assert value(ask("dates", f"workdays_between({a}, {b})")) == str(np.busday_count(a, b))


@given(dates, st.integers(-20_000, 20_000).filter(bool))
@settings(deadline=None)
def test_moving_by_workdays_is_numpys_offset(ask: Ask, day: date, count: int) -> None:
    expected = np.busday_offset(np.datetime64(day), count, roll="backward" if count > 0 else "forward")
    outcome = ask("dates", f"add_workdays({day}, {count})")
    if np.datetime64("0001-01-01") <= expected <= np.datetime64("9999-12-31"):
        assert value(outcome) == str(expected)
    else:
        assert not isinstance(outcome, Value)
        assert outcome.code is ErrorCode.RANGE
