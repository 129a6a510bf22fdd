"""Bound values: whatever a model writes, a value that is bound equals its inputs, recomputed here with Python alone."""

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from engine_support import each_engine, pytest_generate_tests  # noqa: F401  all runs with each engine
from hypothesis import given, settings
from hypothesis import strategies as st
from json_support import bind, fields, play_json
from support import finished, kinds

from evalspan.backends.scripted import ScriptedBackend
from evalspan.evaluators import Evaluators, Failure, RuntimeName, Value
from evalspan.orchestrator import Driver, Evaluated, Event, Failed, GrammarError, Injected, SamplingParams
from evalspan.orchestrator.grammar import Marks
from evalspan.orchestrator.json import JsonSchema
from evalspan.policies import ErrorCode, Registry

REGISTRY = Registry.load()


def answer(**field: Any) -> dict[str, Any]:
    """A schema of an expression and its bound value."""
    properties = {"expression": {"type": "string"}, "answer": {"x-evalspan": bind(input="/expression"), **field}}
    return {"type": "object", "properties": properties, "required": list(properties)}


LINE = {
    "type": "object",
    "properties": {
        "qty": {"type": "integer"},
        "unit_price": {"type": "number"},
        "amount": {"type": ["number", "null"], "x-evalspan": bind(template="{0/qty} * {0/unit_price}")},
        "note": {"type": "string", "maxLength": 3},
    },
    "required": ["qty", "unit_price", "amount"],
}
INVOICE = {
    "type": "object",
    "properties": {
        "currency": {"enum": ["EUR", "USD"]},
        "expression": {"type": "string", "pattern": "^[1-9][0-9]?( [-+*] [1-9][0-9]?){0,2}$"},
        "answer": {"type": "integer", "x-evalspan": bind(input="/expression")},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}, "maxItems": 4},
        "totals": {
            "type": "object",
            "properties": {
                "total": {"type": ["number", "null"], "x-evalspan": bind(template="sum({/lines/*/amount})")},
                "twice": {"type": ["number", "null"], "x-evalspan": bind(template="2 * {0/total}")},
            },
            "required": ["total", "twice"],
        },
    },
    "required": ["expression", "answer", "lines", "totals"],
    "$defs": {"line": LINE},
}

AWKWARD = [
    *(
        b'{"',
        b'": ',
        b'":',
        b', "',
        b'", "',
        b'"}',
        b"}, {",
        b"}]",
        b"[{",
        b"]}",
        b"[]",
        b'], "',
        b' "',
        b": 1",
        b": [",
        b"{}",
    ),
    *(
        b"1,",
        b"0}",
        b"12",
        b" 2",
        b"-1",
        b"e1",
        b".5",
        b"1.25",
        b"qty",
        b"unit_price",
        b'amount":',
        b'amount": 7',
        b"total",
    ),
    *(
        b'expression": "',
        b" + ",
        b" * 2",
        b'1"',
        b'", "answer":',
        b'answer": 4',
        "é".encode(),
        b"\\n",
        b"null",
        b"</result>",
    ),
]
VOCABULARIES: dict[str, list[bytes]] = {"bytes": [], "awkward": AWKWARD}


@pytest.fixture(scope="module", params=sorted(VOCABULARIES))
def driver(request: pytest.FixtureRequest) -> Iterator[Driver]:
    """A model without a preference, over each vocabulary: it draws from what the mask allows."""
    indifferent: list[dict[str, float]] = [{} for _ in range(4000)]
    backend = ScriptedBackend.replay(indifferent, vocabulary=VOCABULARIES[request.param], context_tokens=4000)
    with Driver(backend, REGISTRY) as opened:
        yield opened


def exact(number: str) -> Fraction | None:
    """The number as a fraction; None where that has more than the evaluator's 1,024 digits."""
    mantissa, _, exponent = number.lower().partition("e")
    digits = exponent.lstrip("+-").lstrip("0")
    if not mantissa.strip("-.0"):
        return Fraction(0)
    return None if len(digits) > 4 else Fraction(number)


def document(events: list[Event]) -> Any:
    """The document that was written; numbers as exact fractions."""
    return json.loads(finished(events).text, parse_int=Fraction, parse_float=exact)


def value_of(expression: str) -> Fraction:
    """A sum of products, read by splitting."""
    total, sign, product = Fraction(0), 1, Fraction(1)
    words = expression.split(" ")
    product = Fraction(words[0])
    for operator, number in zip(words[1::2], words[2::2], strict=True):
        if operator == "*":
            product *= Fraction(number)
        else:
            total += sign * product
            sign, product = (1 if operator == "+" else -1), Fraction(number)
    return total + sign * product


