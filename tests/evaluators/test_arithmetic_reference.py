"""arithmetic/1 in Python: laws that hold for every input, against fractions and integers."""

import random
from fractions import Fraction
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalspan.evaluators.in_process import SPECS, load_reference
from evalspan.evaluators.in_process.arithmetic import OPTIONS, evaluate
from evalspan.evaluators.in_process.arithmetic_syntax import MAX_ARGUMENTS
from evalspan.evaluators.in_process.faults import Fault, failure_at
from evalspan.evaluators.in_process.rational import FUNCTIONS
from evalspan.evaluators.outcome import Failure, Value
from evalspan.policies.errors import ErrorCode

LARGE, SMALL = 10**12, 60
rationals = st.one_of(
    st.fractions(-LARGE, LARGE, max_denominator=LARGE), st.fractions(-SMALL, SMALL, max_denominator=SMALL)
)
precisions = st.integers(OPTIONS["precision"].minimum, OPTIONS["precision"].maximum)


def spelt(value: Fraction) -> str:
    """An expression of the value."""
    return f"({value.numerator}/{value.denominator})"


def value_of(text: str, **options: int) -> Value:
    outcome = evaluate(text.encode(), options)
    assert isinstance(outcome, Value), outcome
    return outcome


def shown(text: str, **options: int) -> str:
    return value_of(text, **options).text


Expression = tuple[list[str], Fraction]
"""The tokens of an expression, and its value by Python's own arithmetic."""


def _decimal(digits: int, places: int) -> Expression:
    text = str(digits).rjust(places + 1, "0")
    return [f"{text[:-places]}.{text[-places:]}"], Fraction(digits, 10**places)


