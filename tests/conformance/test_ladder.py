"""The validity ladder: each rung by itself, rates over all inputs, and files that are malformed."""

import json
import socket
import time
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from evalspan.conformance.cli import conformance
from evalspan.conformance.ladder import Climb, Ladder, LadderError, Line, read_lines, report
from evalspan.conformance.ladder.calendar_dates import as_date, dates_in
from evalspan.conformance.ladder.grounding import Source, normalized
from evalspan.conformance.ladder.numerals import numbers_in
from evalspan.conformance.ladder.records import ABSENT
from evalspan.conformance.ladder.validation import SchemaCheck
from evalspan.conformance.ladder.values import NotJson, equal, read_json, read_output
from evalspan.evaluators import Evaluators
from evalspan.policies import Registry

INVOICE = {
    "type": "object",
    "required": ["lines", "total"],
    "properties": {
        "lines": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["qty", "price", "amount"],
                "properties": {
                    "qty": {"type": "integer"},
                    "price": {"type": "number"},
                    "amount": {
                        "type": ["number", "null"],
                        "x-evalspan": {"evaluator": "arithmetic", "template": "{0/qty} * {0/price}"},
                    },
                },
            },
        },
        "total": {"type": "number", "x-evalspan": {"evaluator": "arithmetic", "template": "sum({/lines/*/amount})"}},
    },
}
STAY = {
    "type": "object",
    "required": ["from", "to"],
    "properties": {"from": {"type": "string", "format": "date"}, "to": {"type": "string", "format": "date"}},
    "x-evalspan-assert": {"evaluator": "dates", "template": "{0/from} < {0/to}"},
}
EXPRESSION = {
    "type": "object",
    "required": ["expression", "answer"],
    "properties": {
        "expression": {"type": "string"},
        "answer": {"type": ["number", "null"], "x-evalspan": {"evaluator": "arithmetic", "input": "/expression"}},
    },
}


@pytest.fixture(scope="module")
def ladder() -> Iterator[Ladder]:
    with Evaluators(Registry.load(), runtime="in_process") as evaluators:
        yield Ladder(evaluators)


def climb(ladder: Ladder, output: Any, **fields: Any) -> Climb:
    text = output if isinstance(output, str) else json.dumps(output)
    return next(ladder.climb([Line(1, "x", text, **fields)]))


@pytest.mark.parametrize(
    "text", ["", "{", "[1,]", '{"a": 1} x', "NaN", "[Infinity]", '{"a": 1, "a": 2}', "[" * 100_000]
)
def test_what_is_no_json_fails_the_first_rung(ladder: Ladder, text: str) -> None:
    found = climb(ladder, text, schema=True, label=1)
    assert (found.failed, found.asked) == ("parses", ("parses", "schema holds", "correct"))
    assert found.reason
    assert not any(found.passes(rung) for rung in found.asked)


