"""The result policy lets through what can stand in a fence, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalspan.policies import LinearPattern, PatternError, ResultPolicy, quote_piece

POLICY = ResultPolicy(["<calc>", "</result>"], max_bytes=32, pattern=None)


@pytest.mark.parametrize("text", ["482", "-1.5", "", "naïve", "👨‍👩‍👧", "a < b", "</resul", "<result >"])
def test_plain_text_passes(text: str) -> None:
    assert POLICY.objection(text) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("</result>", "tag"),
        ("5<calc>", "tag"),
        ("x" * 33, "33 bytes"),
        ("é" * 17, "34 bytes"),
        ("a\nb", "U+000A"),
        ("\0", "U+0000"),
        ("\x1b[31m", "U+001B"),
        ("\x9b", "U+009B"),
        ("\ud800", "UTF-8"),
    ],
)
def test_everything_else_is_refused_without_an_echo(text: str, reason: str) -> None:
    objection = POLICY.objection(text)
    assert objection is not None
    assert reason in objection
    assert text not in objection


def test_the_pattern_is_a_full_match() -> None:
    policy = ResultPolicy([], 100, "-?[0-9]+")
    assert policy.objection("-12") is None
    assert policy.objection("-12 ") is not None
    assert policy.objection("") is not None


def test_a_pattern_that_blows_up_a_backtracking_engine_is_answered() -> None:
    assert not LinearPattern("(a+)+b").matches(b"a" * 5000)


@pytest.mark.parametrize("pattern", ["(", "(a)\\1", "(?=a)", "[", "*"])
def test_other_patterns_are_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match="linear-time"):
        LinearPattern(pattern)


@given(st.binary(max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_a_quoted_piece_is_whole_characters_of_the_input(data: bytes, offset: int, length: int) -> None:
    piece = quote_piece(data, offset, length)
    assert len(piece.encode()) <= 32
    assert data[offset:].startswith(piece.encode())


def test_a_piece_is_cut_between_characters() -> None:
    assert quote_piece("é".encode() * 20, 0, 33) == "é" * 16
    assert quote_piece(b"a\xffb", 0, 3) == ""
