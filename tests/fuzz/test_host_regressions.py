"""What fuzzing the host found: each was a crash, a hang or a text that no terminal can show."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import SHORT_TAGS

from evalspan.orchestrator import DecodeError, GrammarError
from evalspan.orchestrator.formats import LarkText, Regex, StructuralTag
from evalspan.orchestrator.grammar import Marks
from evalspan.orchestrator.json import JsonSchema
from evalspan.orchestrator.receipts.canonical import json_path
from evalspan.orchestrator.receipts.difference import Problem
from evalspan.policies import EvalspanError, Registry, RegistryError

REGISTRY = Registry.parse(SHORT_TAGS)
SECOND = 5.0
"""Of CPU time, with room for a machine that is slower than the one that the limit is for."""


@given(st.text(max_size=3000))
def test_the_text_of_an_error_is_one_printable_line_whatever_it_quotes(text: str) -> None:
    for error in (EvalspanError(text), GrammarError(text), DecodeError(text), RegistryError(text, [("k", text)])):
        shown = str(error)
        assert shown.isprintable()
        assert len(shown) <= 1000 * len("\\U0010ffff") + 100
        if text.isprintable() and len(text) < 400:
            assert text in shown


def test_an_error_keeps_a_text_that_needs_no_change() -> None:
    assert str(EvalspanError("é × 😀 is fine")) == "é × 😀 is fine"
    assert str(EvalspanError("a\nb\x1b[2J")) == "a\\nb\\x1b[2J"
    assert str(EvalspanError("x" * 2000)) == "x" * 999 + "…"


@pytest.mark.parametrize(
    "pattern", ["((((((a{99}){99}){99}){99}){99}){99})", "(((a{99}){99}){99})", "a{1000}" * 900], ids=["6", "3", "long"]
)
def test_a_pattern_that_demands_a_text_without_end_is_refused_soon(pattern: str) -> None:
    began = time.process_time()
    with pytest.raises(GrammarError, match="fuel"):
        Regex(pattern).compile(REGISTRY, None)
    assert time.process_time() - began < SECOND


def test_a_pattern_that_demands_a_long_text_is_taken() -> None:
    assert Regex("([a-z]{99}-){99}").compile(REGISTRY, None).lark


@pytest.mark.parametrize("factor", [2**31, 2**17, 5**9, 0.000030517578125, 3 * 2**16])
def test_a_factor_with_too_many_remainders_is_refused_soon(factor: float) -> None:
    began = time.process_time()
    with pytest.raises(GrammarError, match="common multiple of more than"):
        JsonSchema({"multipleOf": factor, "patternProperties": {"a|b": True}})
    assert time.process_time() - began < SECOND


@pytest.mark.parametrize("factor", [1, 10**9, 2500000, 0.01, 1e-9, 99991, 2**16, 12.5])
def test_a_factor_with_few_remainders_is_taken(factor: float) -> None:
    assert JsonSchema({"multipleOf": factor}).compile(REGISTRY, None).lark


def test_factors_are_taken_together() -> None:
    JsonSchema({"anyOf": [{"multipleOf": 4096}, {"multipleOf": 625}, {"multipleOf": 0.25}]})
    with pytest.raises(GrammarError, match="common multiple"):
        JsonSchema({"anyOf": [{"multipleOf": 401}, {"multipleOf": 0.409}]})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"begin": "f"}, "format.begin: string should have at least 2 characters"),
        ({"end": "f" * 65}, "format.end: string should have at most 64 characters"),
        ({"name": "No"}, "format.name: string should match pattern"),
        ({"result": {"begin": "r", "end": "</r>"}}, "format.result.begin: string should have at least 2 characters"),
    ],
)
def test_a_span_of_a_document_keeps_the_rules_of_a_registry(change: dict[str, object], says: str) -> None:
    span = {"type": "evaluated_tag", "begin": "<s>", "end": "</s>", "evaluator": "arithmetic", "name": "s", **change}
    with pytest.raises(GrammarError) as raised:
        StructuralTag.from_json({"type": "structural_tag", "format": span}).compile(REGISTRY, None)
    assert says in str(raised.value)


def test_a_string_that_a_text_must_not_hold_has_an_end() -> None:
    def document(size: int) -> StructuralTag:
        excludes = [",", "ab" * (size // 2)]
        return StructuralTag.from_json({"type": "structural_tag", "format": {"type": "any_text", "excludes": excludes}})

    assert document(512).compile(REGISTRY, None).lark
    began = time.process_time()
    with pytest.raises(GrammarError, match="has at most 512 characters; 'abababababababababab'… has 16000"):
        document(16000).compile(REGISTRY, None)
    assert time.process_time() - began < SECOND


def test_a_span_that_is_referred_to_a_thousand_times_is_compiled_once() -> None:
    began = time.process_time()
    compiled = LarkText("start: " + "@calc " * 4000).compile(REGISTRY, Marks(1000))
    assert time.process_time() - began < SECOND / 2
    assert compiled.lark.count("BODY0:") == 1


def test_an_integer_of_too_many_digits_is_no_registry() -> None:
    with pytest.raises(RegistryError, match="is not TOML"):
        Registry.parse(f"version = {'1' * 5000}")


def test_what_a_receipt_says_is_shown_in_one_line() -> None:
    assert (
        str(Problem("a.b", '"\u2028" is recorded and "\x7f" rebuilt'))
        == 'a.b: "\\u2028" is recorded and "\\x7f" rebuilt'
    )


def test_a_path_shows_a_name_that_no_terminal_can() -> None:
    assert json_path("a", "b") == "a.b"
    assert json_path("a", "\x1b[2J") == 'a["\\u001b[2J"]'
    assert len(json_path("", "x" * 1000)) < 80
    assert json_path("a", "b\n") == f"a[{json.dumps(chr(98) + chr(10))}]"
