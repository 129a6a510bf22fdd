"""The places of a schema that can be bound, asserted or referred to: a tree along plain objects and arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.json.keywords import ASSERT, BIND, REFUSAL, Schema, pointer

__all__ = ["Path", "Place", "places", "shape"]

Path = tuple[str | int | None, ...]
"""Steps from the root of a document: names and indexes; in a schema None for the items of an array."""

_MAX_PLACES = 10_000
"""Of one schema; definitions are counted wherever they are used, and could multiply for ever."""

_EVERYWHERE = {"$defs", "definitions", "type", ASSERT}
_OBJECT = {*_EVERYWHERE, "properties", "required", "additionalProperties"}
_ARRAY = {*_EVERYWHERE, "items", "minItems", "maxItems"}
_VALUE = {
    *(*_EVERYWHERE, BIND, REFUSAL, "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("multipleOf", "minLength", "maxLength", "pattern", "format"),
}


@dataclass(eq=False, slots=True)
class Place:
    """A schema where it is used. `where` is its pointer in the schema, `path` where its values stand in a document."""

    schema: dict[str, Any]
    where: str
    path: Path
    order: tuple[int, ...]
    """Its position among the values of a document; compares as the document is written."""
    required: bool
    parent: Place | None
    kind: str = "value"
    """`object`, `array`, `value`, or `other` for what is not looked into."""
    obstacle: str = ""
    """Why it is not looked into."""
    children: dict[str | None, Place] = field(default_factory=dict)
    needed: bool = False
    """Whether something in it is bound, asserted or referred to."""

    @property
    def types(self) -> tuple[str, ...]:
        """The types that its schema names."""
        named = self.schema.get("type", ())
        return (named,) if isinstance(named, str) else tuple(named)

    def mark(self) -> None:
        """Note that this place is needed, and with it all that it stands in."""
        place: Place | None = self
        while place is not None:
            place.needed = True
            place = place.parent

    def all(self) -> Iterator[Place]:
        """This place and all inside."""
        yield self
        for child in self.children.values():
            yield from child.all()


def shape(path: Path) -> Path:
    """The path in the schema of a path in a document."""
    return tuple(None if isinstance(step, int) else step for step in path)


def places(schema: Schema) -> Place:
    """The tree of places of a schema that `read_schema` answered.

    Raises:
        GrammarError: there are too many.
    """
    root = schema if isinstance(schema, dict) else {}
    return _Builder(root).build(root, "", (), (), True, None, ())


class _Builder:
    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._left = _MAX_PLACES

    def build(
        self,
        schema: Any,
        where: str,
        path: Path,
        order: tuple[int, ...],
        required: bool,
        parent: Place | None,
        followed: tuple[str, ...],
    ) -> Place:
        self._left -= 1
        if self._left < 0:
            raise GrammarError(f"schema at {where}: a schema with bound values has at most {_MAX_PLACES} places")
        obstacle = ""
        while isinstance(schema, dict) and "$ref" in schema and not obstacle:
            target = self._target(schema)
            if target is None:
                obstacle = "leads through a $ref that is not to #/$defs/NAME, or that has keywords beside it"
            elif target in followed:
                obstacle = "leads into a definition that contains itself"
            else:
                followed = (*followed, target)
                container, name = target.split("/", 1)
                where = pointer(container, name)
                schema = self._root[container][name]
        if not isinstance(schema, dict):
            schema, obstacle = {}, "leads through a schema that is true or false"
        place = Place(schema, where, path, order, required, parent)
        keywords = set(schema)
        if not path:
            keywords -= {"$id"}
        if not obstacle and BIND not in schema and schema.get("type") == "object":
            obstacle = self._object(place, keywords, followed)
        elif not obstacle and BIND not in schema and schema.get("type") == "array":
            obstacle = self._array(place, keywords, followed)
        elif not obstacle:
            more = sorted(keywords - _VALUE)
            obstacle = f"leads through {more[0]}" if more else ""
        if obstacle:
            place.kind, place.obstacle = "other", obstacle
        return place

    def _target(self, schema: dict[str, Any]) -> str | None:
        """`$defs/NAME` where the schema is nothing but a reference to it."""
        if set(schema) - {"$ref", "$defs", "definitions"}:
            return None
        hash_, _, rest = schema["$ref"].partition("/")
        container, _, name = rest.partition("/")
        name = name.replace("~1", "/").replace("~0", "~")
        if hash_ != "#" or container not in ("$defs", "definitions") or name not in self._root.get(container, {}):
            return None
        return f"{container}/{name}"

    def _object(self, place: Place, keywords: set[str], followed: tuple[str, ...]) -> str:
        schema = place.schema
        properties = schema.get("properties", {})
        if more := sorted(keywords - _OBJECT):
            return f"leads through {more[0]}"
        if not isinstance(schema.get("additionalProperties", False), bool):
            return "leads through an object whose additionalProperties is a schema"
        required = schema.get("required", [])
        if missing := [name for name in required if name not in properties]:
            return f"leads through an object that requires {missing[0]!r}, which is not in properties"
        place.kind = "object"
        for index, (name, child) in enumerate(properties.items()):
            at = pointer("properties", name, base=place.where)
            path, order = (*place.path, name), (*place.order, index)
            place.children[name] = self.build(child, at, path, order, name in required, place, followed)
        return ""

    def _array(self, place: Place, keywords: set[str], followed: tuple[str, ...]) -> str:
        if more := sorted(keywords - _ARRAY):
            return f"leads through {more[0]}"
        if "items" not in place.schema:
            return "leads through an array without items"
        place.kind = "array"
        at = pointer("items", base=place.where)
        child = self.build(place.schema["items"], at, (*place.path, None), (*place.order, 0), True, place, followed)
        place.children[None] = child
        return ""
