"""The module and the reference of each operator give one answer: value, exactness, code and offset.

The generators are those of `evalspan conformance differential`; here hypothesis makes the choices, so that it looks
for edges and shrinks what it finds.
"""

from collections.abc import Iterator, Mapping
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalspan.conformance.differential import Pair, agree, pair
from evalspan.conformance.generators import GENERATORS, Chance, Sample
from evalspan.conformance.generators.mutation import BYTES
from evalspan.conformance.vectors import builtin_suites

VECTORS = builtin_suites()

WIDE = {"max_input_bytes": 16_384, "max_depth": 64, "max_result_bytes": 16_384, "precision": 34}


@pytest.fixture(scope="module", params=GENERATORS)
def spec(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def both(spec: str) -> Iterator[Pair]:
    with pair(spec) as found:
        yield found


@pytest.fixture(scope="module")
def arithmetic() -> Iterator[Pair]:
    with pair("arithmetic/1") as found:
        yield found


def assert_one_answer(both: Pair, data: bytes, options: Mapping[str, int]) -> None:
    left, right = both.answers(Sample(data, options))
    assert agree(left, right), (data, dict(options), left, right)


# The first example compiles the module; a sample may take hundreds of choices, each of which hypothesis records.
examples = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@given(st.randoms(use_true_random=False))
@settings(examples, max_examples=150)
def test_the_module_answers_as_the_reference_does(spec: str, both: Pair, source: Random) -> None:
    sample = GENERATORS[spec].draw(Chance(source))
    assert_one_answer(both, sample.data, sample.options)


@given(st.data())
@settings(examples, max_examples=300)
def test_vectors_with_edits_have_one_answer(spec: str, both: Pair, data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(VECTORS[spec].cases))
    raw = bytearray(case.data)
    pieces = st.sampled_from([b"", *BYTES, *GENERATORS[spec].fragments])
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(raw)))
        raw[at : at + data.draw(st.integers(0, 3))] = data.draw(pieces)
    options = data.draw(st.sampled_from([case.options, *GENERATORS[spec].options]))
    assert_one_answer(both, bytes(raw), options)


@given(st.data())
@settings(examples, max_examples=300)
def test_bytes_of_any_kind_have_one_answer(spec: str, both: Pair, data: st.DataObject) -> None:
    pieces = st.sampled_from([*BYTES, *GENERATORS[spec].fragments])
    raw = data.draw(st.lists(pieces, max_size=20).map(b"".join) | st.binary(max_size=24))
    assert_one_answer(both, raw, data.draw(st.sampled_from(GENERATORS[spec].options)))


def test_every_vector_has_one_answer(spec: str, both: Pair) -> None:
    for case in VECTORS[spec].cases:
        assert_one_answer(both, case.data, case.options)


@given(
    st.sampled_from(["{}*{}", "{}/{}", "{}+{}", "{}%{}", "{}//{}", "gcd(floor({}),floor({}))", "sqrt({})-{}"]),
    st.lists(st.integers(1, 10**1023), min_size=4, max_size=4),
)
@settings(examples, max_examples=100)
def test_long_values_of_arithmetic_have_one_answer(arithmetic: Pair, form: str, numbers: list[int]) -> None:
    a, b, c, d = numbers
    assert_one_answer(arithmetic, form.format(f"({a}/{b})", f"({c}/{d})").encode(), WIDE)


@given(
    st.sampled_from(["1", "9", "25", "05", str(2**13), str(5**9)]),
    st.integers(1, 1500),
    st.sampled_from(["", "0", "00001"]),
    st.integers(0, 1500),
    st.integers(-4000, 4000),
)
@settings(examples, max_examples=200)
def test_long_literals_of_arithmetic_have_one_answer(
    arithmetic: Pair, unit: str, times: int, zeros: str, more: int, exponent: int
) -> None:
    text = f"0.{unit * times}{zeros * more}e{exponent}"
    assert_one_answer(arithmetic, text.encode(), WIDE)
    assert_one_answer(arithmetic, f"{5**times}e{exponent // 4}".encode(), WIDE)
