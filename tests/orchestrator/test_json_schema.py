"""Schemas without bound values: what is enforced, what is refused, and the one form of the output."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from engine_support import each_engine, pytest_generate_tests  # noqa: F401  all runs with each engine
from hypothesis import given, settings
from hypothesis import strategies as st
from json_support import play_json
from support import finished

from evalspan.backends.scripted import EOS, ScriptedTokenizer
from evalspan.orchestrator import GrammarError, JsonSchema
from evalspan.orchestrator.json.engine import matches
from evalspan.orchestrator.json.keywords import ANNOTATIONS, ENFORCED, FORMATS, REFUSED, read_schema
from evalspan.orchestrator.json.patterns import MAX_COUNT, engine_pattern
from evalspan.orchestrator.matcher import CompiledGrammar, Vocabulary
from evalspan.policies import LinearPattern, Registry

REGISTRY = Registry.load()
PAGE = Path(__file__).parents[2] / "docs/json.md"


def accepts(schema: Any, text: str, **how: Any) -> bool:
    """Whether the compiled grammar lets a model write the text, byte by byte, and end."""
    vocabulary = Vocabulary(ScriptedTokenizer([]))
    matcher = CompiledGrammar(JsonSchema(schema, **how).compile(REGISTRY, vocabulary.marks), vocabulary).matcher()
    for byte in text.encode():
        if not matcher.mask()[byte]:
            return False
        matcher.consume(byte)
    return bool(matcher.mask()[EOS])


def refusal(schema: Any, **how: Any) -> str:
    with pytest.raises(GrammarError) as error:
        JsonSchema(schema, **how).compile(REGISTRY, None)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("keyword", sorted(REFUSED))
def test_a_keyword_that_cannot_be_enforced_is_refused_with_its_place(keyword: str) -> None:
    for schema, where in (
        ({keyword: {}}, ""),
        ({"properties": {"a/b": {keyword: {}}}}, "/properties/a~1b"),
        ({"$defs": {"x": {"anyOf": [True, {keyword: {}}]}}}, "/$defs/x/anyOf/1"),
    ):
        assert refusal(schema).startswith(f"schema at {where}/{keyword}: {keyword} cannot be enforced")


def test_an_unknown_keyword_is_refused_and_an_annotation_is_not() -> None:
    assert refusal({"items": {"maxlength": 3}}).startswith("schema at /items/maxlength: no keyword")
    schema = {name: [] for name in ANNOTATIONS if name != "$schema"} | {"type": "integer"}
    assert accepts(schema | {"$schema": "https://json-schema.org/draft/2020-12/schema"}, "5")
    assert "only https" in refusal({"$schema": "http://json-schema.org/draft-07/schema#"})


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "object", "properties": {"a": {"type": "integer"}}}, ['{"a": 1, "b": [true]}', "{}"], ['{"a": "x"}']),
        # A name has one spelling: with an escape the engine would take it for another name.
        ({"properties": {"a": {"type": "integer"}}}, ['{"b": 1}'], ['{"\\u0061": "x"}', '{"a": 1, "\\u0061": "x"}']),
        ({"type": "array", "prefixItems": [{"const": 1}], "items": False}, ["[1]", "[]"], ["[2]", "[1, 1]"]),
        ({"const": {"a": [1, 2.0]}}, ['{"a": [1, 2]}'], ['{"a": [1, 2.0]}', '{"a":[1, 2]}']),
        ({"const": 482.0}, ["482"], ["482.0", "4.82e2"]),
        ({"type": "integer", "maximum": 2**53}, [str(2**53)], [str(2**53 + 1)]),
        ({"type": "array", "maxItems": 2.0, "uniqueItems": False}, ["[1, 1]"], ["[1, 1, 1]"]),
        ({"enum": ["a\nb", None]}, ['"a\\nb"', "null"], ['"a"']),
    ],
)
def test_what_is_accepted_is_enforced(schema: Any, good: list[str], bad: list[str]) -> None:
    for text in good:
        assert accepts(schema, text), text
    for text in bad:
        assert not accepts(schema, text), text


@pytest.mark.llguidance("xgrammar refuses these keywords")
@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"allOf": [{"minimum": 3}, {"maximum": 5}]}, ["3", '"x"'], ["2", "6"]),
        ({"allOf": [{"type": "string", "maxLength": 3}, {"pattern": "^a"}]}, ['"abc"'], ['"abcd"', '"b"']),
        (
            {"patternProperties": {"^a": {"type": "integer"}}},
            ['{"a": 1, "b": "x"}'],
            ['{"ab": "x"}', '{"\\u0061": "x"}'],
        ),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, ['"x"', "null"], ["1"]),
        ({"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.01}, ["0.01", "2"], ["0", "0.001"]),
    ],
)
def test_what_llguidance_alone_enforces(schema: Any, good: list[str], bad: list[str]) -> None:
    for text in good:
        assert accepts(schema, text), text
    for text in bad:
        assert not accepts(schema, text), text


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (False, "schema at /: cannot be enforced"),
        ({"properties": {"a": {"oneOf": [{"type": "number"}, {"type": "integer"}]}}}, "schema at /properties/a/oneOf"),
        ({"minProperties": 2}, "/minProperties: more than 1"),
        ({"maximum": 2**53 + 1}, "/maximum: numbers over"),
        ({"const": 1e300}, "/const: numbers over"),
        ({"minimum": 1e-300}, "/minimum: more than 15 decimals"),
        ({"multipleOf": 0}, "/multipleOf: must be above 0"),
        ({"multipleOf": 100_003}, "/multipleOf: it and the others"),
        (
            {"allOf": [{"multipleOf": prime} for prime in (3, 7, 11, 13, 17, 19)]},
            "/allOf/5/multipleOf: it and the others",
        ),
        ({"$ref": "#"}, "no value of it can ever be complete"),
        ({"enum": []}, "/enum: must be an array"),
        ({"enum": [1, "\0"]}, "/enum/1: has a control character"),
        ({"type": "text"}, "/type: must be one or more"),
        ({"required": "a"}, "/required: must be an array"),
        ({"$ref": "other.json"}, "/$ref: leads to 'other.json'"),
        ({"anyOf": [{"$ref": "#/$defs/none"}]}, "/anyOf/0/$ref"),
        ({"format": "iri"}, "/format: 'iri' is no format"),
        ({"items": 5}, "schema at /items: a schema is"),
        ({"properties": []}, "/properties: must be an object"),
        ({"const": float("nan")}, "no JSON"),
        ({"const": "\ud800"}, "no JSON"),
    ],
)
def test_what_cannot_be_enforced_is_refused_with_its_place(schema: Any, message: str) -> None:
    assert message in refusal(schema)


def test_a_schema_in_a_schema_without_end_is_refused() -> None:
    schema: dict[str, Any] = {}
    for _ in range(100):
        schema = {"items": schema}
    assert "64 deep" in refusal(schema)
    for _ in range(100_000):
        schema = {"items": schema}
    assert "no JSON" in refusal(schema)


@pytest.mark.parametrize("text", ['{"type": "integer", "type": "string"}', "{", '{"const": NaN}', "[" * 100_000])
def test_a_text_that_is_no_schema_is_an_error(text: str) -> None:
    with pytest.raises(GrammarError):
        JsonSchema.parse(text)


@pytest.mark.parametrize("size", [1, 1999, 2000, 2001, MAX_COUNT])
@pytest.mark.parametrize("keyword", ["maxLength", "minLength", "maxItems", "minItems", "pattern"])
def test_large_counts_compile_at_once_and_are_alike_at_every_edge(keyword: str, size: int) -> None:
    schema = {keyword: f"^a{{{size}}}$" if keyword == "pattern" else size}
    start = time.perf_counter()
    JsonSchema(schema).compile(REGISTRY, None)
    assert time.perf_counter() - start < 1  # it takes some milliseconds
    if size == 2000:
        for length in (1999, 2000, 2001):
            text = "[" + ", ".join("1" * length) + "]" if "Items" in keyword else '"' + "a" * length + '"'
            kept = {"min": length >= 2000, "max": length <= 2000, "pat": length == 2000}[keyword[:3]]
            read, _ = read_schema(schema)
            assert matches(read, text) == kept


@pytest.mark.parametrize("keyword", ["maxLength", "maxItems", "maxProperties"])
def test_a_count_that_is_too_large_is_refused(keyword: str) -> None:
    assert f"/{keyword}: must be an integer from 0 to {MAX_COUNT}" in refusal({keyword: 2_000_000_000})
    assert f"/{keyword}" in refusal({keyword: 1.5})
    assert f"/{keyword}" in refusal({keyword: -1})
    assert "is above" in refusal({keyword: 1, keyword.replace("max", "min"): 2})


# --- patterns: those of ECMA-262, compared with Python's re where both mean the same

SAME = ["^a", "b$", "^(a|b)*$", "[^a-c]", "^[a-]$", "a{2}", "^(?:ab){1,2}$", r"^\.\-\/$", "^[.]$", "x?y+", "^a{,2}$"]
TEXTS = ["", "a", "b", "ab", "abab", "aa", ".-/", ".", "x", "xy", "-", "c", "d", "a{,2}", ",", "é", "A"]


@pytest.mark.parametrize("pattern", SAME)
@pytest.mark.parametrize("text", TEXTS)
def test_a_pattern_means_what_it_means_elsewhere(pattern: str, text: str) -> None:
    expected = re.search(pattern.replace("{,2}", r"\{,2\}"), text) is not None
    assert matches(read_schema({"pattern": pattern})[0], json.dumps(text, ensure_ascii=False)) == expected


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        # The engine alone would read these as nested classes, set operations, Unicode digits, any character.
        ("^[[a]]$", ["[]", "a]"], ["a", "["]),
        ("^[a&&b]$", ["a", "&", "b"], ["c"]),
        (r"^\d$", ["5"], ["٣"]),
        (r"^\w$", ["a", "_"], ["é"]),
        (r"^\W$", ["é"], ["a"]),
        ("^.$", ["a", "é", "\x85"], ["\n", "\r", "\u2028"]),
        (r"^\s$", [" ", "\ufeff", "\u2028"], ["\x85", "x"]),
        (r"^[^\s]$", ["x"], [" "]),
        (r"^[\S\n]$", ["x", "\n"], [" "]),
        ("^[^]$", ["\n", "x"], [""]),
        (r"^\u0061\x62\u{1F600}$", ["ab😀"], ["ab"]),
        (r"^\p{Lu}$", ["É"], ["é"]),
        ("^#a b$", ["#a b"], ["ab"]),
        ("^{$", ["{"], [""]),
        ("^[+--]$", ["+", ",", "-"], ["."]),
        (r"^[\]^]$", ["]", "^"], ["x"]),
    ],
)
def test_a_pattern_has_the_meaning_of_its_standard(pattern: str, good: list[str], bad: list[str]) -> None:
    linear = LinearPattern(engine_pattern(pattern).removeprefix("^").removesuffix("$"))
    for text in good:
        assert linear.matches(text.encode()), text
    for text in bad:
        assert not linear.matches(text.encode()), text


@pytest.mark.parametrize(
    "pattern",
    [
        *("a{2,1}", "a{2000000000}", "(?=a)b", "(?<n>a)", "(?i)a", r"(a)\1", r"\bx", r"\01", r"\cA", "[", "[b-a]"),
        *("[]", "\\", r"\ud800", "(", ")", "*", r"\Z", "a$b", r"[\d-z]", r"\u{110000}", r"\xg", r"\p{", r"\p{No Such}"),
    ],
)
def test_a_pattern_that_cannot_be_enforced_is_refused_with_its_place(pattern: str) -> None:
    message = refusal({"properties": {"a": {"type": "string", "pattern": pattern}}})
    assert message.startswith("schema at /properties/a")
    assert "pattern" in message


@given(st.text(max_size=12))
@settings(max_examples=300, deadline=None)
def test_any_text_is_a_pattern_or_an_error(pattern: str) -> None:
    try:
        JsonSchema({"pattern": pattern}).compile(REGISTRY, None)
    except GrammarError as error:
        assert "\n" not in str(error)


# --- formats, white space, spans, the end


@pytest.mark.llguidance("xgrammar has no formats")
@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_an_assertion_by_default_and_an_annotation_where_asked_for(name: str) -> None:
    assert not accepts({"format": name}, '"!"')
    assert accepts({"format": name}, '"!"', formats="annotation")
    assert accepts({"format": "iri"}, '"!"', formats="annotation")


def test_white_space_is_one_space_after_commas_and_colons() -> None:
    for text in ('{"a":1}', '{ "a": 1}', '{"a":  1}', '{"a": 1 }', '{"a": 1}\n', '{"a": [1,2]}', ' {"a": 1}'):
        assert not accepts({}, text)
    assert accepts({}, json.dumps({"a": [1, {"b": None}], "c": "d  e"}))


def test_a_finished_value_allows_only_the_end() -> None:
    vocabulary = Vocabulary(ScriptedTokenizer([b"}}", b"} ", b"}\n"]))
    matcher = CompiledGrammar(JsonSchema({"type": "object"}).compile(REGISTRY, vocabulary.marks), vocabulary).matcher()
    for byte in b"{}":
        matcher.consume(byte)
    assert matcher.mask().nonzero()[0].tolist() == [EOS]


def test_a_result_tag_cannot_be_written_into_a_string() -> None:
    events = play_json({"type": "string", "maxLength": 10}, '"<result>"')
    assert finished(events).text.startswith('"<result')
    assert "<result>" not in finished(events).text


def test_schemas_are_compared_by_what_they_say() -> None:
    assert JsonSchema({"type": "integer", "title": "x"}) == JsonSchema({"type": "integer", "title": "y"})
    assert JsonSchema({"type": "integer"}) != JsonSchema({"type": "string"})
    assert hash(JsonSchema({"const": 1})) == hash(JsonSchema({"const": 1.0}))


# --- the page


def test_the_page_lists_every_keyword_that_is_enforced_refused_or_an_annotation() -> None:
    text = PAGE.read_text()
    table = text.partition("## Refused")[2].partition("\n## ")[0]
    refused = dict(re.findall(r"^\| `([^`]+)` \| (.+) \|$", table, re.M))
    assert refused == dict(REFUSED)
    for heading, names in (("Enforced", ENFORCED), ("Annotations", ANNOTATIONS), ("Formats", FORMATS)):
        section = text.partition(f"**{heading}**")[2].partition("\n\n")[0]
        assert set(names) <= set(re.findall(r"`([^`]+)`", section)), heading