def agrees(events: list[Event], pointer: str, value: Fraction | None, expected: Fraction | None) -> None:
    """Whether a bound value is what it must be: exactly, or to the evaluator's 15 digits where it says it rounded."""
    if value is None:
        assert any(isinstance(event, Failed) and event.span == pointer for event in events), pointer
        return
    (found,) = [event for event in events if isinstance(event, Evaluated) and event.span == pointer]
    assert expected is not None, pointer
    if found.exact:
        assert value == expected, pointer
    else:
        assert abs(value - expected) <= abs(expected) * Fraction(1, 10**14), pointer


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_every_bound_value_of_a_random_stream_is_right(driver: Driver, seed: int) -> None:
    sampling = SamplingParams(temperature=1.0, seed=seed)
    events = list(driver.stream("go", grammar=JsonSchema(INVOICE), max_tokens=1500, sampling=sampling))
    if finished(events).reason in ("length", "over_budget"):  # incomplete, never repaired
        with pytest.raises(ValueError):
            json.loads(finished(events).text)
        return
    assert finished(events).reason == "eos"
    read = document(events)
    assert list(read) == [name for name in INVOICE["properties"] if name in read]
    assert read["answer"] == value_of(read["expression"])
    amounts = []
    for index, line in enumerate(read["lines"]):
        price = line["unit_price"]
        agrees(events, f"/lines/{index}/amount", line["amount"], None if price is None else line["qty"] * price)
        amounts.append(line["amount"])
    total = None if None in amounts else sum(amounts, Fraction(0))
    agrees(events, "/totals/total", read["totals"]["total"], total)
    agrees(events, "/totals/twice", read["totals"]["twice"], None if total is None else 2 * read["totals"]["total"])
    bound = [event for event in events if isinstance(event, Injected)]
    assert [event.kind for event in bound] == ["bound"] * (3 + len(amounts))


def test_the_value_of_an_expression_is_forced_with_its_space() -> None:
    events = play_json(answer(type="integer"), '{"expression": "17 * 23 + 91", "answer":}')
    assert finished(events).text == '{"expression": "17 * 23 + 91", "answer": 482}'
    assert kinds(events) == ["evaluated", "injected", "finished"]
    (block,) = [event for event in events if isinstance(event, Injected)]
    assert (block.span, block.kind, block.text) == ("/answer", "bound", " 482")
    assert finished(events).forced_tokens == 4


def test_the_model_cannot_write_or_lengthen_a_bound_value() -> None:
    events = play_json(answer(type="integer"), '{"expression": "1+1", "answer": 999}')
    assert finished(events).text == '{"expression": "1+1", "answer": 2}'


def test_without_evaluation_the_model_writes_bound_values_under_their_type() -> None:
    schema = answer(type="integer", maximum=99)
    events = play_json(schema, '{"expression": "1+1", "answer": 7}', mode="grammar-no-eval")
    assert finished(events).text == '{"expression": "1+1", "answer": 7}'
    assert kinds(events) == ["finished"]


@pytest.mark.parametrize(
    ("field", "expression", "value"),
    [
        ({"type": "number"}, "1/4", "0.25"),
        ({"type": "integer", "const": 482.0}, "17*23+91", "482"),
        ({"type": "number", "const": 482}, "482.0", "482"),
        ({"type": "number", "enum": [1, 0.5]}, "1/2", "0.5"),
        ({"type": "integer", "minimum": 2, "maximum": 2}, "1+1", "2"),
        ({"type": "number", "multipleOf": 0.1}, "0.3", "0.3"),
        ({"type": "string", "maxLength": 3}, "-12", '"-12"'),
        ({"type": "integer"}, "10**30", "1" + "0" * 30),
    ],
)
def test_a_value_is_written_in_one_canonical_form(field: dict[str, Any], expression: str, value: str) -> None:
    events = play_json(answer(**field), f'{{"expression": "{expression}", "answer":}}')
    assert finished(events).text == f'{{"expression": "{expression}", "answer": {value}}}'


