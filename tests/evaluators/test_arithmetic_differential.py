"""The module and the reference of arithmetic/1 give one answer: value, exactness, code and offset."""

from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalspan.conformance.vectors import builtin_suites
from evalspan.evaluators import Evaluators, Outcome, Value
from evalspan.evaluators.in_process.arithmetic import OPTIONS, evaluate
from evalspan.policies import ErrorCode, Registry

VECTORS = builtin_suites()["arithmetic/1"]

DEFAULTS: Mapping[str, int] = {}
TIGHT = {"max_depth": 3, "max_digits": 5, "precision": 3}
SHORT = {"max_digits": 40, "max_result_bytes": 20, "precision": 1}
WIDE = {"max_input_bytes": 16_384, "max_depth": 64, "max_result_bytes": 16_384, "precision": 34}
some_options = st.sampled_from([DEFAULTS, TIGHT, SHORT, WIDE])

HEAD = """
version = 1
[policy.default]
max_input_bytes = 16384
max_depth = 64
max_digits = 1024
max_result_bytes = 16384
fuel = 1000000000
deadline_ms = 60000
"""
"""The ceilings. So much fuel, since running out of it is outside the equality."""


def name_of(options: Mapping[str, int]) -> str:
    """The name of the evaluator that has these options."""
    return "-".join(["with", *(str(options.get(name, spec.default)) for name, spec in OPTIONS.items())])


def entry(options: Mapping[str, int]) -> str:
    """The registry's entry of an evaluator with these options."""
    values = {name: spec.default for name, spec in OPTIONS.items()} | dict(options)
    own = values.pop("precision")
    policy = ", ".join(f"{name} = {value}" for name, value in values.items())
    return f"""
[[evaluator]]
name = "{name_of(options)}"
builtin = "arithmetic/1"
options = {{ precision = {own} }}
policy = {{ {policy} }}
"""


@pytest.fixture(scope="module")
def modules() -> Iterator[Evaluators]:
    """The wasm module under each set of options that is used here."""
    used = [DEFAULTS, TIGHT, SHORT, WIDE, *(case.options for case in VECTORS.cases)]
    entries = {name_of(options): entry(options) for options in used}
    with Evaluators(Registry.parse(HEAD + "".join(entries.values()))) as evaluators:
        yield evaluators


def comparable(outcome: Outcome) -> tuple[object, ...]:
    """What the two must agree on."""
    if isinstance(outcome, Value):
        return outcome.text, outcome.exact
    assert outcome.code is not ErrorCode.INTERNAL, outcome
    return outcome.code, outcome.offset


def assert_same(modules: Evaluators, data: bytes, options: Mapping[str, int]) -> None:
    ours = modules.evaluate(name_of(options), data)
    assert comparable(ours) == comparable(evaluate(data, options)), (data, dict(options))


literals = st.one_of(
    st.integers(0, 999).map(str),
    st.integers(0, 10**40).map(str),
    st.from_regex(r"\A[0-9]{0,3}\.[0-9]{0,4}\Z"),
    st.from_regex(r"\A[0-9]{1,3}(\.[0-9]{1,3})?[eE][+-]?[0-9]{1,2}\Z"),
    st.sampled_from(
        ["0", "1", "2", "0.5", "1e1023", "1e-1023", "5e-1024", "1e1024", "7e511", "3e-500", "0e9999999999", "016"]
    ),
)
operators = st.sampled_from(
    ["+", "-", "*", "/", "//", "%", "**", "^", "×", "·", "÷", "−", " + ", " - ", "\t*\n", " / ", "**-", "--", "××"]
)
names = st.sampled_from([*VECTORS.functions, "abs ", "Abs", "log"])
valid_or_nearly = st.recursive(
    literals,
    lambda inner: st.one_of(
        st.builds("{}{}{}".format, inner, operators, inner),
        st.builds("({})".format, inner),
        st.builds("-{}".format, inner),
        st.builds("{}({})".format, names, inner),
        st.builds("{}({}, {})".format, names, inner, inner),
        st.builds("{}({},{},{})".format, names, inner, inner, inner),
    ),
    max_leaves=12,
)
fragments = st.one_of(
    st.sampled_from([b"1", b"0", b"12", b".", b"e", b"E5", b"_", b"x", b"(", b")", b",", b"1e9999", b"<result>"]),
    st.sampled_from([b"+", b"-", b"*", b"/", b"%", b"^", b"max", b"max(", b"round(", b"sqrt(2)", b"today"]),
    st.sampled_from([b" ", b"\n", b"\x00", b"\x0b", b"\x7f", b"\xff", b"\xc3", b"\x97", b"\xe2\x88", b"\x92"]),
    st.sampled_from("×÷·−é²１😀\u00a0").map(str.encode),
)


@given(valid_or_nearly, some_options)
@settings(max_examples=500, deadline=None)  # the first example compiles the module
def test_the_module_answers_as_the_reference_does(modules: Evaluators, text: str, options: Mapping[str, int]) -> None:
    assert_same(modules, text.encode(), options)


@given(st.data(), some_options)
@settings(max_examples=300, deadline=None)
def test_the_module_refuses_as_the_reference_does(
    modules: Evaluators, data: st.DataObject, options: Mapping[str, int]
) -> None:
    raw = bytearray(data.draw(valid_or_nearly).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(raw)))
        raw[at : at + data.draw(st.integers(0, 2))] = data.draw(fragments)
    assert_same(modules, bytes(raw), options)


@given(st.lists(fragments, max_size=20).map(b"".join) | st.binary(max_size=24), some_options)
@settings(max_examples=300, deadline=None)
def test_bytes_of_any_kind_get_one_answer(modules: Evaluators, raw: bytes, options: Mapping[str, int]) -> None:
    assert_same(modules, raw, options)


@given(
    st.sampled_from(["{}*{}", "{}/{}", "{}+{}", "{}%{}", "{}//{}", "gcd(floor({}),floor({}))", "sqrt({})-{}"]),
    st.lists(st.integers(1, 10**1023), min_size=4, max_size=4),
)
@settings(max_examples=100, deadline=None)
def test_long_values_agree(modules: Evaluators, form: str, numbers: list[int]) -> None:
    a, b, c, d = numbers
    text = form.format(f"({a}/{b})", f"({c}/{d})")
    assert_same(modules, text.encode(), WIDE)


@given(
    st.sampled_from(["1", "9", "25", "05", str(2**13), str(5**9)]),
    st.integers(1, 1500),
    st.sampled_from(["", "0", "00001"]),
    st.integers(0, 1500),
    st.integers(-4000, 4000),
)
@settings(max_examples=200, deadline=None)
def test_long_literals_agree(modules: Evaluators, unit: str, times: int, zeros: str, more: int, exponent: int) -> None:
    text = f"0.{unit * times}{zeros * more}e{exponent}"
    assert_same(modules, text.encode(), WIDE)
    assert_same(modules, f"{5**times}e{exponent // 4}".encode(), WIDE)


def test_every_vector_agrees(modules: Evaluators) -> None:
    for case in VECTORS.cases:
        assert_same(modules, case.data, case.options)
