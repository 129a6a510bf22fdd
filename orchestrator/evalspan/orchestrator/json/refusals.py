"""Refusals that a schema names: where in a document they stand, and what says that one was written.

No phrase is guessed. A schema marks a property, or a constant beside other values, with `"x-evalspan-refusal": true`; a
document that has a value there has a refusal.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.events import Refused
from evalspan.orchestrator.grammar import Written
from evalspan.orchestrator.json.engine import json_text
from evalspan.orchestrator.json.keywords import REFUSAL, Schema, pointer
from evalspan.orchestrator.json.places import Path
from evalspan.orchestrator.json.tracker import Check, JsonTracker

__all__ = ["Refusal", "refusals"]

_NOTHING = ("null", "false", '""')
"""Values, as JSON, that say that nothing is refused."""

_BRANCHES = ("anyOf", "oneOf")
_UNTOLD = ("additionalProperties", "allOf", "patternProperties", "prefixItems")
"""Keywords whose values have no path of their own, or are described elsewhere too."""

_PLACES = "a refusal stands in properties, items, anyOf, oneOf and #/$defs/NAME, and some value uses it"
_SCALARS = {"null", "boolean", "integer", "number", "string"}
_MAX_VISITS = 10_000  # schemas as they are used; definitions could multiply for ever


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal by any value, or by one of the `values` (as JSON)."""

    values: tuple[str, ...] | None
    stops: bool = False

    def check(self, tracker: JsonTracker, path: Path, written: Written) -> Refused | None:
        """See `Check.check`."""
        (value,) = tracker.values(path, ())
        if isinstance(value, str) and (value not in _NOTHING if self.values is None else value in self.values):
            text = json.loads(value)
            return Refused(
                pointer(*(step for step in path if step is not None)), text if isinstance(text, str) else value
            )
        return None


def refusals(schema: Schema, marked: list[str]) -> tuple[tuple[Path, Check], ...]:
    """The refusals of a schema whose marks stand at these pointers, each with the path where it can be written.

    Raises:
        GrammarError: what is marked cannot be told from other values, or is where no path leads.
    """
    if not marked:
        return ()
    walk = _Walk(schema if isinstance(schema, dict) else {})
    walk.value(schema, "", (), True, ())
    for where in marked:
        if where not in walk.reached:
            raise GrammarError(f"schema at {pointer(REFUSAL, base=where)}: {_PLACES}")
        if walk.recurs(where):
            at = pointer(REFUSAL, base=where)
            raise GrammarError(f"schema at {at}: a refusal cannot stand in a definition that contains itself")
    if both := sorted(walk.marked.keys() & walk.plain.keys(), key=str):
        raise GrammarError(
            f"schema at {pointer(REFUSAL, base=walk.marked[both[0]])}: {walk.plain[both[0]]} has the same place in a "
            "document and is no refusal: give one of them another name, or mark a constant"
        )
    found: list[tuple[Path, Check]] = [(path, Refusal(None)) for path in walk.marked]
    return (*found, *((path, Refusal(tuple(values))) for path, values in walk.constants.items()))


