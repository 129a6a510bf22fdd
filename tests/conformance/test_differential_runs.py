"""Long differential runs: what they find, how small they make it, and how they stop."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest
from click import Abort
from click.testing import CliRunner

from evalspan.conformance import differential
from evalspan.conformance.cli import conformance
from evalspan.conformance.differential import Pair, Tally, agree, compare, pair, samples
from evalspan.conformance.generators import GENERATORS
from evalspan.conformance.minimize import MAX_TRIALS, minimized
from evalspan.evaluators import Failure, Outcome, Value
from evalspan.evaluators.in_process import load_reference
from evalspan.policies import ErrorCode

Evaluate = Callable[[bytes, Mapping[str, int]], Outcome]

ARITHMETIC: Evaluate = load_reference("arithmetic/1").evaluate


def wrong_about(piece: bytes) -> Evaluate:
    """The reference, but for inputs with `piece` in them."""

    def evaluate(data: bytes, options: Mapping[str, int]) -> Outcome:
        return Failure(ErrorCode.RANGE, "") if piece in data else ARITHMETIC(data, options)

    return evaluate


@pytest.mark.parametrize("spec", GENERATORS)
def test_2000_samples_of_each_operator_have_one_answer(spec: str) -> None:
    tally = Tally(0)
    with pair(spec) as both:
        compare(spec, both, tally, seed=2, count=2000)
    assert tally.disagreement is None, tally.disagreement
    assert tally.compared == sum(tally.answers.values()) == 2000


def test_the_first_disagreement_is_found_and_made_as_short_as_it_can_be() -> None:
    tally = Tally(0)
    compare("arithmetic/1", Pair(ARITHMETIC, wrong_about(b"sqrt(")), tally, seed=0, count=10_000)
    found = tally.disagreement
    assert found is not None
    first = next(index for index, sample in enumerate(samples("arithmetic/1", 0, 0)) if b"sqrt(" in sample.data)
    assert found.index == first == tally.next_index
    assert (found.shortest.data, found.shortest.options) == (b"sqrt(", {})
    assert [type(outcome) for outcome in found.answers] == [Failure, Failure]


def test_options_stay_where_the_disagreement_needs_them() -> None:
    def deep(data: bytes, options: Mapping[str, int]) -> Outcome:
        outcome = ARITHMETIC(data, options)
        if isinstance(outcome, Failure) and outcome.code is ErrorCode.TOO_DEEP and options:
            return replace(outcome, offset=outcome.offset + 1)
        return outcome

    tally = Tally(0)
    compare("arithmetic/1", Pair(ARITHMETIC, deep), tally, seed=0, count=10_000)
    assert tally.disagreement is not None
    options = tally.disagreement.shortest.options
    assert options == tally.disagreement.sample.options != {}
    assert len(tally.disagreement.shortest.data) <= options["max_depth"] + 3, "an opening too many, 3 bytes at most"


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (Value("1"), Value("1", fuel=7), True),
        (Value("1"), Value("2"), False),
        (Value("1"), Value("1", exact=False), False),
        (Failure(ErrorCode.SYNTAX, "a", 3), Failure(ErrorCode.SYNTAX, "b", 3, 2), True),
        (Failure(ErrorCode.SYNTAX, "", 3), Failure(ErrorCode.SYNTAX, "", 4), False),
        (Failure(ErrorCode.SYNTAX, "", 3), Failure(ErrorCode.DOMAIN, "", 3), False),
        (Failure(ErrorCode.FUEL_EXHAUSTED, ""), Value("1"), True),
        (Failure(ErrorCode.MEMORY_EXHAUSTED, ""), Value("1"), False),
        (Failure(ErrorCode.INTERNAL, ""), Failure(ErrorCode.INTERNAL, ""), False),
    ],
)
def test_answers_agree_on_text_exactness_code_and_offset(left: Outcome, right: Outcome, expected: bool) -> None:
    assert agree(left, right) is expected


def test_an_interrupted_run_knows_where_to_go_on() -> None:
    asked: list[bytes] = []

    def interrupted(data: bytes, options: Mapping[str, int]) -> Outcome:
        if len(asked) == 25:
            raise KeyboardInterrupt
        asked.append(data)
        return ARITHMETIC(data, options)

    tally = Tally(100)
    with pytest.raises(KeyboardInterrupt):
        compare("arithmetic/1", Pair(interrupted, ARITHMETIC), tally, seed=0, count=1000)
    assert (tally.compared, tally.next_index) == (25, 125)
    assert [sample.data for sample in islice(samples("arithmetic/1", 0, 100), 25)] == asked
    compare("arithmetic/1", Pair(ARITHMETIC, ARITHMETIC), tally, seed=0, count=30)
    assert tally.next_index == 130


def test_progress_is_told_in_steps() -> None:
    told: list[int] = []
    answer = Value("1")
    one = Pair(lambda data, options: answer, lambda data, options: answer)
    compare("dates/1", one, Tally(0), seed=0, count=1000, on_progress=told.append)
    assert told == [200, 400, 600, 800, 1000]


@pytest.mark.parametrize(
    ("data", "needed"),
    [(b"a + bb + ccc", b"bb"), (b"x" * 3000 + b"\xc3\xa9" + b"y" * 3000, b"\xc3\xa9"), (b"abc", b""), (b"", b"")],
)
def test_a_minimized_input_is_what_the_property_needs(data: bytes, needed: bytes) -> None:
    assert minimized(data, lambda part: needed in part) == needed


def test_a_minimized_input_has_no_byte_too_many_where_it_needs_pieces_far_apart() -> None:
    data = b"max(1, (2 + 3) * \\u00e9 4, foo(5))" * 5
    assert minimized(data, lambda part: part.count(b"(") >= 3 and b"\\u00e9" in part) in (
        b"(\\u00e9((",
        b"((\\u00e9(",
        b"(((\\u00e9",
        b"\\u00e9(((",
    )


def test_minimizing_ends_however_large_the_input_is() -> None:
    trials = []

    def keeps(part: bytes) -> bool:
        trials.append(part)
        return len(part) >= 16_000

    assert len(minimized(b"+-" * 8192, keeps)) >= 16_000
    assert len(trials) == MAX_TRIALS


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(conformance, ["differential", *arguments], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return int(result.return_value), result.stdout


@contextmanager
def faulty(spec: str) -> Iterator[Pair]:
    yield Pair(ARITHMETIC, wrong_about(b"%"))


def test_the_command_says_what_was_compared() -> None:
    code, output = run("--n", "50", "--json", "--seed", "9", "--start", "7")
    answer = json.loads(output)
    assert (code, answer["seed"], answer["agree"]) == (0, 9, True)
    assert [row["evaluator"] for row in answer["rows"]] == [spec.partition("/")[0] for spec in GENERATORS]
    for row in answer["rows"]:
        assert (row["start"], row["next"], row["compared"], row["disagreement"]) == (7, 57, 50, None)
        assert sum(row["answers"].values()) == 50
    code, output = run("--n", "50", "--evaluator", "dates")
    assert (code, output.split()[:3]) == (0, ["dates", "50", "agree"])


def test_a_disagreement_is_status_1_and_its_line_repeats_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differential, "pair", faulty)
    code, output = run("--n", "2000", "--evaluator", "arithmetic")
    assert code == 1
    assert "DISAGREEMENT at index" in output
    assert "input       b'%'" in output
    assert "in_process  error range at 0" in output
    line = next(line for line in output.splitlines() if "repeat with" in line)
    again, repeated = run(*line.split("differential ")[1].split())
    assert again == 1
    assert repeated.splitlines()[1:] == output.splitlines()[1:]
    code, output = run("--n", "2000", "--evaluator", "arithmetic", "--json")
    found = json.loads(output)["rows"][0]["disagreement"]
    assert (code, found["input"], found["input_hex"], found["options"]) == (1, "%", "25", {})
    assert found["answers"]["in_process"]["error"]["code"] == "range"


def test_an_interrupted_command_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: Any, **options: Any) -> None:
        compare(*arguments, **options | {"count": 30})
        raise KeyboardInterrupt

    monkeypatch.setattr(differential, "compare", interrupted)
    result = CliRunner().invoke(
        conformance, ["differential", "--n", "50", "--evaluator", "checksums"], standalone_mode=False
    )
    assert isinstance(result.exception, Abort)
    assert "checksums    30 agree" in result.stdout
    expected = "go on with  evalspan conformance differential --evaluator checksums --seed 0 --start 30 --n 20"
    assert expected in result.stdout


def test_an_unknown_evaluator_is_wrong_usage() -> None:
    result = CliRunner().invoke(conformance, ["differential", "--evaluator", "roman"])
    assert result.exit_code == 2
    assert "no generator for 'roman'" in result.output