def _binary(left: Expression, operator: str, right: Expression) -> Expression:
    (a, x), (b, y) = left, right
    if operator in ("/", "//", "%") and y == 0:
        operator = "+"
    value = {
        "+": lambda: x + y,
        "-": lambda: x - y,
        "*": lambda: x * y,
        "/": lambda: x / y,
        "//": lambda: Fraction(x // y),
        "%": lambda: x % y,
    }[operator]()
    return ["(", *a, ")", operator, "(", *b, ")"], value


numbers = st.integers(0, 999).map(lambda n: ([str(n)], Fraction(n))) | st.builds(
    _decimal, st.integers(0, 99_999), st.integers(1, 4)
)
expressions = st.recursive(
    numbers,
    lambda inner: (
        st.builds(_binary, inner, st.sampled_from(["+", "-", "*", "/", "//", "%"]), inner)
        | inner.map(lambda e: (["-", "(", *e[0], ")"], -e[1]))
    ),
    max_leaves=8,
)


@given(expressions)
def test_the_value_is_that_of_pythons_fractions(expression: Expression) -> None:
    tokens, value = expression
    text = "".join(tokens)
    assert shown(f"({text}) - {spelt(value)}", max_input_bytes=4096) == "0"


@given(expressions, st.randoms(use_true_random=False))
def test_white_space_between_tokens_changes_nothing(expression: Expression, chance: random.Random) -> None:
    tokens, _ = expression
    spaced = "".join(token + "".join(chance.choices(" \t\r\n", k=chance.randrange(3))) for token in tokens)
    limit = {"max_input_bytes": 4096}
    assert evaluate(spaced.encode(), limit) == evaluate("".join(tokens).encode(), limit)


@given(rationals, rationals.filter(bool))
def test_floor_and_modulo_make_up_the_dividend(a: Fraction, b: Fraction) -> None:
    x, y = spelt(a), spelt(b)
    assert shown(f"{y} * ({x} // {y}) + {x} % {y} - {x}") == "0"
    assert shown(f"{x} // {y}") == str(a // b)
    remainder = shown(f"{x} % {y}")
    assert remainder == "0" or remainder.startswith("-") == (b < 0)


@given(rationals, rationals)
def test_sums_and_products_commute(a: Fraction, b: Fraction) -> None:
    x, y = spelt(a), spelt(b)
    assert evaluate(f"{x} + {y}".encode(), {}) == evaluate(f"{y} + {x}".encode(), {})
    assert evaluate(f"{x} * {y}".encode(), {}) == evaluate(f"{y} * {x}".encode(), {})


@given(st.fractions(-1000, 1000, max_denominator=1000).filter(bool), st.integers(-40, 40), st.integers(-40, 40))
def test_powers_of_one_base_add_their_exponents(base: Fraction, m: int, n: int) -> None:
    x = spelt(base)
    assert shown(f"{x} ** {m} * {x} ** {n} - {x} ** ({m} + {n})") == "0"


@given(rationals, precisions)
def test_an_exact_text_is_its_own_value_and_a_rounded_one_is_the_nearest(value: Fraction, precision: int) -> None:
    result = value_of(spelt(value), precision=precision)
    read = Fraction(result.text)
    assert result.exact == (read == value)
    assert not result.text.startswith("-0") or read != 0
    if result.exact:
        assert value_of(result.text.replace("-", "−"), precision=precision) == result
    else:
        leading = 0  # 10**leading <= |value| < 10**(leading + 1)
        while abs(value) >= Fraction(10) ** (leading + 1):
            leading += 1
        while abs(value) < Fraction(10) ** leading:
            leading -= 1
        unit = Fraction(10) ** -max(0, precision - 1 - leading)
        assert (read / unit).denominator == 1
        assert abs(read - value) <= unit / 2
        assert abs(read - value) < unit / 2 or (read / unit) % 2 == 0
    assert "." not in result.text or not result.text.endswith(("0", "."))


@given(st.fractions(0, LARGE, max_denominator=LARGE), st.integers(-300, 300))
def test_a_root_is_exact_or_the_nearest_of_34_digits(value: Fraction, scale: int) -> None:
    value *= Fraction(10) ** scale
    result = value_of(f"sqrt({value.numerator}/{value.denominator})", precision=34, max_input_bytes=1024)
    root = Fraction(result.text)
    if result.exact:
        assert root * root == value
        return
    assert root > 0
    unit = Fraction(1)
    while root / unit >= 10**34:
        unit *= 10
    while root / unit < 10**33:
        unit /= 10
    low, high = root - unit / 2, root + unit / 2
    assert low * low < value < high * high
    x = spelt(value)
    assert value_of(f"sqrt({x}**2) - {x}", max_input_bytes=1024) == Value("0")


@given(rationals, st.integers(-8, 40))
def test_rounding_is_to_the_nearest_and_ties_go_their_way(value: Fraction, places: int) -> None:
    x, unit = spelt(value), Fraction(10) ** -places
    for name in ("round", "round_even"):
        multiple = int(shown(f"{name}({x}, {places}) * 10**{places}"))
        distance = abs(multiple - value / unit)
        assert distance <= Fraction(1, 2)
        if distance == Fraction(1, 2):
            assert multiple % 2 == 0 if name == "round_even" else abs(multiple * unit) > abs(value)


@given(st.lists(st.integers(-(10**30), 10**30), min_size=1, max_size=6))
def test_gcd_divides_and_lcm_is_a_multiple(values: list[int]) -> None:
    arguments = ", ".join(map(str, values))
    gcd, lcm = int(shown(f"gcd({arguments})")), int(shown(f"lcm({arguments})"))
    assert gcd >= 0
    assert lcm >= 0
    assert all(value == 0 if gcd == 0 else value % gcd == 0 for value in values)
    assert lcm == 0 if 0 in values else all(lcm % value == 0 for value in values)
    if len(values) == 2:
        assert gcd * lcm == abs(values[0] * values[1])


PIECES = [
    b"1",
    b"0",
    b".5",
    b"2e3",
    b"(",
    b")",
    b",",
    b"+",
    b"-",
    b"*",
    b"/",
    b"//",
    b"**",
    b"%",
    b"^",
    b" ",
    b"max",
    b"sqrt",
]
BROKEN = [b"016", b"5.", b"x", b"\xff", b"\xc3", "×".encode(), "−".encode(), "é".encode(), b"\x00", b"=", b"1e9999"]


@given(st.lists(st.sampled_from(PIECES + BROKEN), max_size=24).map(b"".join) | st.binary(max_size=40))
def test_every_input_has_an_answer_and_a_syntax_error_is_at_the_first_impossible_token(data: bytes) -> None:
    outcome = evaluate(data, {})
    assert evaluate(data, {}) == outcome
    if isinstance(outcome, Value):
        assert outcome.text.isascii()
        return
    assert not outcome.code.from_host_only
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


@given(st.integers(1, 64), st.integers(0, 70), st.sampled_from(["(", "-", "+", "abs(", "1**", "1^"]))
def test_depth_is_the_number_of_constructs_around_an_atom(limit: int, depth: int, opening: str) -> None:
    text = opening * depth + "1" + ")" * (depth if "(" in opening else 0)
    outcome = evaluate(text.encode(), {"max_depth": limit})
    if depth <= limit:
        assert isinstance(outcome, Value)
    else:
        assert isinstance(outcome, Failure)
        first = len(opening) * limit + (1 if opening.startswith("1") else 0)
        assert (outcome.code, outcome.offset) == (ErrorCode.TOO_DEEP, first)


@given(st.integers(1, 40), st.integers(1, 10**50), st.integers(1, 10**50))
def test_a_value_is_legal_if_and_only_if_its_lowest_terms_are_short(limit: int, p: int, q: int) -> None:
    value = Fraction(p, q)
    legal = max(len(str(p)), len(str(q)), len(str(value.numerator)), len(str(value.denominator))) <= limit
    outcome = evaluate(f"{p}/{q}".encode(), {"max_digits": limit})
    assert isinstance(outcome, Value) == legal
    if isinstance(outcome, Failure):
        long = [len(str(p)) > limit, True, len(str(q)) > limit]
        offsets = [0, len(str(p)), len(str(p)) + 1]
        first = offsets[0] if long[0] else offsets[2] if long[2] else offsets[1]
        assert (outcome.code, outcome.offset) == (ErrorCode.TOO_LARGE, first)


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9",
        "9**9**9**9",
        "2**1e1023",
        "0.5**1e1023",
        "factorial(1e1023)",
        "round(1/3, 1e1023)",
        "round(1/3, -1e1023)",
        "round_even(1/7, 1e1023)",
        "1e" + "9" * 400,
        "1e-" + "9" * 400,
        "(1/3)**1e1000",
    ],
)
def test_a_size_is_checked_before_the_work(text: str) -> None:
    start = perf_counter()
    evaluate(text.encode(), {})
    assert perf_counter() - start < 0.1  # microseconds in fact; the work itself would take hours