def test_a_line_without_schema_source_and_label_is_asked_one_thing(ladder: Ladder) -> None:
    found = climb(ladder, [1])
    assert (found.asked, found.failed) == (("parses",), None)


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer"}, ["1", "2.0", "1e2", "-0"], ["1.5", '"1"', "true"]),
        ({"type": "number", "multipleOf": 0.1}, ["0.3", "1", "1e30", "1e400", "0"], ["0.35", "1e-400", "1e-999999999"]),
        ({"multipleOf": 7}, ["14", "7e50", "1e0000", "0.0"][:2], ["1e999999999", "3.5", "8"]),
        ({"minimum": 0.1}, ["0.1", "1e999999999"], ["0.09999999999999999999999999"]),
        ({"enum": [1, "a", None]}, ["1.0", '"a"', "null"], ["true", "2"]),
        ({"type": "string", "pattern": "^(a+)+$"}, ['"aaa"'], ['"' + "a" * 40 + '!"']),
        ({"type": "string", "pattern": "b"}, ['"abc"'], ['"ac"']),
        ({"format": "date"}, ['"2024-02-29"', "7"], ['"2023-02-29"', '"2024-2-9"']),
        ({"format": "date-time"}, ['"2024-02-29T10:00:00Z"'], ['"2024-02-29"']),
        ({"format": "uuid"}, ['"123e4567-e89b-12d3-a456-426614174000"'], ['"123e4567"']),
        (
            {"patternProperties": {"^(x+)+$": {"type": "integer"}}, "additionalProperties": False},
            ['{"xx": 1}', "{}"],
            ['{"xx": "1"}', '{"y": 1}', '{"' + "x" * 40 + '!": 1}'],
        ),
        ({"properties": {"a": True}, "additionalProperties": {"type": "null"}}, ['{"a": 1, "b": null}'], ['{"b": 1}']),
        ({"not": {"type": "string"}, "if": {"minimum": 5}, "then": {"multipleOf": 2}}, ["6", "3"], ['"x"', "7"]),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"maxItems": 1}}}, ["[1]"], ["[1, 2]"]),
        (False, [], ["1"]),
    ],
)
def test_schemas_hold_by_the_draft_and_exactly(schema: Any, good: list[str], bad: list[str]) -> None:
    start = time.perf_counter()
    check = SchemaCheck(read_json(json.dumps(schema)))
    assert [text for text in good if check.fault(read_output(text)) is not None] == []
    assert [text for text in bad if check.fault(read_output(text)) is None] == []
    assert time.perf_counter() - start < 5  # no pattern backtracks, no exponent is written out


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "text"}, "the schema is none"),
        ({"format": "postcode"}, "the format 'postcode' is not checked"),
        ({"pattern": "(?=a)"}, "cannot be matched in linear time"),
        ({"properties": {"a": {"patternProperties": {"(a": {}}}}}, "linear time"),
        ({"unevaluatedProperties": False, "patternProperties": {"a": {}}}, "unevaluatedProperties"),
    ],
)
def test_a_schema_that_cannot_be_checked_is_an_error_with_its_line(ladder: Ladder, schema: Any, message: str) -> None:
    with pytest.raises(LadderError, match=message) as caught:
        climb(ladder, 1, schema=schema)
    assert caught.value.line == 1


def test_a_reference_never_leads_to_the_network(ladder: Ladder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socket", None)
    with pytest.raises(LadderError, match="leads nowhere"):
        climb(ladder, 1, schema={"$ref": "http://localhost:1/schema.json"})


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ('{"lines": [{"qty": 3, "price": 45.50, "amount": 136.5}], "total": 136.50}', None),
        ('{"lines": [{"qty": 3, "price": 0.1, "amount": 0.3}], "total": 0.3}', None),
        ('{"lines": [], "total": 0}', None),
        ('{"lines": [{"qty": 3, "price": 1e1, "amount": 31}], "total": 31}', "/lines/0/amount: is 31, should be 30"),
        ('{"lines": [{"qty": 2, "price": 3, "amount": 6}], "total": 7}', "/total: is 7, should be 6"),
        ('{"lines": [{"qty": 2, "price": 3, "amount": null}], "total": 6}', "/lines/0/amount: is null, should be 6"),
    ],
)
def test_bound_values_are_evaluated_again(ladder: Ladder, output: str, reason: str | None) -> None:
    found = climb(ladder, output, schema=INVOICE)
    assert found.reason == reason
    assert found.failed == (None if reason is None else "consistent")


def test_a_value_that_fails_is_null_and_nothing_else(ladder: Ladder) -> None:
    assert climb(ladder, {"expression": "1/0", "answer": None}, schema=EXPRESSION).failed is None
    found = climb(ladder, {"expression": "1/0", "answer": 1}, schema=EXPRESSION)
    assert found.reason == "/answer: is 1, should be null"
    strict = {**EXPRESSION, "properties": {**EXPRESSION["properties"]}}  # type: ignore[dict-item]
    strict["properties"]["answer"] = {**strict["properties"]["answer"], "type": "number"}  # type: ignore[index]
    assert "no value that may stand here" in str(
        climb(ladder, {"expression": "1/0", "answer": 1}, schema=strict).reason
    )


