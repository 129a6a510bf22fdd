"""Bound fields and assertions of a schema: read, checked, and what they force."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from evalspan.evaluators import Failure
from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.events import Evaluated, Failed, InjectionKind
from evalspan.orchestrator.grammar import Resolved, Written
from evalspan.orchestrator.json.engine import json_text
from evalspan.orchestrator.json.keywords import ASSERT, BIND, REFUSAL, pointer
from evalspan.orchestrator.json.places import Path, Place
from evalspan.orchestrator.json.references import end_of, referred
from evalspan.orchestrator.json.templates import Style, Template, parse_slot, parse_template
from evalspan.orchestrator.json.tracker import Assertion, JsonTracker
from evalspan.orchestrator.json.values import FieldRule, Misfit
from evalspan.policies import ErrorCode, Registry, RegistryError

__all__ = ["Bound", "assertions", "bound"]

_STYLES: dict[str | None, Style] = {
    "arithmetic/1": "arithmetic",
    "dates/1": "dates",
    "strings/1": "strings",
    "checksums/1": "checksums",
}

_TAKES: dict[Style, tuple[str, ...]] = {
    "arithmetic": ("integer", "number"),
    "dates": ("integer", "string"),
    "strings": ("integer", "string"),
    "checksums": ("string",),
    "module": ("integer", "number", "string"),
    "raw": ("integer", "number", "string"),
}
"""The types that an evaluator has literals for."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A field whose value the engine forces. `span` is the pointer of the field, `*` for the items of an array."""

    kind: ClassVar[InjectionKind] = "bound"

    span: str
    evaluator: str
    template: Template
    rule: FieldRule

    def resolve(self, written: Written) -> Resolved:
        """The value with the space before it; `null` for an error where the schema allows it, else nothing."""
        tracker = written.observer
        if not isinstance(tracker, JsonTracker):
            raise TypeError("a bound value needs the tracker of its schema")
        path = tracker.path
        at = pointer(*(step for step in path if step is not None))
        instance = self.template.instance(tracker, path[:-1])
        if isinstance(instance, Failure):
            return self._failure(at, "", instance, 0.0)
        outcome, microseconds = written.evaluate(self.evaluator, instance.encode())
        if isinstance(outcome, Failure):
            return self._failure(at, instance, outcome, microseconds)
        try:
            text = self.rule.written(outcome.text)
        except Misfit as misfit:
            return self._failure(at, instance, Failure(ErrorCode.REFUSED, str(misfit), fuel=outcome.fuel), microseconds)
        value = Evaluated(at, self.evaluator, instance, outcome.text, outcome.exact, outcome.fuel, microseconds)
        return Resolved(f" {text}", (value,), at)

    def _failure(self, at: str, text: str, failure: Failure, microseconds: float) -> Resolved:
        failed = Failed(
            at, self.evaluator, text, failure.code, failure.message, failure.offset, failure.fuel, microseconds
        )
        return Resolved(" null" if self.rule.nullable else None, (failed,), at)


def bound(root: Place, place: Place, registry: Registry) -> Bound:
    """The binding of a place whose schema has one; what it refers to is marked as needed.

    Raises:
        GrammarError: it is not well formed, or refers to what is not there yet; the text has its pointer.
    """
    where = pointer(BIND, base=place.where)
    if REFUSAL in place.schema:
        raise GrammarError(f"schema at {where}: a refusal is the model's own; a bound field cannot be one")
    if place.kind != "value" or place.parent is None or place.parent.kind != "object":
        raise GrammarError(f"schema at {where}: only a property can be bound; this one {place.obstacle or 'is none'}")
    table = _table(place.schema[BIND], where, ("evaluator", "input", "template"))
    if ("input" in table) == ("template" in table):
        raise GrammarError(f"schema at {where}: needs exactly one of input and template")
    evaluator, style = _evaluator(table, where, registry)
    if "input" in table:
        slot = parse_slot(table["input"], where)
        if None in slot.steps:
            raise GrammarError(f"schema at {where}: an input is one value; a template takes those of an array")
        template = Template((slot,), "raw")
    else:
        template = parse_template(table["template"], style, where)
    for slot in template.slots:
        _check_type(referred(root, place, slot, where), template.style, where)
    place.mark()
    return Bound(_span(place.path), evaluator, template, _rule(place, where))


def assertions(root: Place, place: Place, registry: Registry) -> Iterator[tuple[Path, Assertion]]:
    """The assertions of a place, each with the path whose completion it waits for; as `bound` otherwise."""
    given = place.schema.get(ASSERT)
    listed = given if isinstance(given, list) else [given] if given is not None else []
    for index, item in enumerate(listed):
        where = pointer(ASSERT, *([index] if isinstance(given, list) else []), base=place.where)
        table = _table(item, where, ("evaluator", "template", "on_violation"))
        if "template" not in table:
            raise GrammarError(f"schema at {where}: needs a template")
        if table.get("on_violation", "report") not in ("report", "stop"):
            raise GrammarError(f'schema at {where}: on_violation must be "report" or "stop"')
        evaluator, style = _evaluator(table, where, registry)
        if style == "arithmetic":
            raise GrammarError(f"schema at {where}: arithmetic/1 has no answer true; dates, strings and checksums have")
        template = parse_template(table["template"], style, where)
        targets = [referred(root, place, slot, where, inside=True) for slot in template.slots]
        for target in targets:
            _check_type(target, style, where)
        place.mark()
        holder = len(place.path) - (0 if place.kind == "object" else 1)
        if holder < 0:
            raise GrammarError(f"schema at {where}: nothing holds this value; assert an object or a property")
        yield end_of(place, targets), Assertion(evaluator, template, holder, table.get("on_violation") == "stop")


def _table(value: Any, where: str, keys: tuple[str, ...]) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise GrammarError(f"schema at {where}: must be an object of strings: {', '.join(keys)}")
    if unknown := sorted(set(value) - set(keys)):
        raise GrammarError(f"schema at {where}: {unknown[0]!r} is unknown; there are {', '.join(keys)}")
    return value


def _evaluator(table: dict[str, str], where: str, registry: Registry) -> tuple[str, Style]:
    if "evaluator" not in table:
        raise GrammarError(f"schema at {where}: needs an evaluator")
    try:
        entry = registry.evaluator(table["evaluator"])
    except RegistryError as error:
        raise GrammarError(f"schema at {where}: {error}") from None
    return entry.name, _STYLES.get(entry.builtin, "module")


def _check_type(place: Place, style: Style, where: str) -> None:
    types = [name for name in place.types if name != "null"]
    if place.kind != "value" or len(types) != 1 or types[0] not in _TAKES[style]:
        wanted = " or ".join(_TAKES[style])
        hint = "; as an input a string is the expression" if types == ["string"] and style == "arithmetic" else ""
        at = place.where or "/"
        raise GrammarError(f"schema at {where}: what stands at {at} must have the one type {wanted} here{hint}")


def _rule(place: Place, where: str) -> FieldRule:
    types = [name for name in place.types if name != "null"]
    if len(types) != 1 or types[0] in ("array", "object"):
        raise GrammarError(f"schema at {where}: a bound field has one type: integer, number, string or boolean")
    schema = {key: value for key, value in place.schema.items() if key not in (BIND, ASSERT, REFUSAL)}
    nullable = "null" in place.types
    for keyword, values in (("const", [schema.get("const")]), ("enum", schema.get("enum"))):
        nullable = nullable and (keyword not in schema or None in (values or []))
    return FieldRule(types[0], nullable, json_text(schema))


def _span(path: Path) -> str:
    return pointer(*("*" if step is None else step for step in path))