@pytest.mark.parametrize(
    ("field", "expression", "message"),
    [
        ({"type": "integer"}, "1/4", "not an integer"),
        ({"type": "integer", "const": 483}, "482", "not in const"),
        ({"type": "number", "enum": [1, True]}, "2", "not in enum"),
        ({"type": "integer", "minimum": 3}, "2", "minimum 3"),
        ({"type": "integer", "exclusiveMaximum": 2}, "2", "exclusiveMaximum 2"),
        ({"type": "number", "multipleOf": 0.1}, "0.35", "multipleOf 0.1"),
        ({"type": "string", "maxLength": 2}, "123", "maxLength"),
        ({"type": "string", "pattern": "^x"}, "123", "pattern"),
        ({"type": "boolean"}, "1", "true or false"),
        # Exact where binary floating point is not: 2**53 and 2**53 + 1 are the same double.
        ({"type": "integer", "maximum": 9007199254740992}, "9007199254740993", "maximum"),
    ],
)
def test_a_value_that_does_not_fit_its_schema_is_a_typed_failure(
    field: dict[str, Any], expression: str, message: str
) -> None:
    events = play_json(answer(**field), f'{{"expression": "{expression}", "answer":}}')
    assert kinds(events) == ["error", "finished"]
    (failed,) = [event for event in events if isinstance(event, Failed)]
    assert (failed.span, failed.code) == ("/answer", ErrorCode.REFUSED)
    assert message in failed.message
    assert finished(events).reason == "evaluation_error"
    assert finished(events).text == f'{{"expression": "{expression}", "answer":'


@pytest.mark.parametrize(("expression", "code"), [("1/0", "division_by_zero"), ("1/", "syntax"), ("0.5", "refused")])
def test_an_error_is_null_where_the_schema_allows_it(expression: str, code: str) -> None:
    events = play_json(answer(type=["integer", "null"]), f'{{"expression": "{expression}", "answer":}}')
    assert kinds(events) == ["error", "injected", "finished"]
    assert next(event.code for event in events if isinstance(event, Failed)) == code
    assert finished(events).text.endswith('"answer": null}')


def test_an_error_is_no_null_where_an_enum_has_none() -> None:
    events = play_json(answer(type=["integer", "null"], enum=[1, 2]), '{"expression": "1/0", "answer":}')
    assert finished(events).reason == "evaluation_error"


def test_a_null_input_is_an_error_of_what_is_bound_to_it() -> None:
    schema = answer(type=["integer", "null"])
    schema["properties"]["twice"] = {"type": ["integer", "null"], "x-evalspan": bind(template="2 * {/answer}")}
    events = play_json(schema, '{"expression": "1/0", "answer":, "twice":}')
    assert [(e.span, e.code) for e in events if isinstance(e, Failed)] == [
        ("/answer", ErrorCode.DIVISION_BY_ZERO),
        ("/twice", ErrorCode.DOMAIN),
    ]


def test_bound_inputs_have_a_limit_of_their_own() -> None:
    expression = "+".join(["1"] * 5000)
    events = play_json(answer(type="integer"), f'{{"expression": "{expression}", "answer":}}')
    assert finished(events).text.endswith('"answer": 5000}')
    assert next(e for e in events if isinstance(e, Evaluated)).input == expression
    events = play_json(answer(type="integer"), f'{{"expression": "{expression * 2}", "answer":}}')
    assert [e.code for e in events if isinstance(e, Failed)] == [ErrorCode.TOO_LONG]


_RUNTIMES: tuple[RuntimeName, ...] = ("wasm", "in_process")


@pytest.mark.parametrize(("limits", "longest"), [("", 16_384), ("max_bound_input_bytes = 40", 40)])
def test_the_limit_on_bound_inputs_is_the_policys(limits: str, longest: int) -> None:
    text = f"version = 1\n[policy.default]\nmax_input_bytes = 20\n{limits}\n"
    text += '[[evaluator]]\nname = "a"\nbuiltin = "arithmetic/1"\n'
    for own, limit in (("", longest), ("policy = { max_input_bytes = 10 }", 10)):
        for runtime in _RUNTIMES:
            with Evaluators(Registry.parse(text + own), runtime=runtime) as evaluators:
                assert isinstance(evaluators.evaluate_bound("a", b" " * (limit - 1) + b"1"), Value)
                assert isinstance(evaluators.evaluate_bound("a", b" " * limit + b"1"), Failure)
                assert isinstance(evaluators.evaluate("a", b" " * 20 + b"1"), Failure)


def test_a_value_that_does_not_fit_the_token_limit_is_not_begun() -> None:
    script = '{"expression": "1+1", "answer":}'
    events = play_json(answer(type="integer"), script, max_tokens=len(script) - 1 + 1)
    assert finished(events).reason == "length"
    assert finished(events).text == script[:-1]