def test_assertions_are_evaluated_again(ladder: Ladder) -> None:
    assert climb(ladder, {"from": "2024-01-31", "to": "2024-02-01"}, schema=STAY).failed is None
    found = climb(ladder, {"from": "2024-02-01", "to": "2024-01-31"}, schema=STAY)
    assert (found.failed, found.reason) == ("consistent", "/to: an assertion answers 'false'")


def test_the_sandbox_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalspan.evaluators.sandbox.WasmRuntime.bind", None)
    with Evaluators(Registry.load(), runtime="in_process") as evaluators:
        assert climb(Ladder(evaluators), {"expression": "6*7", "answer": 42}, schema=EXPRESSION).failed is None


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,234.50", {"1234.5"}),
        ("1.234,50", {"1234.5"}),
        ("1 234,5", {"1234.5", "1", "234.5"}),
        ("1'234'567.8", {"1234567.8"}),
        ("1.234", {"1.234", "1234"}),
        ("12,34", {"12.34"}),
        ("1,2,3", {"1", "2", "3"}),
        ("10.0.0.1", {"10", "0", "1"}),
        ("between -5 and 10-20", {"-5", "10", "20"}),
        ("\N{MINUS SIGN}7 or 7.", {"-7", "7"}),
        ("1e3 1.5E-2 5east", {"1000", "0.015", "5"}),
        ("3kg, a4, 50%", {"3", "4", "50"}),
        ("1e99999999999999999999", set()),
    ],
)
def test_numbers_are_found_by_value(text: str, values: set[str]) -> None:
    assert numbers_in(normalized(text)) >= {Decimal(value) for value in values}
    assert numbers_in(normalized(text)) == {Decimal(value) for value in values}


@given(st.integers(-(10**12), 10**12), st.integers(0, 99))
def test_a_number_is_found_however_it_is_grouped(whole: int, cents: int) -> None:
    value = Decimal(f"{whole}.{cents:02}")
    english = f"{value:,}"
    german = english.translate({ord(","): ".", ord("."): ","})
    for spelling in (str(value), english, german, english.replace(",", "\N{NARROW NO-BREAK SPACE}")):
        assert value in numbers_in(normalized(f"It was {spelling} in all"))


@given(st.text(max_size=60))
def test_any_text_can_be_searched(text: str) -> None:
    numbers_in(normalized(text))
    dates_in(normalized(text))
    as_date(normalized(text))


@pytest.mark.parametrize(
    "text",
    [
        *("2024-01-31", "31.01.2024", "31 January 2024", "January 31st, 2024", "31 Jan. 2024", "on 31/1/2024."),
        *("1/31/2024", "2024/01/31", "the 31st January, 2024", "31-Jan-2024"),
    ],
)
def test_dates_are_found_by_day(text: str) -> None:
    assert date(2024, 1, 31) in dates_in(normalized(text))


@pytest.mark.parametrize("text", ["2024-02-31", "1.2.3", "31 and 1 or 2024", "Ja 31 2024", "20240131"])
def test_what_is_no_date_is_none(text: str) -> None:
    assert not dates_in(normalized(text))


def test_a_date_with_two_readings_has_both() -> None:
    assert dates_in("01/02/2024") == {date(2024, 1, 2), date(2024, 2, 1)}
    assert as_date("01/02/2024") is None
    assert as_date("2024-02-01") == date(2024, 2, 1)


SOURCE = "ACME  Ltd. sold 1,250 Ｃhairs on 31 January 2024 for €45,50 each to the Straße party."


