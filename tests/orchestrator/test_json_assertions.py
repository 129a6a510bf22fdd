"""Assertions: checked when their last input is complete, reported where they break, whatever the tokens are."""

import json
from typing import Any

import pytest
from engine_support import each_engine, pytest_generate_tests  # noqa: F401  all runs with each engine
from hypothesis import given
from hypothesis import strategies as st
from json_support import fields, play_json
from support import finished, kinds

from evalspan.evaluators import Failure, Outcome, Value
from evalspan.orchestrator import Event, GrammarError
from evalspan.orchestrator.events import AssertionFailed
from evalspan.orchestrator.grammar import Marks, Written
from evalspan.orchestrator.json import JsonSchema
from evalspan.orchestrator.json.templates import parse_template
from evalspan.orchestrator.json.tracker import Assertion, JsonTracker, Tracking
from evalspan.policies import ErrorCode, Registry

TEXT = {"type": "string"}
ORDERED = {"evaluator": "dates", "template": "{0/sahur} < {0/buka}"}
DAY = {**fields(sahur=TEXT, buka=TEXT, place=TEXT), "x-evalspan-assert": ORDERED}


def failures(events: list[Event]) -> list[tuple[str, str, str]]:
    return [(e.span, e.input, e.answer) for e in events if isinstance(e, AssertionFailed)]


def test_an_assertion_that_holds_is_silent() -> None:
    events = play_json(DAY, '{"sahur": "04:20", "buka": "18:20", "place": "x"}')
    assert kinds(events) == ["finished"]


def test_a_violation_is_reported_at_the_field_that_breaks_it_and_the_generation_goes_on() -> None:
    events = play_json(DAY, '{"sahur": "18:20", "buka": "04:20", "place": "x"}')
    assert failures(events) == [("/buka", "(18:20) < (04:20)", "false")]
    assert finished(events).reason == "eos"
    assert kinds(events) == ["assertion_failed", "finished"]
    before = "".join(e.text for e in events[: [e.event for e in events].index("assertion_failed")] if e.event == "text")
    assert before.endswith('"buka": "04:20",')


def test_a_violation_stops_the_generation_where_the_schema_says_so() -> None:
    schema = {**DAY, "x-evalspan-assert": {**ORDERED, "on_violation": "stop"}}
    events = play_json(schema, '{"sahur": "18:20", "buka": "04:20", "place": "x"}')
    assert failures(events) == [("/buka", "(18:20) < (04:20)", "false")]
    assert (finished(events).reason, finished(events).text) == (
        "assertion_failed",
        '{"sahur": "18:20", "buka": "04:20",',
    )


@pytest.mark.parametrize(
    ("buka", "text", "answer"),
    [
        ("25:00", "(04:20) < (25:00)", "range: "),
        ("04:20) < (05:00", "", "syntax: "),
        ("2024-01-01", "(04:20) < (2024-01-01)", "domain"),
    ],
)
def test_an_assertion_without_a_value_is_violated(buka: str, text: str, answer: str) -> None:
    events = play_json(DAY, f'{{"sahur": "04:20", "buka": "{buka}", "place": "x"}}')
    ((span, given_text, given_answer),) = failures(events)
    assert (span, given_text) == ("/buka", text)
    assert given_answer.startswith(answer)


def test_a_field_is_checked_when_it_is_complete() -> None:
    iban = {"type": "string", "x-evalspan-assert": {"evaluator": "checksums", "template": "iban_valid({0/iban})"}}
    script = '{"iban": "GB82WEST12345698765432"}'
    assert kinds(play_json(fields(iban=iban), script)) == ["finished"]
    events = play_json(fields(iban=iban), script.replace("82", "83"))
    assert failures(events) == [("/iban", 'iban_valid("GB83WEST12345698765432")', "false")]


