"""Schemas as the grammar engine takes them: one text per value, and a check that it can be enforced."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from llguidance import LLMatcher

from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.json.keywords import ASSERT, BIND, REFUSAL, Schema, pointer
from evalspan.policies.byte_vocabulary import END, byte_tokenizer

__all__ = ["ITEM_SEPARATOR", "KEY_SEPARATOR", "check_schema", "json_text", "lark_json", "matches", "parts"]

ITEM_SEPARATOR, KEY_SEPARATOR = ", ", ": "
"""White space in the output: this and no other, so that a model cannot write it for ever."""

_OPTIONS = {
    "item_separator": ITEM_SEPARATOR,
    "key_separator": KEY_SEPARATOR,
    "whitespace_flexible": False,
    # Without \u: a name could otherwise be written in two ways, and the engine compares names by their text.
    "json_allowed_escapes": 'bfnrt\\"',
}

_MAX_BLAMED = 200  # subschemas that are tried one by one to say which is at fault


def json_text(value: Any) -> str:
    """A value as the output has it."""
    return json.dumps(value, ensure_ascii=False, separators=(ITEM_SEPARATOR, KEY_SEPARATOR))


def lark_json(schema: Schema, where: str = "") -> str:
    """A value of the schema, which stands at the pointer `where`, as a part of a Lark rule."""
    if isinstance(schema, bool):
        schema = {} if schema else {"anyOf": [False]}
    place = {"$comment": where} if where else {}  # for what an engine has to say of it
    return "%json " + json.dumps({**_plain(schema), **place, "x-guidance": _OPTIONS}, ensure_ascii=False)


def _plain(schema: Any) -> Any:
    """The schema without evalspan's own keywords, wherever schemas stand in it."""
    if not isinstance(schema, dict):
        return schema
    out: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in (BIND, ASSERT, REFUSAL):
            continue
        if keyword in _MAPS:
            out[keyword] = {name: _plain(item) for name, item in value.items()}
        elif keyword in _LISTS:
            out[keyword] = [_plain(item) for item in value]
        else:
            out[keyword] = _plain(value) if keyword in _SINGLE else value
    return out


_BLAMED = ("$ref", "allOf", "anyOf", "multipleOf", "oneOf", "pattern", "patternProperties")
"""Keywords that the engine may refuse by themselves."""

_MAPS = ("$defs", "definitions", "patternProperties", "properties")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE = ("additionalProperties", "items")


def matches(schema: Schema, text: str) -> bool:
    """Whether a text, as the output would have it, is a value of the schema."""
    data = text.encode()
    taken = _matcher(schema).validate_tokens([*data, END])
    return bool(taken == len(data) + 1)


def check_schema(schema: Schema, where: str) -> None:
    """Check that the engine takes a schema, which stands at the pointer `where`.

    Raises:
        GrammarError: it does not; the text has the pointer of the smallest part that is at fault.
    """
    reason = _fault(schema)
    if reason is None:
        return
    root = schema if isinstance(schema, dict) else {}
    definitions: dict[str, Any] = {key: root[key] for key in ("$defs", "definitions") if key in root}
    for part, at in islice(parts(schema, where), _MAX_BLAMED):
        table = part if isinstance(part, dict) else {}
        if part is False or (smaller := _fault({**definitions, **table})) is None:
            continue
        where, reason = at, smaller
        for keyword in _BLAMED:
            if keyword in table and _fault({**definitions, keyword: table[keyword]}) is not None:
                where = pointer(keyword, base=at)
        break
    raise GrammarError(f"schema at {where or '/'}: cannot be enforced: {reason}")


def parts(schema: Schema, where: str) -> Iterator[tuple[Schema, str]]:
    """The schemas in a schema, the innermost first, itself last."""
    if isinstance(schema, dict):
        for keyword, value in schema.items():
            place = pointer(keyword, base=where)
            if keyword in _MAPS:
                for name, item in value.items():
                    yield from parts(item, pointer(name, base=place))
            elif keyword in _LISTS:
                for index, item in enumerate(value):
                    yield from parts(item, pointer(index, base=place))
            elif keyword in _SINGLE:
                yield from parts(value, place)
    yield schema, where


def _matcher(schema: Schema) -> Any:
    grammar = LLMatcher.grammar_from_lark(f"start: {lark_json(schema)}\n")
    return LLMatcher(byte_tokenizer(), grammar, log_level=0)


def _fault(schema: Schema) -> str | None:
    matcher = _matcher(schema)
    if not matcher.is_error():
        matcher.compute_bitmask()
        return "no value of it can ever be complete" if matcher.is_error() else None
    lines = [line.strip() for line in matcher.get_error().strip().splitlines()]
    cause = next((line for line in lines if line.startswith("error: ")), lines[0])
    return str(cause.partition("failed to compile JSON schema: ")[2] or cause).removeprefix("error: ")