@pytest.mark.parametrize(
    ("value", "missing"),
    [
        ({"who": "Acme Ltd.", "n": 1250, "what": "chairs"}, None),
        ({"when": "2024-01-31", "price": 45.5}, None),
        ({"price": "45.50", "street": "STRASSE"}, None),
        ({"paid": True, "note": None, "more": ""}, None),
        ({"n": 1251}, "/n"),
        ({"n": -1250}, "/n"),
        ({"when": "2024-01-30"}, "/when"),
        ({"rows": [{"what": "chairs"}, {"what": "art"}]}, "/rows/1/what"),
        ({"who": "Acme Inc."}, "/who"),
    ],
)
def test_values_are_found_in_the_source_normalized(value: Any, missing: str | None) -> None:
    assert Source(SOURCE).missing(read_output(json.dumps(value)), frozenset(), frozenset()) == missing


def test_computed_values_are_not_looked_for_and_expressions_by_their_numbers(ladder: Ladder) -> None:
    source = "17 rows of 23, then 91 more"
    assert climb(ladder, {"expression": "17 * 23 + 91", "answer": 482}, schema=EXPRESSION, source=source).failed is None
    found = climb(ladder, {"expression": "17 * 24 + 91", "answer": 499}, schema=EXPRESSION, source=source)
    assert (found.failed, found.reason) == ("grounded", "/expression: is not found in the source")


@pytest.mark.parametrize(
    ("value", "label", "same"),
    [
        *[("482.0", "482", True), ("1e2", "100", True), ("true", "1", False), ("1", "true", False)],
        *[('"a"', '"A"', False), ("null", "null", True), ("0", "null", False), ("[1, 2]", "[1]", False)],
        *[('{"a": 1, "b": 2}', '{"a": 1}', True), ('{"a": 1}', '{"a": 1, "b": 2}', False), ('"1"', "1", False)],
    ],
)
def test_a_label_names_the_fields_that_count(value: str, label: str, same: bool) -> None:
    assert equal(read_output(value), read_json(label)) is same


def test_a_label_may_be_null(ladder: Ladder) -> None:
    assert climb(ladder, None, label=None).asked == ("parses", "correct")
    assert climb(ladder, 1, label=None).failed == "correct"
    assert climb(ladder, 1, label=ABSENT).asked == ("parses",)


def climbs(*failed: tuple[int, Any]) -> list[Climb]:
    every = ("parses", "schema holds", "consistent", "grounded", "correct")
    return [Climb(f"{rung}{n}", n, every, rung, "why") for count, rung in failed for n in range(count)]  # type: ignore[arg-type]


def test_who_fails_below_fails_above_and_rates_are_over_all_inputs() -> None:
    found = report(climbs((10, "parses"), (10, "consistent"), (80, None)))
    assert [rung.passed for rung in found.rungs] == [90, 90, 80, 80, 80]
    assert [rung.failed for rung in found.rungs] == [10, 10, 20, 20, 20]
    assert [rung.rate for rung in found.rungs] == [0.9, 0.9, 0.8, 0.8, 0.8]
    assert all(rung.inputs == 100 for rung in found.rungs)


def test_what_was_not_asked_is_counted_apart() -> None:
    some = [Climb("a", 1, ("parses", "correct"), None, None), Climb("b", 2, ("parses",), "parses", "why")]
    rungs = {rung.rung: rung for rung in report(some).rungs}
    assert (rungs["correct"].passed, rungs["correct"].failed, rungs["correct"].not_asked) == (1, 0, 1)
    assert (rungs["correct"].rate, rungs["correct"].of_all) == (1.0, 0.5)
    assert (rungs["grounded"].rate, rungs["grounded"].low, rungs["grounded"].not_asked) == (None, None, 2)