def test_an_incomplete_document_stays_incomplete() -> None:
    events = play_json({"type": "array", "items": {"type": "integer"}}, "[1, 2, 3]", max_tokens=5)
    assert (finished(events).text, finished(events).reason) == ("[1, 2", "length")


def test_spans_in_strings_are_text() -> None:
    events = play_json(answer(type="integer"), '{"expression": "<calc>1</calc>", "answer":}')
    assert kinds(events) == ["error", "finished"]
    assert finished(events).text == '{"expression": "<calc>1</calc>", "answer":'


# --- templates


@pytest.mark.parametrize(
    ("evaluator", "template", "values", "result"),
    [
        ("arithmetic", "{0/a} - {/b}", {"a": -3, "b": -4}, "1"),
        ("arithmetic", "{0/a}**2", {"a": -3, "b": 0}, "9"),
        ("strings", "count({0/a}, {0/b})", {"a": 'x"),"', "b": '"'}, "2"),
        ("strings", "len(repeat({0/a}, {0/b}))", {"a": "ab", "b": 3}, "6"),
        ("dates", "days_between({0/a}, {0/b})", {"a": "2024-01-01", "b": "2024-03-01"}, "60"),
        ("dates", "iso_weekday(add_days({0/a}, {0/b}))", {"a": "2024-01-01", "b": -1}, "7"),
        ("dates", "days_between({0/a}, next({0/a}, {0/b}))", {"a": "2024-03-08", "b": "Friday"}, "7"),
        ("checksums", "luhn_digit({0/a})", {"a": "7992739871", "b": ""}, "3"),
        ("strings", "len({{0/a}})", {"a": "", "b": ""}, None),
    ],
)
def test_values_stand_in_a_template_as_operands(
    evaluator: str, template: str, values: dict[str, Any], result: str | None
) -> None:
    types = {name: {"type": "string" if isinstance(value, str) else "integer"} for name, value in values.items()}
    if evaluator == "checksums":
        types["b"] = {"type": "string"}
    schema = fields(**types, c={"type": "integer", "x-evalspan": bind(evaluator, template=template)})
    text = json.dumps(values)[:-1]
    events = play_json(schema, text + ', "c":}')
    if result is None:
        assert finished(events).reason == "evaluation_error"
    else:
        assert finished(events).text == f'{text}, "c": {result}}}'


@pytest.mark.parametrize(
    "value", ["2024-01-31 + 1 month", "2024-01-01) - (2023-01-01", "-1 day", "today", "", "1 day 04:20"]
)
def test_a_string_that_is_more_than_one_value_is_a_syntax_error(value: str) -> None:
    schema = fields(a={"type": "string"}, c={"type": "string", "x-evalspan": bind("dates", template="{0/a} + 1 day")})
    events = play_json(schema, f'{{"a": "{value}", "c":}}')
    assert [e.code for e in events if isinstance(e, Failed)] == [ErrorCode.SYNTAX]


def test_the_sum_over_an_empty_array_is_0_and_its_maximum_an_error() -> None:
    items = {"type": "array", "items": {"type": "integer"}}
    for call, text in (("sum", "0"), ("max", None)):
        schema = fields(a=items, c={"type": "integer", "x-evalspan": bind(template=f"{call}({{/a/*}})")})
        events = play_json(schema, '{"a": [], "c":}')
        assert finished(events).reason == ("eos" if text else "evaluation_error")
        if text:
            assert finished(events).text == '{"a": [], "c": 0}'


def test_pointers_lead_up_through_arrays_and_into_items_that_must_be_there() -> None:
    item = fields(
        n={"type": "integer"}, m={"type": "integer", "x-evalspan": bind(template="{0/n} * {2/rate} + {/first/1}")}
    )
    schema = fields(
        rate={"type": "integer"},
        first={"type": "array", "items": {"type": "integer"}, "minItems": 2},
        rows={"type": "array", "items": item, "minItems": 2, "maxItems": 2},
    )
    script = '{"rate": 10, "first": [5, 7], "rows": [{"n": 1, "m":}, {"n": 2, "m":}]}'
    expected = '{"rate": 10, "first": [5, 7], "rows": [{"n": 1, "m": 17}, {"n": 2, "m": 27}]}'
    assert finished(play_json(schema, script)).text == expected


def test_names_are_compared_as_they_are_read() -> None:
    schema = fields(
        **{'a/~"é': {"type": "integer"}, "c": {"type": "integer", "x-evalspan": bind(template='{/a~1~0"é}')}}
    )
    events = play_json(schema, '{"a/~\\"é": 5, "c":}')
    assert finished(events).text == '{"a/~\\"é": 5, "c": 5}'


