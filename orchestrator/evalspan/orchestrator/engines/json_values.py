"""JSON Schema as productions, for engines without JSON of their own: what is on the list here, and nothing else.

White space, escapes and the order of properties are those that `json/engine.py` sets for llguidance, so that both
engines allow the same texts. What is not on the list is refused with its place in the schema.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from evalspan.orchestrator.engines.integers import integers
from evalspan.orchestrator.engines.productions import Choice, Json, Name, Part, Production, Sequence, Times
from evalspan.orchestrator.engines.regex_reader import read_pattern, read_regex
from evalspan.orchestrator.engines.regular import (
    ALL,
    ANY_TEXT,
    Both,
    Complement,
    Either,
    Regular,
    Repeat,
    Respelt,
    inverted,
    literal,
)
from evalspan.orchestrator.errors import GrammarError

__all__ = ["JsonValues"]

_ITEM, _KEY = ", ", ": "
_OPTIONS = {
    "item_separator": _ITEM,
    "key_separator": _KEY,
    "whitespace_flexible": False,
    "json_allowed_escapes": 'bfnrt\\"',
}
_ESCAPES = (('"', '\\"'), ("\\", "\\\\"), ("\b", "\\b"), ("\f", "\\f"), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t"))
_PLAIN = inverted(((0, 0x1F), (0x22, 0x22), (0x5C, 0x5C), (0x7F, 0x7F)))
"""The characters of a string that stand for themselves."""

_INTEGER = "-?(?:0|[1-9][0-9]*)"
_NUMBER = rf"{_INTEGER}(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"

_SILENT = frozenset({"$comment", "$defs", "$id", "definitions", "x-guidance"})
_OF_TYPE: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "null": frozenset(),
        "boolean": frozenset(),
        "integer": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}),
        "number": frozenset(),
        "string": frozenset({"minLength", "maxLength", "pattern"}),
        "array": frozenset({"items", "prefixItems", "minItems", "maxItems"}),
        "object": frozenset({"properties", "required", "additionalProperties", "minProperties"}),
    }
)
"""The types, and what may be said of their values."""

_MAX_COUNT = 1_000
"""Characters of a string with a pattern, and items of an array with a minimum of them: a state for each."""


class JsonValues:
    """Writes the values of one schema into a grammar's rules; `number` tells its rules from those of others."""

    def __init__(self, value: Json, rules: dict[str, Production], number: int) -> None:
        self._rules = rules
        self._prefix = f"json-{number}"
        self._root = json.loads(value.schema)
        self._where = self._root.get("$comment", "")
        self._makers: dict[str, Callable[[dict[str, Any], str], Production]] = {
            "null": lambda schema, where: _text("null"),
            "boolean": lambda schema, where: Choice((_text("true"), _text("false"))),
            "integer": self._integer,
            "number": lambda schema, where: Part(read_regex(_NUMBER)),
            "string": self._string,
            "array": self._array,
            "object": self._object,
        }

    def production(self) -> Production:
        """The values of the schema; what else is needed for them is among the rules afterwards.

        Raises:
            GrammarError: it has what cannot be enforced; the text has the keyword's pointer.
        """
        if self._root.get("x-guidance") != _OPTIONS:
            raise GrammarError("the grammar engine xgrammar can follow no options of JSON but ours: use llguidance")
        return self._named(self._root, "")

    def _refused(self, where: str, keyword: str, why: str = "") -> GrammarError:
        reason = f" {why}" if why else ""
        # A part of a schema comes with the definitions of the whole one.
        defined = where.startswith(("/$defs/", "/definitions/")) and self._where.startswith("/")
        return GrammarError(
            f"schema at {'' if defined else self._where}{where}/{keyword}: {keyword} cannot be enforced{reason} by the "
            "grammar engine xgrammar: use llguidance"
        )

    def _named(self, schema: Any, where: str) -> Production:
        """The values of a schema as those of a rule: it may be within itself."""
        name = f"{self._prefix}{where}"
        if name not in self._rules:
            self._rules[name] = Choice(())
            self._rules[name] = self._values(schema, where)
        return Name(name)

    def _values(self, schema: Any, where: str) -> Production:
        if isinstance(schema, bool):
            return self._named({}, "/*") if schema else Choice(())
        table = {key: value for key, value in schema.items() if key not in _SILENT}
        if "$ref" in table:
            return self._reference(table, where)
        if "anyOf" in table:
            if more := sorted(set(table) - {"anyOf"}):
                raise self._refused(where, more[0], "beside anyOf")
            items = enumerate(table["anyOf"])
            return Choice(tuple(self._values(item, f"{where}/anyOf/{index}") for index, item in items))
        if "enum" in table or "const" in table:
            return self._literals(table, where)
        types = table.pop("type", None)
        names = [types] if isinstance(types, str) else list(dict.fromkeys(types or _OF_TYPE))
        for keyword in table:
            if not any(keyword in keywords for keywords in _OF_TYPE.values()):
                raise self._refused(where, keyword)
        if "number" in names and (bounds := sorted(set(table) & _OF_TYPE["integer"])):
            raise self._refused(where, bounds[0], "for numbers that are no integers")
        if "number" in names and "integer" in names:
            names.remove("integer")
        return Choice(tuple(self._makers[name](table, where) for name in names))

    def _reference(self, table: dict[str, Any], where: str) -> Production:
        if more := sorted(set(table) - {"$ref"}):
            raise self._refused(where, more[0], "beside $ref")
        address = table["$ref"]
        if address != "#" and not address.startswith("#/"):
            raise self._refused(where, "$ref", "unless it is a pointer that begins with #")
        found = self._root
        for step in address[2:].split("/") if address != "#" else ():
            step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, list) and step.isdecimal() and int(step) < len(found):
                found = found[int(step)]
            elif isinstance(found, dict) and step in found:
                found = found[step]
            else:
                raise self._refused(where, "$ref", f"since {address!r} leads nowhere")
        return self._named(found, address[1:])

    def _literals(self, table: dict[str, Any], where: str) -> Production:
        if more := sorted(set(table) - {"enum", "const", "type"}):
            raise self._refused(where, more[0], "beside enum and const")
        values = table.get("enum", [table.get("const")])
        if "const" in table:
            values = [value for value in values if _same(value, table["const"])]
        if "type" in table:
            types = [table["type"]] if isinstance(table["type"], str) else table["type"]
            values = [value for value in values if any(_is_of(value, name) for name in types)]
        return Choice(tuple(_text(json_text(value)) for value in values))

    def _integer(self, table: dict[str, Any], where: str) -> Production:
        low = max((math.ceil(table["minimum"]) if "minimum" in table else -math.inf), _above(table))
        high = min((math.floor(table["maximum"]) if "maximum" in table else math.inf), _below(table))
        if low == -math.inf and high == math.inf:
            return Part(read_regex(_INTEGER))
        return Part(integers(None if low == -math.inf else int(low), None if high == math.inf else int(high)))

    def _string(self, table: dict[str, Any], where: str) -> Production:
        least, most = table.get("minLength", 0), table.get("maxLength")
        if "pattern" not in table:
            inside: Production = Part(_spelt(ANY_TEXT))
            if least or most is not None:
                inside = Times(Part(_spelt(ALL)), least, most)
            return Sequence((_text('"'), inside, _text('"')))
        for keyword, count in (("minLength", least), ("maxLength", most or 0)):
            if count > _MAX_COUNT:
                raise self._refused(where, keyword, f"over {_MAX_COUNT} beside a pattern")
        try:
            language = read_pattern(table["pattern"])
        except ValueError as error:
            raise self._refused(where, "pattern", f"(it {error})") from None
        if least or most is not None:
            language = Both((language, Repeat(ALL, least, most)))
        return Sequence((_text('"'), Part(_spelt(language)), _text('"')))

    def _array(self, table: dict[str, Any], where: str) -> Production:
        first, rest = table.get("prefixItems", []), table.get("items", True)
        least, most = table.get("minItems", 0), table.get("maxItems")
        if rest is False:
            most = len(first) if most is None else min(most, len(first))
        if most is not None and most < least:
            return Choice(())
        items: Production = Sequence(())
        if most is None or most > len(first):
            item = self._values(rest, f"{where}/items")
            missing, left = max(least - len(first), 0), None if most is None else most - len(first)
            if first:
                items = Times(Sequence((_text(_ITEM), item)), missing, left)
            else:
                more = Times(
                    Sequence((_text(_ITEM), item)), max(missing - 1, 0), None if left is None else max(left - 1, 0)
                )
                items = Sequence((item, more)) if missing else Choice((Sequence(()), Sequence((item, more))))
        for index in range(min(len(first), len(first) if most is None else most) - 1, -1, -1):
            value = self._values(first[index], f"{where}/prefixItems/{index}")
            items = Sequence((_text(_ITEM if index else ""), value, items))
            if index >= least:
                items = Choice((Sequence(()), items))
        return Sequence((_text("["), items, _text("]")))

    def _object(self, table: dict[str, Any], where: str) -> Production:
        properties, required = table.get("properties", {}), table.get("required", [])
        if missing := [name for name in required if name not in properties]:
            raise self._refused(where, "required", f"of {missing[0]!r}, which is not in properties,")
        if table.get("minProperties", 0) > len(required):
            raise self._refused(where, "minProperties", "above the number of required ones")
        others = table.get("additionalProperties", True)
        after = {True: _text(""), False: _text("")}  # what follows, by whether nothing has been written yet
        if others is not False:
            member = Sequence((self._other_name(properties), self._values(others, f"{where}/additionalProperties")))
            more = Times(Sequence((_text(_ITEM), member)), 0, None)
            after = {True: Choice((Sequence(()), Sequence((member, more)))), False: more}
        for name, schema in reversed(properties.items()):
            value = self._values(schema, f"{where}/properties/{name.replace('~', '~0').replace('/', '~1')}")
            rules: dict[bool, Production] = {}
            for first in (True, False):
                key = _text(("" if first else _ITEM) + json_text(name) + _KEY)
                written = Sequence((key, value, after[False]))
                rules[first] = written if name in required else Choice((written, after[first]))
            after = rules
        return Sequence((_text("{"), after[True], _text("}")))

    def _other_name(self, properties: dict[str, Any]) -> Production:
        """The name of a property that the schema does not name, with its colon."""
        names = Both((ANY_TEXT, Complement(Either(tuple(map(literal, properties)))))) if properties else ANY_TEXT
        return Sequence((_text('"'), Part(_spelt(names)), _text(f'"{_KEY}')))


def json_text(value: Any) -> str:
    """A value as the output has it."""
    return json.dumps(value, ensure_ascii=False, separators=(_ITEM, _KEY))


def _text(text: str) -> Production:
    return Part(literal(text))


def _spelt(language: Regular) -> Regular:
    """Texts as they stand within the quotes of a string."""
    return Respelt(language, _PLAIN, _ESCAPES)


def _same(one: Any, other: Any) -> bool:
    return json_text(one) == json_text(other)


def _is_of(value: Any, name: str) -> bool:
    if isinstance(value, bool) or value is None:
        return name == ("null" if value is None else "boolean")
    kinds: dict[str, tuple[type, ...]] = {"integer": (int,), "number": (int, float), "string": (str,)}
    return isinstance(value, kinds.get(name, (list,) if name == "array" else (dict,)))


def _above(table: dict[str, Any]) -> float:
    return math.floor(table["exclusiveMinimum"]) + 1 if "exclusiveMinimum" in table else -math.inf


def _below(table: dict[str, Any]) -> float:
    return math.ceil(table["exclusiveMaximum"]) - 1 if "exclusiveMaximum" in table else math.inf
