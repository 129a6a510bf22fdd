"""The grammar: a JSON Schema as one text for the grammar engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalspan.orchestrator.grammar import Compilation, Marks
from evalspan.orchestrator.json.engine import check_schema, json_text, lark_json
from evalspan.orchestrator.json.keywords import Formats, read_schema
from evalspan.orchestrator.lark import LarkWriter
from evalspan.policies import Registry

__all__ = ["JsonSchema"]


class JsonSchema:
    """Output that is one JSON value of a schema."""

    def __init__(self, schema: Mapping[str, Any] | bool, *, formats: Formats = "assertion") -> None:
        """Raises:
        GrammarError: the schema has a keyword that cannot be enforced; the text has its pointer.
        """
        self._schema, self._found = read_schema(schema, formats)
        self._text = json_text(self._schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JsonSchema) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def compile(self, registry: Registry, marks: Marks | None) -> Compilation:
        """See `Grammar.compile`."""
        writer = LarkWriter(registry, marks)
        check_schema(self._schema, "")
        writer.rule("start", lark_json(self._schema))
        return Compilation(writer.lark(), inert=True)
