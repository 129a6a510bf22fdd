"""Asking for what the driver was asked for: a mode and a grammar as the flat keys that `options.py` reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evalspan.orchestrator.errors import GrammarError, RequestError
from evalspan.orchestrator.formats import Gbnf, LarkText, Regex, StructuralTag
from evalspan.orchestrator.grammar import Grammar, Mode
from evalspan.orchestrator.json import JsonSchema
from evalspan.orchestrator.sentences import FreeText, Pattern, Restate, Sentence, SpanPart

__all__ = ["keys_for", "parse_sentence", "sentence_text"]


def keys_for(registry: str, mode: Mode, grammar: Grammar) -> dict[str, Any]:
    """The keys of a request that opts in, for the registry of this name.

    Raises:
        RequestError: the mode or the grammar cannot be asked for in this way; the text says what can.
    """
    if mode == "no-grammar":
        raise RequestError(
            "mode 'no-grammar' does not run inside an engine, where a token that ran past a close tag cannot be taken "
            "back: use grammar-eval"
        )
    return {"evalspan": registry, "evalspan_mode": mode, **_grammar_keys(grammar)}


def _grammar_keys(grammar: Grammar) -> dict[str, str]:
    if isinstance(grammar, FreeText):
        return {"evalspan_required": ",".join(grammar.required)} if grammar.required else {}
    if isinstance(grammar, Sentence):
        return {"evalspan_sentence": sentence_text(grammar)}
    if isinstance(grammar, LarkText):
        return {"evalspan_grammar": grammar.text}
    if isinstance(grammar, Gbnf):
        return {"evalspan_gbnf": grammar.text}
    if isinstance(grammar, Regex):
        return {"evalspan_regex": grammar.pattern}
    if isinstance(grammar, JsonSchema) and grammar.formats == "assertion":
        return {"evalspan_schema": grammar.text}
    if isinstance(grammar, StructuralTag) and not grammar.continues:
        return {"evalspan_structural_tag": grammar.text}
    raise RequestError(
        f"{type(grammar).__name__} does not run inside an engine: it takes free text, a sentence, Lark, GBNF, a "
        "regular expression, a JSON Schema whose formats are assertions, or a structural tag"
    )


def sentence_text(sentence: Sentence) -> str:
    """A sentence as JSON: a list of its parts, as `parse_sentence` reads it."""
    return json.dumps([_part(part) for part in sentence.parts], ensure_ascii=False)


def _part(part: str | Pattern | SpanPart | Restate) -> str | dict[str, str]:
    if isinstance(part, Pattern):
        return {"pattern": part.regex}
    if isinstance(part, SpanPart):
        return {"span": part.span}
    if isinstance(part, Restate):
        return {"restate": part.span, "pattern": part.regex}
    return part


def parse_sentence(text: str) -> Sentence:
    """A sentence from a JSON list. A part is a string for itself, `{"pattern": …}` for what the model fills in,
    `{"span": …}` for a span with its result, or `{"restate": …, "pattern": …}` for a result said again.

    Raises:
        GrammarError: it is none.
    """
    try:
        parts = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise GrammarError(f"the sentence is no JSON: {error}") from None
    if not isinstance(parts, list):
        raise GrammarError("a sentence is a JSON list of parts")
    return Sentence(tuple(_read_part(part, index) for index, part in enumerate(parts)))


def _read_part(part: Any, index: int) -> str | Pattern | SpanPart | Restate:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping) and all(isinstance(value, str) for value in part.values()):
        if part.keys() == {"pattern"}:
            return Pattern(part["pattern"])
        if part.keys() == {"span"}:
            return SpanPart(part["span"])
        if part.keys() == {"restate", "pattern"}:
            return Restate(part["restate"], part["pattern"])
    raise GrammarError(
        f'part {index} of the sentence must be a string, {{"pattern": …}}, {{"span": …}} or '
        f'{{"restate": …, "pattern": …}}, got {json.dumps(part, ensure_ascii=False):.60}'
    )
