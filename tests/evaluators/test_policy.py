"""The policy around an evaluation: bytes before it, the result and the message after it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from evaluators.guests import guest, registry
from hypothesis import given
from hypothesis import strategies as st

from evalspan.evaluators import Evaluators, Failure, Outcome, Value
from evalspan.evaluators.bound import BoundEvaluator
from evalspan.policies import ErrorCode, Limits, Registry, ResultPolicy

TAGS = ("<result>", "</result>", "<err>", "</err>")
SPAN = """
[[span]]
name = "letters"
open = "<calc>"
close = "</calc>"
evaluator = "echo"
result = { open = "<result>", close = "</result>", pattern = "[a-z]+" }
policy = { max_input_bytes = 4 }
"""


def bound(run: Callable[[bytes], Outcome], pattern: str | None = None, most: int = 64) -> BoundEvaluator:
    """An evaluator around a Python function."""
    limits = Limits(max_input_bytes=16, max_result_bytes=most)
    return BoundEvaluator(run, limits, (), ResultPolicy(TAGS, most, pattern), TAGS, None)


def fails(message: str, offset: int = 0, piece: int = 0) -> Callable[[bytes], Outcome]:
    """What answers one failure."""
    return lambda _: Failure(ErrorCode.SYNTAX, message, offset, piece, 5)


def test_a_long_input_never_reaches_the_evaluator() -> None:
    def run(_: bytes) -> Outcome:
        raise AssertionError("the evaluator ran")

    outcome = bound(run)(b"x" * 17)
    assert outcome == Failure(ErrorCode.TOO_LONG, "the input has 17 bytes, the limit is 16", 16)


def test_an_input_of_the_limit_reaches_it_whole() -> None:
    assert bound(lambda data: Value(data.decode()))(b"x" * 16) == Value("x" * 16)


@given(text=st.text(max_size=80))
def test_a_value_that_passes_has_no_tag_and_no_control_character(text: str) -> None:
    outcome = bound(lambda _: Value(text, fuel=3))(b"")
    if isinstance(outcome, Value):
        assert outcome.text == text and len(text.encode()) <= 64
        assert not any(tag in text for tag in TAGS)
    else:
        assert outcome.code is ErrorCode.REFUSED and outcome.fuel == 3
        assert text not in outcome.message or len(text) < 3  # a refusal does not quote what it refuses


@pytest.mark.parametrize("text", ["a<result>", "</err>", "a\x1b[2J", "a\0", "\ud800", "x" * 65, "1"])
def test_a_value_that_breaks_the_policy_is_refused(text: str) -> None:
    outcome = bound(lambda _: Value(text), pattern="[^0-9]+")(b"")
    assert isinstance(outcome, Failure) and outcome.code is ErrorCode.REFUSED


def test_a_message_quotes_the_piece() -> None:
    outcome = bound(fails("unknown name", 4, 3))(b"1 + abc")
    assert outcome == Failure(ErrorCode.SYNTAX, "unknown name: abc", 4, 3, 5)


@pytest.mark.parametrize("piece", [b"<result>", b"a</err>", b"\x00", b"\x1b[2J", b"\xff\xfe"])
def test_a_piece_that_breaks_the_policy_is_left_out(piece: bytes) -> None:
    outcome = bound(fails("unknown name", 1, len(piece)))(b"1" + piece)
    assert isinstance(outcome, Failure) and outcome.message == "unknown name"


def test_a_piece_that_completes_a_tag_of_the_message_is_left_out() -> None:
    policy = ResultPolicy(("name: abc",), 64)
    evaluator = BoundEvaluator(fails("name", 0, 3), Limits(), (), policy, ("name: abc",), None)
    outcome = evaluator(b"abc")
    assert isinstance(outcome, Failure) and outcome.message == "name"


def test_a_message_that_completes_a_tag_with_its_code_is_left_out() -> None:
    evaluator = BoundEvaluator(fails("no"), Limits(), (), ResultPolicy((), 64), ("syntax: n",), None)
    assert evaluator(b"abc") == Failure(ErrorCode.SYNTAX, "", fuel=5)


@pytest.mark.parametrize("message", ["see <result>5</result>", "a\nb", "\x1b[31m", "m" * 300])
def test_a_message_that_breaks_the_policy_is_left_out(message: str) -> None:
    outcome = bound(fails(message, 0, 1))(b"a")
    assert outcome == Failure(ErrorCode.SYNTAX, "", 0, 1, 5)


@given(data=st.binary(max_size=16), offset=st.integers(0, 16), piece=st.integers(0, 32), message=st.text(max_size=40))
def test_code_and_message_together_always_keep_the_policy(data: bytes, offset: int, piece: int, message: str) -> None:
    outcome = bound(fails(message, offset, piece))(data)
    assert isinstance(outcome, Failure)
    assert ResultPolicy(TAGS, 256).objection(f"{outcome.code}: {outcome.message}") is None


@pytest.mark.parametrize("sandbox", ["fast", "portable"])
def test_a_span_tightens_the_limits_and_its_pattern_holds_for_the_value(sandbox: str, tmp_path: Path) -> None:
    found = registry(tmp_path, {"echo": guest()}, SPAN)
    rule = found.span("letters")
    with Evaluators(found, sandbox=sandbox) as evaluators:  # type: ignore[arg-type]
        assert evaluators.evaluate("echo", b"12345") == Value("12345", fuel=12)
        assert evaluators.evaluate("echo", b"abcd", rule) == Value("abcd", fuel=12)
        long = evaluators.evaluate("echo", b"abcde", rule)
        assert isinstance(long, Failure) and (long.code, long.offset) == (ErrorCode.TOO_LONG, 4)
        digits = evaluators.evaluate("echo", b"12", rule)
        assert isinstance(digits, Failure) and digits.code is ErrorCode.REFUSED and "[a-z]+" in digits.message


def test_tags_of_every_span_and_channel_are_refused(tmp_path: Path) -> None:
    channel = '[[channel]]\nname = "thought"\nopen = "<think>"\nclose = "</think>"\n'
    found = registry(tmp_path, {"echo": guest()}, SPAN + channel)
    with Evaluators(found) as evaluators:
        for tag in found.tags:
            outcome = evaluators.evaluate("echo", f"a{tag}".encode())
            assert isinstance(outcome, Failure) and outcome.code is ErrorCode.REFUSED


def test_a_rule_of_another_registry_adds_its_tags(tmp_path: Path) -> None:
    found = registry(tmp_path, {"echo": guest()})
    other = Registry.load().span("calc")
    with Evaluators(found) as evaluators:
        assert isinstance(evaluators.evaluate("echo", b"<calc>"), Value)
        assert isinstance(evaluators.evaluate("echo", b"<calc>", other), Failure)