def test_items_are_checked_one_by_one_and_bound_values_too() -> None:
    days = {"type": "integer", "x-evalspan": {"evaluator": "dates", "template": "days_between({0/from}, {0/to})"}}
    row = fields(**{"from": TEXT, "to": TEXT, "days": days})
    row["properties"]["days"]["x-evalspan-assert"] = {"evaluator": "dates", "template": "{0/days} <= {2/limit}"}
    schema = fields(limit={"type": "integer"}, rows={"type": "array", "items": row})
    rows = [
        f'{{"from": "2024-01-01", "to": "{to}", "days":}}'
        for to in ("2024-01-05", "2024-02-01", "2024-01-06", "2024-03-01")
    ]
    events = play_json(schema, f'{{"limit": 5, "rows": [{", ".join(rows)}]}}')
    assert [(span, text) for span, text, _ in failures(events)] == [
        ("/rows/1/days", "(31) <= (5)"),
        ("/rows/3/days", "(60) <= (5)"),
    ]
    assert [row["days"] for row in json.loads(finished(events).text)["rows"]] == [4, 31, 5, 60]


def test_an_array_is_checked_as_a_whole_and_several_assertions_may_stand_at_a_place() -> None:
    words = {"type": "array", "items": TEXT}
    schema = fields(first=TEXT, words=words)
    schema["x-evalspan-assert"] = [
        {"evaluator": "strings", "template": "equals(concat({0/words/*}), {0/first})"},
        {"evaluator": "strings", "template": 'starts_with({0/first}, "a")'},
    ]
    assert failures(play_json(schema, '{"first": "abc", "words": ["ab", "c"]}')) == []
    assert [span for span, _, _ in failures(play_json(schema, '{"first": "bbc", "words": ["ab", "c"]}'))] == [
        "/first",
        "/words",
    ]


def test_without_evaluation_nothing_is_checked() -> None:
    assert kinds(play_json(DAY, '{"sahur": "18:20", "buka": "04:20", "place": "x"}', mode="grammar-no-eval")) == [
        "finished"
    ]


@pytest.mark.parametrize(
    ("assertion", "message"),
    [
        ({"evaluator": "dates"}, "needs a template"),
        ({**ORDERED, "on_violation": "explode"}, "on_violation"),
        ({**ORDERED, "template": "{0/later} < {0/buka}"}, "no property 'later'"),
        ({**ORDERED, "template": "{0/open} < {0/buka}"}, "must be required"),
        ({"evaluator": "arithmetic", "template": "1"}, "no answer true"),
        ("x", "must be an object of strings"),
    ],
)
def test_an_assertion_that_cannot_be_checked_is_refused(assertion: Any, message: str) -> None:
    schema = fields(sahur=TEXT, buka=TEXT)
    schema["properties"]["open"] = TEXT
    schema["x-evalspan-assert"] = assertion
    with pytest.raises(GrammarError, match=message):
        JsonSchema(schema).compile(Registry.load(), Marks(1000))


# --- the tracker alone

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=25,
)


def parsed(value: Any) -> Any:
    """What the tracker should hold of a value: containers, and texts of everything else."""
    if isinstance(value, dict):
        return {name: parsed(item) for name, item in value.items()}
    return [parsed(item) for item in value] if isinstance(value, list) else json.dumps(value)


@given(JSON, st.data())
def test_every_cut_of_a_document_is_read_alike(value: Any, data: st.DataObject) -> None:
    text = json.dumps({"root": value}).encode()
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=12)))
    tracker = JsonTracker()
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        tracker.read(text[start:end], lambda: pytest.fail("nothing is asserted"))
    (held,) = tracker.values((), ())
    assert held == parsed({"root": value})
    assert tracker.path == ()


@given(st.lists(st.integers(0, 99), max_size=8), st.integers(1, 7))
def test_an_assertion_is_checked_once_for_each_value_in_every_cut(numbers: list[int], width: int) -> None:
    seen: list[bytes] = []

    def evaluate(name: str, data: bytes) -> tuple[Outcome, float]:
        seen.append(data)
        return (Value("true") if len(data) % 2 else Failure(ErrorCode.DOMAIN, "no")), 0.0

    template = parse_template("{0/n}", "module", "")
    tracker = Tracking(((("rows", None, "n"), Assertion("e", template, 2, False)),)).start()
    text = json.dumps({"rows": [{"n": number} for number in numbers]}).encode()
    found = []
    for start in range(0, len(text), width):
        found += tracker.read(text[start : start + width], lambda: Written({}, evaluate, tracker)).events
    assert seen == [f"({number})".encode() for number in numbers]
    assert [e.span for e in found if isinstance(e, AssertionFailed)] == [
        f"/rows/{index}/n" for index, number in enumerate(numbers) if number > 9
    ]
