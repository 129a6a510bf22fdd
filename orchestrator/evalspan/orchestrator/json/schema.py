"""The grammar: a JSON Schema as one text for the grammar engine.

A schema without bound fields and assertions is handed over whole. Else the objects and arrays on the way to what is
bound, asserted or referred to are spelt out as rules, and everything beside the way is handed over in pieces.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Self

from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.grammar import Compilation, Marks
from evalspan.orchestrator.json.bindings import Bound, assertions, bound
from evalspan.orchestrator.json.engine import ITEM_SEPARATOR, KEY_SEPARATOR, check_schema, json_text, lark_json, parts
from evalspan.orchestrator.json.keywords import ASSERT, BIND, Formats, Schema, SchemaText, pointer, read_schema
from evalspan.orchestrator.json.places import Place, places
from evalspan.orchestrator.json.refusals import refusals
from evalspan.orchestrator.json.tracker import Tracking
from evalspan.orchestrator.lark import LarkWriter, lark_literal
from evalspan.policies import Registry

__all__ = ["JsonSchema"]


class JsonSchema:
    """Output that is one JSON value of a schema, with bound fields and assertions."""

    def __init__(self, schema: Mapping[str, Any] | bool, *, formats: Formats = "assertion") -> None:
        """Raises:
        GrammarError: the schema has a keyword that cannot be enforced; the text has its pointer.
        """
        self._schema, self._found = read_schema(schema, formats)
        self._given = json.dumps(schema, ensure_ascii=False)
        self.formats: Formats = formats
        self._text = json_text(self._schema)
        self._last: tuple[Registry, Marks | None, Compilation] | None = None  # many requests share one schema

    @classmethod
    def parse(cls, text: str, *, formats: Formats = "assertion") -> Self:
        """A schema from its JSON text.

        Raises:
            GrammarError: it is no JSON, or has a name twice; and as the constructor.
        """
        try:
            return cls(json.loads(text, object_pairs_hook=_once, parse_constant=_no_number), formats=formats)
        except (ValueError, RecursionError) as error:
            raise GrammarError(f"the schema is no JSON: {error}") from None

    @property
    def text(self) -> str:
        """The schema as it was given, as JSON."""
        return self._given

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JsonSchema) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def compile(self, registry: Registry, marks: Marks | None) -> Compilation:
        """See `Grammar.compile`. A string holds what it holds: there are no spans in JSON."""
        last = self._last
        if last is None or last[0] is not registry or last[1] != marks:
            last = self._last = (registry, marks, self._compile(registry, marks))
        return last[2]

    def _compile(self, registry: Registry, marks: Marks | None) -> Compilation:
        check_schema(self._schema, "")
        writer = LarkWriter(registry, marks)
        named = refusals(self._schema, self._found.refusals)
        if not self._found.extensions:
            writer.rule("start", lark_json(self._schema))
            return Compilation(writer.lark(), inert=True, observation=Tracking(named) if named else None)
        tree = places(self._schema)
        _check_reached(tree, self._found)
        fields = {place: bound(tree, place, registry) for place in tree.all() if BIND in place.schema}
        checks = [check for place in tree.all() for check in assertions(tree, place, registry)]
        writer.rule("start", _Rules(self._schema, writer, fields).value(tree))
        # Where the model writes the values itself nothing is asserted; a refusal is its own word in any case.
        tracking = Tracking((*checks, *named)) if marks is not None else Tracking(named) if named else None
        return Compilation(writer.lark(), tuple(writer.directives), inert=True, observation=tracking)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} is there twice")
    return table


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _check_reached(tree: Place, found: SchemaText) -> None:
    reached = {place.where for place in tree.all()}
    for where in found.extensions:
        if where not in reached:
            around = [place for place in tree.all() if where.startswith(place.where + "/") and place.obstacle]
            reason = max(around, key=lambda place: len(place.where)).obstacle if around else "is used by no value"
            raise GrammarError(f"schema at {where}: {_PLAIN}; this {reason}")
    if found.named[1 if "/$id" in found.named else 0 :]:
        raise GrammarError(f"schema at {found.named[-1]}: beside bound fields there are no $id and $anchor")


_PLAIN = "what is bound or asserted stands in plain objects, arrays and definitions"


class _Rules:
    """Lark rules for the places that are needed; each has its own, so that they stay as small as the schema."""

    def __init__(self, schema: Schema, writer: LarkWriter, fields: Mapping[Place, Bound]) -> None:
        self._root = schema if isinstance(schema, dict) else {}
        self._writer = writer
        self._fields = fields
        self._count = 0

    def value(self, place: Place) -> str:
        """A value of the place, without a space before it."""
        if place.needed and place.kind == "object":
            return self._object(place)
        if place.needed and place.kind == "array":
            return self._array(place)
        schema = self._alone(place.schema, place.where)
        inside = [part for part, _ in parts(schema, "") if isinstance(part, dict) and part is not schema]
        if any(BIND in part or ASSERT in part for part in inside):
            raise GrammarError(f"schema at {place.where or '/'}: {_PLAIN}; this {place.obstacle}")
        return lark_json(schema, place.where)

    def _name(self) -> str:
        self._count += 1
        return f"json{self._count}"

    def _object(self, place: Place) -> str:
        """An object, its properties in the order of the schema, commas between those that are there."""
        after: dict[bool, str] = {True: "", False: ""}  # what follows, by whether nothing has been written yet
        for name, child in reversed(place.children.items()):
            value = self._property(child)
            rules = {}
            for first in (True, False):
                comma = "" if first else ITEM_SEPARATOR
                body = f"{lark_literal(comma + json_text(name) + ':')} {value} {after[False]}"
                if not child.required:
                    body = f"{body} | {after[first]}" if after[first] else f"({body})?"
                rules[first] = body
            after = {first: self._writer.rule(self._name(), body) for first, body in rules.items()}
        return f'"{{" {after[True]} "}}"'

    def _property(self, place: Place) -> str:
        """What follows the colon."""
        space = KEY_SEPARATOR.removeprefix(":")
        field = self._fields.get(place)
        if field is not None and self._writer.marks is not None:
            return self._writer.directive(field, f"{lark_literal(space)} {lark_json(field.rule.shape, place.where)}")
        return self._writer.rule(self._name(), f"{lark_literal(space)} {self.value(place)}")

    def _array(self, place: Place) -> str:
        low, high = place.schema.get("minItems", 0), place.schema.get("maxItems")
        if high == 0:
            return '"[]"'
        item = self._writer.rule(self._name(), self.value(place.children[None]))
        rest = f"{{{max(low - 1, 0)},{'' if high is None else high - 1}}}"
        items = f"{item} ({lark_literal(ITEM_SEPARATOR)} {item}){rest}"
        return f'"[" {items} "]"' if low else f'"[" ({items})? "]"'

    def _alone(self, schema: Schema, where: str) -> Schema:
        """The schema with the definitions that it needs, away from its root."""
        if not isinstance(schema, dict) or schema is self._root:
            return schema
        definitions: dict[str, dict[str, Any]] = {}
        waiting: list[Any] = [schema]
        while waiting:
            for reference in _references(waiting.pop()):
                container, name = _definition(reference, where)
                if container not in self._root or name not in self._root[container]:
                    raise GrammarError(f"schema at {where}: {reference!r} leads nowhere")
                known = definitions.setdefault(container, {})
                if name not in known:
                    known[name] = self._root[container][name]
                    waiting.append(known[name])
        return {**schema, **definitions}


def _references(value: Any) -> list[str]:
    """Every `$ref` in a schema."""
    if isinstance(value, list):
        return [found for item in value for found in _references(item)]
    if not isinstance(value, dict):
        return []
    own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
    return own + [found for item in value.values() for found in _references(item)]


def _definition(reference: str, where: str) -> tuple[str, str]:
    hash_, _, rest = reference.partition("/")
    container, _, name = rest.partition("/")
    if hash_ != "#" or container not in ("$defs", "definitions"):
        raise GrammarError(
            f"schema at {pointer('$ref', base=where)}: beside bound fields references lead to #/$defs/NAME, not to "
            f"{reference!r}"
        )
    return container, name.split("/")[0].replace("~1", "/").replace("~0", "~")
