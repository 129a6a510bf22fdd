"""The vectors are sound, the references pass them, and the lint finds what it is there to find."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from evalspan.conformance.vectors import (
    Result,
    Suite,
    VectorError,
    builtin_suites,
    lint,
    load,
    run,
    several_faults,
)
from evalspan.evaluators.in_process import SPECS, OptionSpec, load_reference
from evalspan.evaluators.outcome import Failure, Outcome, Value
from evalspan.policies.errors import ErrorCode

SUITES = builtin_suites()

HEAD = """
spec = "doubling/1"
functions = []
errors = ["syntax", "too_large"]
repairs = ["", "1"]
[notes]
several-faults = "more than one"
long-piece = "long"
"""
ONE = '[[case]]\nid = "one"\ncomment = "a digit"\ninput = "1"\nvalue = "2"\n'
LETTER = '[[case]]\nid = "letter"\ncomment = "no digit"\ninput = "1x"\nerror = { code = "syntax", offset = 1 }\n'
TWO = '[[case]]\nid = "two"\ncomment = "two letters"\ninput = "x1y"\nerror = { code = "syntax", offset = 0 }\n'
OPTIONS = {"max_digits": OptionSpec(2, 1, 4)}


def doubling(data: bytes, options: Mapping[str, int]) -> Outcome:
    """A small operator: twice the decimal digits, of which there are at most `max_digits`."""
    for offset in range(len(data)):
        if not data[offset : offset + 1].isdigit():
            return Failure(ErrorCode.SYNTAX, "no digit", offset, 1)
    if not data:
        return Failure(ErrorCode.SYNTAX, "nothing", 0)
    if len(data) > options.get("max_digits", 2):
        return Failure(ErrorCode.TOO_LARGE, "too many digits", 0, len(data))
    return Value(str(2 * int(data)))


def suite(tmp_path: Path, *parts: str) -> Suite:
    path = tmp_path / "doubling.toml"
    path.write_text("\n".join(parts), encoding="utf-8")
    return load(path)


@pytest.mark.parametrize("spec", SPECS)
def test_a_reference_passes_every_vector_of_its_specification(spec: str) -> None:
    results = run(SUITES[spec].cases, load_reference(spec).evaluate)
    assert [str(result) for result in results if not result.passed] == []
    assert len(results) >= 200


@pytest.mark.parametrize("spec", SPECS)
def test_the_vectors_are_sound(spec: str) -> None:
    reference = load_reference(spec)
    assert lint(SUITES[spec], reference.OPTIONS) == []
    assert several_faults(SUITES[spec], reference.evaluate, reference.OPTIONS) == []


def test_every_specification_has_vectors_and_a_reference() -> None:
    assert sorted(SUITES) == sorted(SPECS)


@pytest.mark.parametrize(
    ("expected", "outcome"),
    [
        (Value("2"), Value("3")),
        (Value("2"), Value("2", exact=False)),
        (Value("2"), Failure(ErrorCode.SYNTAX, "", 0)),
        (Failure(ErrorCode.SYNTAX, "", 1), Failure(ErrorCode.SYNTAX, "", 0)),
        (Failure(ErrorCode.SYNTAX, "", 1), Failure(ErrorCode.DOMAIN, "", 1)),
    ],
)
def test_a_case_fails_on_text_exactness_code_and_offset(expected: Outcome, outcome: Outcome, tmp_path: Path) -> None:
    case = replace(suite(tmp_path, HEAD, ONE).cases[0], expected=expected)
    assert not Result(case, outcome).passed
    assert "should give" in str(Result(case, outcome))


def test_a_case_passes_whatever_the_message_the_piece_and_the_fuel(tmp_path: Path) -> None:
    one, letter = suite(tmp_path, HEAD, ONE, LETTER).cases
    assert Result(one, Value("2", fuel=7)).passed
    assert Result(letter, Failure(ErrorCode.SYNTAX, "any text", 1, 3, fuel=7)).passed


def test_long_texts_are_written_as_units(tmp_path: Path) -> None:
    text = '[[case]]\nid = "long"\ncomment = "c"\ninput = [["12", 3], ["0", 2]]\nvalue = [["9", 4]]\n'
    (case,) = suite(tmp_path, HEAD, text).cases
    assert (case.data, case.expected) == (b"12121200", Value("9999"))


def test_bytes_that_are_not_utf8_are_written_in_hexadecimal(tmp_path: Path) -> None:
    (case,) = suite(tmp_path, HEAD, LETTER.replace('input = "1x"', 'input_hex = "31ff"')).cases
    assert case.data == b"1\xff"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (ONE.replace('value = "2"', ""), "one: needs exactly one of value and error"),
        (ONE + 'error = { code = "syntax", offset = 0 }', "one: needs exactly one of value and error"),
        (ONE + 'input_hex = "31"', "one: needs exactly one of input and input_hex"),
        (ONE.replace('input = "1"', 'input_hex = "3"'), "one: needs input_hex as pairs"),
        (ONE.replace('input = "1"', "input = 1"), "one: needs input as text"),
        (ONE.replace('id = "one"', ""), "case 1: needs id"),
        (ONE + "exakt = false", "one: unknown keys: exakt"),
        (LETTER.replace('"syntax"', '"syntaxx"'), "letter: needs an error code, not 'syntaxx'"),
        (LETTER.replace("offset = 1", "offset = 1, at = 2"), "letter: unknown keys: at"),
        ("]", "doubling.toml: "),
        ("[extra]", "unknown keys: extra"),
    ],
)
def test_a_file_that_cannot_be_read_says_where_and_why(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(VectorError) as raised:
        suite(tmp_path, HEAD, LETTER if text == "[extra]" else "", text)
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (ONE + ONE, "one: the id is taken"),
        (ONE + ONE.replace('"one"', '"again"'), "again: asks the same as one"),
        (ONE.replace('"a digit"', '""'), "one: no comment"),
        (ONE + "options = { max_digits = 5 }", "one: max_digits = 5 is not an option or not in its range"),
        (ONE + "options = { digits = 1 }", "one: digits = 1 is not an option or not in its range"),
        (ONE + 'flags = ["odd"]', "one: the flag odd has no note"),
        (LETTER.replace("offset = 1", "offset = 3"), "letter: the offset is outside the input"),
        (LETTER.replace('"syntax"', '"domain"'), "letter: domain is not an error of doubling/1"),
        (ONE, "no case has the error syntax"),
        (ONE, "the note several-faults is of no case"),
    ],
)
def test_the_lint_finds_a_planted_defect(text: str, says: str, tmp_path: Path) -> None:
    assert says in lint(suite(tmp_path, HEAD, text), OPTIONS)


def test_the_lint_wants_a_value_and_an_error_of_every_function(tmp_path: Path) -> None:
    vectors = replace(suite(tmp_path, HEAD, ONE, LETTER), functions=("twice",))
    assert "no case with a call of twice has value as its answer" in lint(vectors, OPTIONS)
    assert "no case with a call of twice has error as its answer" in lint(vectors, OPTIONS)


def test_the_lint_refuses_vectors_of_errors_that_only_the_host_has(tmp_path: Path) -> None:
    head = HEAD.replace('"syntax", ', '"syntax", "fuel_exhausted", ')
    assert "fuel_exhausted is the host's: no vector may reach it" in lint(suite(tmp_path, head, ONE), OPTIONS)


def test_an_invalid_case_with_two_faults_is_found_unless_it_is_flagged(tmp_path: Path) -> None:
    large = '[[case]]\nid = "large"\ncomment = "c"\ninput = "123"\nerror = { code = "too_large", offset = 0 }\n'
    assert several_faults(suite(tmp_path, HEAD, LETTER, TWO, large), doubling, OPTIONS) == ["two"]
    flagged = TWO + 'flags = ["several-faults"]\n'
    assert several_faults(suite(tmp_path, HEAD, LETTER, flagged, large), doubling, OPTIONS) == []