class _Walk:
    """The places of a schema, along every branch."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._left = _MAX_VISITS
        self._cycles: set[str] = set()
        self.reached: set[str] = set()
        self.marked: dict[Path, str] = {}
        """Where any value is a refusal, with the pointer of the mark."""
        self.plain: dict[Path, str] = {}
        """Where a property that is not marked stands, with its pointer."""
        self.constants: dict[Path, list[str]] = {}
        """Where some values are refusals."""

    def value(self, schema: Any, where: str, path: Path | None, alone: bool, followed: tuple[str, ...]) -> None:
        """Visit a schema of the values at `path`, None where that cannot be told; `alone` where it is all that is said
        about them."""
        self._left -= 1
        if self._left < 0:
            raise GrammarError(f"schema at {where or '/'}: a schema with refusals has at most {_MAX_VISITS} places")
        if not isinstance(schema, dict):
            return
        if REFUSAL in schema:
            self._mark(schema, where, path, alone)
        for target, at in self._target(schema, where):
            if at in followed:
                self._cycles.update(followed[followed.index(at) :])
            else:
                self.value(target, at, path, alone, (*followed, at))
        for keyword in _BRANCHES:
            for index, branch in enumerate(schema.get(keyword, ())):
                self.value(branch, pointer(keyword, index, base=where), path, False, followed)
        for name, child in schema.get("properties", {}).items():
            self._property(child, pointer("properties", name, base=where), _step(path, name), followed)
        if "items" in schema:
            inside = None if "prefixItems" in schema else _step(path, None)
            self._property(schema["items"], pointer("items", base=where), inside, followed)
        for keyword in _UNTOLD:
            at = pointer(keyword, base=where)
            for child, place in _children(schema.get(keyword), at, single=keyword == "additionalProperties"):
                self.value(child, place, None, False, followed)

    def _property(self, schema: Any, where: str, path: Path | None, followed: tuple[str, ...]) -> None:
        marked = isinstance(schema, dict) and (
            REFUSAL in schema or any(REFUSAL in target for target, _ in self._target(schema, where))
        )
        if path is not None and not marked:
            self.plain.setdefault(path, where)
        self.value(schema, where, path, True, followed)

    def _target(self, schema: dict[str, Any], where: str) -> Iterator[tuple[dict[str, Any], str]]:
        """The definition that a schema refers to by its name, and its pointer."""
        if "$ref" not in schema:
            return
        hash_, _, rest = schema["$ref"].partition("/")
        container, _, name = rest.partition("/")
        name = name.replace("~1", "/").replace("~0", "~")
        if hash_ != "#" or container not in ("$defs", "definitions") or name not in self._root.get(container, {}):
            raise GrammarError(
                f"schema at {pointer('$ref', base=where)}: beside refusals references lead to #/$defs/NAME, not to "
                f"{schema['$ref']!r}"
            )
        if isinstance(definition := self._root[container][name], dict):
            yield definition, pointer(container, name)

    def recurs(self, where: str) -> bool:
        """Whether a schema stands in a definition that contains itself, whose places cannot all be visited."""
        return any((where + "/").startswith(at + "/") for at in self._cycles)

    def _mark(self, schema: dict[str, Any], where: str, path: Path | None, alone: bool) -> None:
        at = pointer(REFUSAL, base=where)
        self.reached.add(where)
        if path is None:
            raise GrammarError(f"schema at {at}: {_PLACES}")
        if not path:
            raise GrammarError(f"schema at {at}: nothing holds this value; mark a property")
        if not alone:
            literals = [schema["const"]] if "const" in schema else schema.get("enum", [0])
            if not all(literal is None or isinstance(literal, bool | str) for literal in literals):
                raise GrammarError(f"schema at {at}: among other values a refusal is a const or enum without numbers")
            known = self.constants.setdefault(path, [])
            known.extend(text for text in map(json_text, literals) if text not in known)
        elif _is_plain(schema):
            self.marked[path] = where
        else:
            raise GrammarError(f"schema at {at}: a refusal is a string, or another plain value: say so with type")


def _children(value: Any, where: str, *, single: bool) -> Iterator[tuple[Any, str]]:
    if single:
        yield value, where
    elif isinstance(value, list):
        yield from ((child, pointer(index, base=where)) for index, child in enumerate(value))
    elif isinstance(value, dict):
        yield from ((child, pointer(name, base=where)) for name, child in value.items())


def _step(path: Path | None, step: str | None) -> Path | None:
    return None if path is None else (*path, step)


def _is_plain(schema: Any) -> bool:
    """Whether a schema is seen to have no objects and arrays."""
    if not isinstance(schema, dict):
        return schema is False
    named = schema.get("type", ())
    types = {named} if isinstance(named, str) else set(named)
    literals = [schema["const"]] if "const" in schema else schema.get("enum", [])
    branches: list[Any] = next((schema[keyword] for keyword in _BRANCHES if keyword in schema), [])
    return (
        (bool(types) and types <= _SCALARS)
        or (bool(literals) and not any(isinstance(literal, dict | list) for literal in literals))
        or (bool(branches) and all(map(_is_plain, branches)))
    )