def test_the_longest_input_is_answered_in_bounded_time() -> None:
    start = perf_counter()
    for unit in (b"+1e1000/7", b",9e-1000/7", b"-(1/3)", b"%1e1000"):
        outcome = evaluate(b"max(1" + unit * (16_000 // len(unit)) + b")", {"max_input_bytes": 16_384})
        assert isinstance(outcome, Value)
    assert perf_counter() - start < 10  # half a second in fact: linear in the input, with 1,024-digit values


def test_messages_never_quote_the_input() -> None:
    for text in ("1 + <result>5</result>", "foo<b>(1)", "1_<i>", "max(1,2", "\x1b[31m"):
        outcome = evaluate(text.encode(), {})
        assert isinstance(outcome, Failure)
        assert "<" not in outcome.message
        assert outcome.message.isprintable()


def test_a_long_piece_is_cut_on_a_character_boundary() -> None:
    outcome = evaluate(b"1 + " + b"a" * 40, {})
    assert isinstance(outcome, Failure)
    assert (outcome.offset, outcome.piece_length) == (4, 32)
    fault = Fault(ErrorCode.DOMAIN, "m")
    assert failure_at(fault, "x€€€€€€€€€€€".encode(), 0, 34) == Failure(ErrorCode.DOMAIN, "m", 0, 31)


def test_syntax_and_semantics_know_the_same_functions() -> None:
    assert FUNCTIONS.keys() == MAX_ARGUMENTS.keys()


@pytest.mark.parametrize("spec", SPECS)
def test_a_reference_names_its_specification_and_sane_options(spec: str) -> None:
    reference = load_reference(spec)
    assert spec == reference.SPEC
    assert all(option.minimum <= option.default <= option.maximum for option in reference.OPTIONS.values())


def test_a_specification_without_a_reference_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        load_reference("arithmetic/2")
