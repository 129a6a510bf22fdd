"""Both engines allow the same tokens, marks included, at every place that random outputs come to."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest
from engine_support import installed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import SHORT_TAGS

from evalspan.backends.scripted import EOS, ScriptedTokenizer
from evalspan.orchestrator import (
    FreeText,
    Gbnf,
    Grammar,
    JsonSchema,
    LarkText,
    Pattern,
    Regex,
    Restate,
    Sentence,
    SpanPart,
    StructuralTag,
)
from evalspan.orchestrator.engines import ENGINES, EngineName
from evalspan.orchestrator.matcher import CompiledGrammar, Vocabulary
from evalspan.policies import Registry

pytestmark = pytest.mark.skipif(not installed("xgrammar"), reason="xgrammar is not installed: make setup")

SHORT = Registry.parse(SHORT_TAGS)
PIECES = [
    *(
        b'": ',
        b'", "',
        b'"}',
        b"10",
        b"true",
        b'{"a"',
        b', "b": ',
        b"null",
        b"\\n",
        b'"a',
        b"[[",
        b"]]",
        b"<c>",
        b"</c>",
    ),
    *(
        b"<",
        b"</",
        b"c>",
        b"<r",
        b"<r>",
        b"</r>",
        b"<c>1",
        b"1+1</c>",
        "é".encode(),
        b"\xc3",
        b"\xa9",
        b"\xf0\x9f",
        b"It is ",
    ),
]
TOKENIZER = ScriptedTokenizer(PIECES)
LIKELY = frozenset(b'"\\,: {}[]0123456789-.eEabcknvx/tnu\n\x7f<>+=') | frozenset(range(EOS + 1, 2 * EOS))

BOUND = {"type": "integer", "x-evalspan": {"evaluator": "arithmetic", "template": "{0/x} + 1"}}
ROW = {"type": "object", "properties": {"x": {"type": "integer"}, "y": BOUND}, "required": ["x", "y"]}
NODE = {
    "type": "object",
    "properties": {"v": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]}},
    "required": ["v", "next"],
    "additionalProperties": False,
}
NAMED = {"a": {"const": 1}, "b": {"const": 2}, "ab": {"const": 3}}
FIXED = [{"const": 1}, {"const": 2}]

SCHEMAS: list[Any] = [
    *(True, {}, {"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "array"}, {"type": "object"}),
    *({"type": "integer", "minimum": 3, "maximum": 120}, {"type": "integer", "minimum": -35, "exclusiveMaximum": 7}),
    *({"type": "integer", "exclusiveMinimum": -5}, {"type": "integer", "maximum": -12}, {"type": ["null", "boolean"]}),
    *({"type": "integer", "minimum": 1.5, "maximum": 1000}, {"type": "integer", "minimum": 0, "maximum": 0}),
    *({"enum": ["a", "ab", 1, None, [1, "x"], {"k": 1.5, "l": "\n"}]}, {"const": 'é"\\'}),
    *({"enum": [1, "a", None], "type": ["string", "null"]}, {"enum": [1, "a"], "const": "a"}),
    *({"type": "string", "minLength": 2, "maxLength": 4}, {"type": "string", "minLength": 130, "maxLength": 135}),
    *({"type": "string", "pattern": "^a[bc]+$"}, {"type": "string", "pattern": "ab"}, {"pattern": r"^[^a]\s?x|é$"}),
    *({"type": "string", "pattern": "a.b", "minLength": 4, "maxLength": 5}, {"minItems": 1, "maxLength": 2}),
    *({"type": "array", "items": {"type": "integer"}}, {"type": "array", "items": {"type": "integer"}, "minItems": 2}),
    *({"type": "array", "items": {"const": 1}, "minItems": 1, "maxItems": 3}, {"type": "array", "maxItems": 0}),
    *({"type": "array", "prefixItems": FIXED}, {"type": "array", "prefixItems": FIXED, "items": False}),
    {"type": "array", "prefixItems": FIXED, "items": {"const": 3}, "minItems": 1, "maxItems": 4},
    {"type": "array", "prefixItems": FIXED, "items": {"const": 3}, "minItems": 3},
    {"type": "array", "items": {"type": "integer"}, "minItems": 140, "maxItems": 150},
    *({"type": "object", "properties": NAMED}, {"type": "object", "properties": NAMED, "additionalProperties": False}),
    *({"type": "object", "properties": NAMED, "required": ["b"]}, {"properties": NAMED}),
    {"type": "object", "properties": NAMED, "required": ["ab"], "additionalProperties": {"const": 0}},
    {"type": "object", "properties": {"a": False, "b": True}, "additionalProperties": False},
    *({"type": "object", "properties": {'a"b': {"const": 1}}}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
    {"type": "object", "properties": {"k": {"$ref": "#"}}, "additionalProperties": False},
    *({"$defs": {"n": NODE}, "$ref": "#/$defs/n"}, {"type": "object", "required": ["a"], "properties": {"a": True}}),
    {"type": "object", "additionalProperties": {"type": "array", "items": True, "maxItems": 1}},
    *(ROW, {"type": "array", "items": ROW, "minItems": 1, "maxItems": 2}),
]

STRUCTURE = {
    "type": "triggered_tags",
    "triggers": ["<c>", "<f>"],
    "tags": [
        {"type": "evaluated_tag", "begin": "<c>", "end": "</c>", "evaluator": "arithmetic"},
        {"begin": "<f>", "content": {"type": "json_schema", "json_schema": {"type": "array"}}, "end": "</f>"},
        {"begin": "<f>x", "content": {"type": "grammar", "grammar": 'root ::= "(" [a-c]* ")"'}, "end": "</f>"},
    ],
}

GRAMMARS: list[Grammar] = [
    *(FreeText(), FreeText(("calc",)), Regex(r"(?:\p{N}|[^\w<])+x{2,3}"), Gbnf('root ::= "(" root ")" | [ab]{0,3}')),
    Sentence(("It is ", SpanPart("calc"), Pattern("[0-9]+|x"), Restate("calc", "[0-9]+"), ".")),
    LarkText("start: (@text @calc)* @text"),
    LarkText('start: row ("," row)* @calc.result\nrow: A | "[" B "]"\nA: /[0-9]+/\nB: "a".."f"'),
    StructuralTag.from_json({"type": "structural_tag", "format": STRUCTURE}),
]


@cache
def vocabularies() -> dict[EngineName, Vocabulary]:
    return {name: Vocabulary(TOKENIZER, name) for name in ENGINES}


def walk(grammar: Grammar, registry: Registry, draw: Random, steps: int) -> int:
    """Write what either engine allows, forced parts too, and compare; how many tokens that were."""
    both = []
    for vocabulary in vocabularies().values():
        compilation = grammar.compile(registry, vocabulary.marks)
        both.append(CompiledGrammar(compilation, vocabulary).matcher()._engine)
    text: list[int] = []
    for _ in range(steps):
        first, second = (np.concatenate(state.allowed()) for state in both)
        assert np.array_equal(first, second), (
            bytes(token for token in text if token < EOS),
            np.flatnonzero(first != second),
        )
        tokens = [int(token) for token in np.flatnonzero(first) if token != EOS]
        if not tokens:
            break
        likely = [token for token in tokens if token in LIKELY]
        token = draw.choice(likely or tokens)
        text.append(token)
        assert all(state.take([token]) for state in both)
    return len(text)


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(draw=st.randoms(use_true_random=True))
def test_on_schemas(schema: Any, draw: Random) -> None:
    assert walk(JsonSchema(schema), Registry.load(), draw, 160 if "13" in str(schema) or "14" in str(schema) else 50)


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda grammar: type(grammar).__name__)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(draw=st.randoms(use_true_random=True))
def test_on_grammars(grammar: Grammar, draw: Random) -> None:
    assert walk(grammar, SHORT, draw, 60)