def test_optional_properties_may_be_left_out_and_nothing_else_is_written() -> None:
    schema = fields(a={"type": "integer"}, b={"type": "integer"}, c={"type": "integer", "x-evalspan": bind(input="/b")})
    schema["required"] = ["b"]
    assert finished(play_json(schema, '{"b": 5}')).text == '{"b": 5}'
    assert finished(play_json(schema, '{"b": 5, "c":}')).text == '{"b": 5, "c": 5}'
    assert finished(play_json(schema, '{"a": 1, "b": 5, "x": 3, "c":}')).text == '{"a": 1, "b": 5, "c": 5}'


BOUND = {"type": "integer", "x-evalspan": bind(input="/a")}
INTEGER = {"type": "integer"}


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        (fields(c=BOUND, a=INTEGER), "/properties/c/x-evalspan.*comes after"),
        ({**fields(a=INTEGER, c=BOUND), "required": ["c"]}, "/properties/a must be required"),
        (fields(a={"type": ["integer", "string"]}, c=BOUND), "one type"),
        (fields(a={}, c=BOUND), "one type"),
        (fields(a={"anyOf": [INTEGER]}, c=BOUND), "one type"),
        (fields(a=INTEGER, c={**BOUND, "type": ["integer", "string"]}), "a bound field has one type"),
        (fields(a=INTEGER, c={**BOUND, "anyOf": [INTEGER]}), "leads through anyOf"),
        (fields(a=INTEGER, c={"x-evalspan": bind(input="/b"), **INTEGER}), "has no property 'b'"),
        (fields(a=INTEGER, c={"x-evalspan": bind(input="/c"), **INTEGER}), "refers to what it stands in"),
        (fields(a=INTEGER, c={"x-evalspan": bind(input="a"), **INTEGER}), "no JSON pointer"),
        (fields(a=INTEGER, c={"x-evalspan": bind(input="2/a"), **INTEGER}), "there is nothing"),
        (fields(a=INTEGER, c={"x-evalspan": bind(template="{/a"), **INTEGER}), "not closed"),
        (fields(a=INTEGER, c={"x-evalspan": bind(template="/a}"), **INTEGER}), "not opened"),
        (fields(a=INTEGER, c={"x-evalspan": bind(), **INTEGER}), "exactly one of input and template"),
        (fields(a=INTEGER, c={"x-evalspan": bind(input="/a", x="y"), **INTEGER}), "'x' is unknown"),
        (fields(a=INTEGER, c={"x-evalspan": bind("arithmetik", input="/a"), **INTEGER}), "no evaluator"),
        (fields(a=INTEGER, c={"x-evalspan": bind("checksums", template="crc32({/a})"), **INTEGER}), "one type string"),
        (fields(a={"type": "string"}, c={"x-evalspan": bind(template="{/a}"), **INTEGER}), "the expression"),
        (fields(a={"type": "array", "items": INTEGER}, c={"x-evalspan": bind(input="/a/*"), **INTEGER}), "one value"),
        (fields(a={"type": "array", "items": INTEGER}, c={"x-evalspan": bind(input="/a/0"), **INTEGER}), "minItems"),
        (fields(a={"type": "array", "items": BOUND}), "only a property can be bound"),
        (
            fields(
                a={
                    "type": "array",
                    "items": fields(n=INTEGER, m={**INTEGER, "x-evalspan": bind(template="sum({/a/*/n})")}),
                }
            ),
            "holds the field",
        ),
        ({"anyOf": [fields(a=INTEGER, c=BOUND)]}, "schema at /anyOf/0/properties/c"),
        (fields(a=INTEGER, b={"$ref": "#/properties/a"}, c=BOUND), "references lead to"),
        ({**fields(a=INTEGER, c=BOUND), "additionalProperties": INTEGER}, "additionalProperties"),
        ({**fields(a=INTEGER, c=BOUND), "minProperties": 1}, "leads through minProperties"),
        (
            {"$ref": "#/$defs/t", "$defs": {"t": fields(a=INTEGER, c=BOUND, t={"$ref": "#/$defs/t"})}},
            "no property|contains itself",
        ),
        (BOUND, "only a property can be bound"),
    ],
)
def test_a_binding_that_could_fail_later_is_refused_with_its_place(schema: dict[str, Any], where: str) -> None:
    with pytest.raises(GrammarError, match=where):
        JsonSchema(schema).compile(REGISTRY, Marks(1000))