def test_intervals_are_those_of_the_binomial_and_repeat_with_their_seed() -> None:
    rung = report(climbs((40, "parses"), (60, None)), seed=1).rungs[0]
    # For a rate of 0.6 over 100 inputs the exact quantiles of the binomial are 0.50 and 0.69 (or 0.70).
    assert rung.low == pytest.approx(0.50, abs=0.011)
    assert rung.high == pytest.approx(0.695, abs=0.011)
    assert report(climbs((40, "parses"), (60, None)), seed=1).rungs[0] == rung
    assert report(climbs((5, None))).rungs[0].low == 1.0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "is no JSON"),
        ("[1]", "must be an object"),
        ('{"id": "a"}', '"output" must be there'),
        ('{"id": 1, "output": ""}', '"id" must be there'),
        ('{"id": "a", "output": {}}', '"output" must be there and a string'),
        ('{"id": "a", "output": "", "lable": 1}', "the unknown key 'lable'"),
        ('{"id": "a", "output": "", "source": 1}', '"source" must be a string'),
        ('{"id": "a", "output": "", "schema": "x"}', '"schema" must be'),
        ('{"id": "first", "output": ""}', "is that of line 1 too"),
        ('{"id": "a", "id": "b", "output": ""}', "there twice"),
        ('{"id": "a", "output": "", "label": NaN}', "no number"),
    ],
)
def test_a_malformed_line_is_one_error_that_names_it(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "outputs.jsonl"
    file.write_text('{"id": "first", "output": "1"}\n\n' + line + "\n")
    with pytest.raises(LadderError) as caught:
        read_lines(file)
    assert caught.value.line == 3
    assert str(caught.value).startswith("line 3: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_and_files_without_lines_are_errors(tmp_path: Path) -> None:
    file = tmp_path / "outputs.jsonl"
    file.write_bytes(b'{"id": "a", "output": "\xff"}\n')
    with pytest.raises(LadderError, match="line 1: is no UTF-8"):
        read_lines(file)
    file.write_bytes(b"\n \n")
    with pytest.raises(LadderError, match="holds no lines"):
        read_lines(file)
    with pytest.raises(LadderError, match="cannot be read"):
        read_lines(tmp_path)


def test_the_command_prints_rates_and_writes_json(tmp_path: Path) -> None:
    file, schema, out = tmp_path / "outputs.jsonl", tmp_path / "schema.json", tmp_path / "report.json"
    lines = [
        {"id": "a", "output": '{"expression": "6*7", "answer": 42}', "label": {"answer": 42}},
        {"id": "b", "output": '{"expression": "6*7", "answer": 43}', "label": {"answer": 42}},
        {"id": "c", "output": "no"},
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    schema.write_text(json.dumps(EXPRESSION))
    arguments = ["ladder", str(file), "--schema", str(schema), "--json", str(out), "--resamples", "500"]
    result = CliRunner().invoke(conformance, arguments, standalone_mode=False)
    assert result.return_value == 0, result.output
    assert "3 inputs; 95% percentile bootstrap over inputs, 500 resamples, seed 0" in result.output
    found = json.loads(out.read_text())
    assert [rung["passed"] for rung in found["rungs"]] == [2, 2, 1, 0, 1]
    assert [rung["not_asked"] for rung in found["rungs"]] == [0, 0, 0, 3, 1]
    assert [failure["id"] for failure in found["failures"]] == ["b", "c"]
    result = CliRunner().invoke(conformance, ["ladder", str(file), "--json", "-"], standalone_mode=False)
    assert json.loads(result.output)["bootstrap"] == {"resamples": 10_000, "level": 0.95, "seed": 0}
    result = CliRunner().invoke(conformance, ["ladder", str(file), "--json", str(tmp_path / "no" / "x")])
    assert result.exit_code == 2
    assert "cannot be written" in result.output


def test_not_json_says_why() -> None:
    with pytest.raises(NotJson, match="nested too deep"):
        read_output("[" * 100_000)
    with pytest.raises(NotJson, match="out of range"):
        read_output("1e99999999999999999999")
