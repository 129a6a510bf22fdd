"""One output on the ladder: rung after rung, up to the first that does not hold."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from evalspan.conformance.ladder.consistency import Consistency
from evalspan.conformance.ladder.errors import LadderError
from evalspan.conformance.ladder.grounding import Source
from evalspan.conformance.ladder.records import ABSENT, Line
from evalspan.conformance.ladder.validation import SchemaCheck
from evalspan.conformance.ladder.values import NotJson, equal, read_output
from evalspan.evaluators import Evaluators

__all__ = ["RUNGS", "Climb", "Ladder", "Rung"]

Rung = Literal["parses", "schema holds", "consistent", "grounded", "correct"]
"""What is asked of an output, the easier first."""

RUNGS: tuple[Rung, ...] = ("parses", "schema holds", "consistent", "grounded", "correct")
"""The ladder."""


@dataclass(frozen=True, slots=True)
class Climb:
    """How far one output came. `reason` says why it came no further; both are None where it holds all the way."""

    id: str
    number: int
    """Of its line."""
    asked: tuple[Rung, ...]
    """The rungs that could be asked; that is a matter of the input and never of the output."""
    failed: Rung | None
    reason: str | None

    def passes(self, rung: Rung) -> bool:
        """Whether it holds here and at every rung that was asked before."""
        return self.failed is None or RUNGS.index(rung) < RUNGS.index(self.failed)


class _Checks:
    """What is made once for each schema."""

    def __init__(self, schema: Any, evaluators: Evaluators) -> None:
        self._schema = schema
        self.consistency = Consistency(schema, evaluators)

    @cached_property
    def schema(self) -> SchemaCheck:
        return SchemaCheck(self._schema)


class Ladder:
    """The rungs over the evaluators of one registry, which should be references."""

    def __init__(self, evaluators: Evaluators) -> None:
        self._evaluators = evaluators
        self._checks: dict[str, _Checks] = {}

    def climb(self, lines: Iterable[Line]) -> Iterator[Climb]:
        """How far each line comes.

        Raises:
            LadderError: a schema cannot be used; the text names the line.
        """
        for line in lines:
            try:
                yield self._climb(line)
            except LadderError as error:
                raise LadderError(str(error), line.number) from None

    def _climb(self, line: Line) -> Climb:
        checks = self._checks_for(line.schema)
        asked: list[Rung] = ["parses"]
        if checks is not None:
            asked.append("schema holds")
            if checks.consistency.asked:
                asked.append("consistent")
        if line.source is not None:
            asked.append("grounded")
        if line.label is not ABSENT:
            asked.append("correct")
        try:
            value = read_output(line.output)
        except NotJson as error:
            return Climb(line.id, line.number, tuple(asked), "parses", str(error))
        for rung in asked[1:]:
            if (reason := self._fault(rung, line, value, checks)) is not None:
                return Climb(line.id, line.number, tuple(asked), rung, reason)
        return Climb(line.id, line.number, tuple(asked), None, None)

    def _fault(self, rung: Rung, line: Line, value: Any, checks: _Checks | None) -> str | None:
        if rung == "correct":
            return None if equal(value, line.label) else "it is not the label"
        if rung == "grounded":
            none: frozenset[tuple[str | int, ...]] = frozenset()
            computed = checks.consistency.computed(value) if checks else none
            expressions = checks.consistency.expressions(value) if checks else none
            missing = Source(line.source or "").missing(value, computed, expressions)
            return None if missing is None else f"{missing}: is not found in the source"
        if checks is None:
            raise ValueError("without a schema this is not asked")
        return checks.schema.fault(value) if rung == "schema holds" else checks.consistency.fault(value)

    def _checks_for(self, schema: Any) -> _Checks | None:
        if schema is None:
            return None
        key = json.dumps(schema, default=str)  # in the order of its properties, which matters
        if key not in self._checks:
            self._checks[key] = checks = _Checks(schema, self._evaluators)
            _ = checks.schema  # what is wrong with it shows before any output
        return self._checks[key]
