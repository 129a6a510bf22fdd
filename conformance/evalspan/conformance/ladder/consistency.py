"""Whether an output agrees with itself: bound values and assertions, evaluated again by the reference.

What is bound to what is read from the schema by the same code as when it was compiled; the values are the document's
own, and the evaluators are the references in Python, which share no code with the modules that may have computed it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from evalspan.conformance.ladder.errors import LadderError
from evalspan.conformance.ladder.records import schemas_inside
from evalspan.conformance.ladder.values import equal, json_text, read_output
from evalspan.evaluators import EvaluatorError, Evaluators, Failure, Value
from evalspan.orchestrator import GrammarError, JsonSchema
from evalspan.orchestrator.json.bindings import Bound, assertions, bound
from evalspan.orchestrator.json.keywords import ASSERT, BIND, read_schema
from evalspan.orchestrator.json.places import places
from evalspan.orchestrator.json.tracker import Assertion
from evalspan.orchestrator.json.values import Misfit

__all__ = ["Consistency", "Path", "leaves"]

Path = tuple[str | int, ...]
"""Where a value stands in a document."""


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value that is no object and no array, in the order of the document."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from leaves(item, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path, value


def _at(value: Any, shape: tuple[str | int | None, ...], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The values at the path of a schema, in which None is every item of an array; none where the path is not there."""
    if not shape:
        yield path, value
        return
    step, rest = shape[0], shape[1:]
    if isinstance(value, list):
        for index, item in enumerate(value):
            if step is None or str(index) == str(step):
                yield from _at(item, rest, (*path, index))
    elif isinstance(value, dict) and isinstance(step, str) and step in value:
        yield from _at(value[step], rest, (*path, step))


class _Document:
    """A document as templates look at it: every value as the JSON text that it was written with."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def values(self, base: tuple[Any, ...], steps: tuple[Any, ...]) -> list[str]:
        found = [self._value]
        for step in (*base, *steps):
            if step is None:
                found = [item for array in found for item in array]
            else:
                found = [value[int(step) if isinstance(value, list) else step] for value in found]
        return [json_text(value) for value in found]


class Consistency:
    """The bound values and assertions of a schema."""

    def __init__(self, schema: Any, evaluators: Evaluators) -> None:
        """Raises:
        LadderError: they are not well formed, or the schema has what cannot be enforced.
        """
        self._evaluators = evaluators
        self._bound: list[tuple[tuple[Any, ...], Bound]] = []
        self._assertions: list[tuple[tuple[Any, ...], Assertion]] = []
        self.asked = any(BIND in part or ASSERT in part for part in schemas_inside(schema))
        """Whether there are any."""
        if not self.asked:
            return
        text = json.dumps(schema, default=float, ensure_ascii=False)  # fractions of a schema have 15 digits at most
        registry = evaluators.registry
        try:
            JsonSchema.parse(text).compile(registry, None)
            tree = places(read_schema(json.loads(text))[0])
            for place in tree.all():
                if BIND in place.schema:
                    self._bound.append((place.path, bound(tree, place, registry)))
                self._assertions += assertions(tree, place, registry)
        except GrammarError as error:
            raise LadderError(str(error)) from None

    def fault(self, value: Any) -> str | None:
        """The pointer of the first field that is not what it should be, and what it should be; None where all are.

        `value` holds its schema.

        Raises:
            LadderError: an evaluator has no reference.
        """
        document = _Document(value)
        for shape, field in self._bound:
            for path, written in _at(value, shape):
                wanted = self._wanted(field, document, path)
                if wanted is None:
                    return f"{_pointer(path)}: the evaluation has no value that may stand here"
                if not equal(written, read_output(wanted)):
                    return f"{_pointer(path)}: is {json_text(written)}, should be {wanted}"
        for shape, assertion in self._assertions:
            for path, _ in _at(value, shape):
                if (answer := self._answer(assertion, document, path)) != "true":
                    return f"{_pointer(path)}: an assertion answers {answer!r}"
        return None

    def computed(self, value: Any) -> frozenset[Path]:
        """Where the document has values that an evaluator computes."""
        return frozenset(path for shape, _ in self._bound for path, _ in _at(value, shape))

    def expressions(self, value: Any) -> frozenset[Path]:
        """Where the document has texts that are evaluated as they are."""
        found: set[Path] = set()
        for shape, field in self._bound:
            if field.template.style != "raw":
                continue
            for path, _ in _at(value, shape):
                for slot in field.template.slots:
                    found.update(at for at, _ in _at(value, (*slot.base(path[:-1]), *slot.steps)))
        return frozenset(found)

    def _wanted(self, field: Bound, document: _Document, path: Path) -> str | None:
        """The JSON text that a bound field should have; None where the engine would not have gone on."""
        instance = field.template.instance(document, path[:-1])
        outcome = instance if isinstance(instance, Failure) else self._evaluated(field.evaluator, instance)
        if isinstance(outcome, Value):
            try:
                return field.rule.written(outcome.text)
            except Misfit:
                pass  # as after an error
        return "null" if field.rule.nullable else None

    def _answer(self, assertion: Assertion, document: _Document, path: Path) -> str:
        instance = assertion.template.instance(document, path[: assertion.holder])
        outcome = instance if isinstance(instance, Failure) else self._evaluated(assertion.evaluator, instance)
        return outcome.text if isinstance(outcome, Value) else str(outcome.code)

    def _evaluated(self, name: str, text: str) -> Value | Failure:
        try:
            return self._evaluators.evaluate_bound(name, text.encode())
        except EvaluatorError as error:
            raise LadderError(f"the evaluator {name!r} cannot be asked again: {error}") from None


def _pointer(path: Path) -> str:
    return "/" + "/".join(map(str, path))
