"""A refusal that a schema names is a typed event at its place; no phrase is guessed, and no mark is overlooked."""

import json
from typing import Any

import pytest
from json_support import bind, fields, play_json
from support import finished

from evalspan.orchestrator import Event, GrammarError, Refused
from evalspan.policies import Registry

MARK = {"x-evalspan-refusal": True}
REFUSAL = {"type": "string", **MARK}
SORRY = "I'm sorry, I cannot…"


def refused(events: list[Event]) -> list[tuple[str, str]]:
    return [(event.span, event.text) for event in events if isinstance(event, Refused)]


def written(schema: dict[str, Any], value: Any, **options: Any) -> list[tuple[str, str]]:
    """The refusals in a document that a model writes under a schema, which it must be able to."""
    text = json.dumps(value, ensure_ascii=False)
    events = play_json(schema, text, **options)
    assert (finished(events).text, finished(events).reason) == (text, "eos")
    return refused(events)


BRANCHES = {
    "anyOf": [
        fields(answer={"type": "string"}) | {"additionalProperties": False},
        fields(refusal=REFUSAL) | {"additionalProperties": False},
    ]
}


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (fields(refusal=REFUSAL, n={"type": "integer"}), {"refusal": SORRY, "n": 1}, [("/refusal", SORRY)]),
        (fields(answer={"type": "string"}), {"answer": SORRY}, []),
        (BRANCHES, {"refusal": SORRY}, [("/refusal", SORRY)]),
        (BRANCHES, {"answer": SORRY}, []),
        (fields(r={"type": ["string", "null"], **MARK}), {"r": None}, []),
        (fields(r=REFUSAL), {"r": ""}, []),
        (fields(r=REFUSAL), {"r": 'say "no"\n'}, [("/r", 'say "no"\n')]),
        (fields(r={"type": "boolean", **MARK}), {"r": False}, []),
        (fields(r={"type": "boolean", **MARK}), {"r": True}, [("/r", "true")]),
        (fields(r={"anyOf": [{"type": "string"}, {"type": "null"}], **MARK}), {"r": "no"}, [("/r", "no")]),
        (fields(r={"enum": ["unsafe", "unknown", None], **MARK}), {"r": "unknown"}, [("/r", "unknown")]),
        (
            fields(list={"type": "array", "items": fields(refusal=REFUSAL)}),
            {"list": [{"refusal": ""}, {"refusal": "b"}, {"refusal": "c"}]},
            [("/list/1/refusal", "b"), ("/list/2/refusal", "c")],
        ),
        (
            {**fields(a={"$ref": "#/$defs/r"}, b={"$ref": "#/$defs/r"}), "$defs": {"r": REFUSAL}},
            {"a": "x", "b": "y"},
            [("/a", "x"), ("/b", "y")],
        ),
    ],
)
@pytest.mark.parametrize("mode", ["grammar-eval", "grammar-no-eval"])
def test_a_value_at_a_marked_place_is_a_refusal(
    schema: dict[str, Any], value: Any, expected: list[tuple[str, str]], mode: str
) -> None:
    assert written(schema, value, mode=mode) == expected


CONSTANT = fields(answer={"anyOf": [{"type": "string"}, {"const": "REFUSED", **MARK}, {"type": "integer"}]})


@pytest.mark.parametrize(
    ("value", "expected"),
    [("REFUSED", [("/answer", "REFUSED")]), ("refused", []), ("REFUSED.", []), (12, [])],
)
def test_a_marked_constant_is_a_refusal_and_its_neighbours_are_not(value: Any, expected: list[Any]) -> None:
    assert written(CONSTANT, {"answer": value}) == expected


def test_a_refusal_stands_beside_bound_fields() -> None:
    schema = fields(refusal=REFUSAL, expression={"type": "string"}, answer={"type": "integer"})
    schema["properties"]["answer"]["x-evalspan"] = bind(input="/expression")
    events = play_json(schema, '{"refusal": "no", "expression": "1+1", "answer":}')
    assert finished(events).text == '{"refusal": "no", "expression": "1+1", "answer": 2}'
    assert refused(events) == [("/refusal", "no")]


def test_the_event_comes_when_the_value_is_complete() -> None:
    events = play_json(fields(r=REFUSAL, more={"type": "string"}), '{"r": "no", "more": "and so on"}')
    at = next(index for index, event in enumerate(events) if isinstance(event, Refused))
    before = "".join(event.text for event in events[:at] if event.event == "text")
    assert before in ('{"r": "no"', '{"r": "no",')


NODE = {**fields(next={"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}, r=REFUSAL)}


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        (fields(r={"type": "string", "x-evalspan-refusal": "yes"}), "/properties/r/x-evalspan-refusal: must be true"),
        (REFUSAL, "/x-evalspan-refusal: nothing holds this value"),
        (fields(r=MARK), "/properties/r/x-evalspan-refusal: .*say so with type"),
        (fields(r={"type": "object", **MARK}), "say so with type"),
        (fields(r={"anyOf": [REFUSAL, {"type": "integer"}]}), "/properties/r/anyOf/0/.*const or enum"),
        (fields(r={"anyOf": [{"const": 0, **MARK}, {"type": "integer"}]}), "without numbers"),
        (
            {"anyOf": [fields(r=REFUSAL), fields(r={"type": "string"}, s={"type": "string"})]},
            "/anyOf/0/properties/r/.*/anyOf/1/properties/r has the same place",
        ),
        ({"type": "object", "additionalProperties": REFUSAL}, "/additionalProperties/.*: a refusal stands in"),
        (fields(r={"allOf": [REFUSAL]}), "/allOf/0/"),
        (fields(r={"type": "array", "prefixItems": [REFUSAL]}), "/prefixItems/0/"),
        ({**fields(a={"type": "string"}), "$defs": {"r": REFUSAL}}, r"/\$defs/r/.*some value uses it"),
        ({**fields(n={"$ref": "#/$defs/node"}), "$defs": {"node": NODE}}, "contains itself"),
        (fields(a=REFUSAL, b={"$ref": "#/properties/a"}), r"/properties/b/\$ref: beside refusals"),
        (fields(a={"type": "string"}, b={**REFUSAL, "x-evalspan": bind(input="/a")}), "a bound field cannot be one"),
    ],
)
def test_a_mark_that_could_be_overlooked_is_refused(schema: dict[str, Any], where: str) -> None:
    with pytest.raises(GrammarError, match=where):
        play_json(schema, "{}")


def test_refusals_are_counted() -> None:
    from evalspan.backends.scripted import ScriptedBackend
    from evalspan.orchestrator import Driver, JsonSchema

    with Driver(ScriptedBackend.replay(list('{"r": "no"}')), Registry.load()) as driver:
        driver.generate("go", grammar=JsonSchema(fields(r=REFUSAL)))
        assert driver.counters.refusals == 1
        assert "evalspan_refusals_total 1" in driver.counters.prometheus().splitlines()
