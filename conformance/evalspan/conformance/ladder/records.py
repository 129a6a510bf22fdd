"""The lines of a ladder's file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalspan.conformance.ladder.errors import LadderError
from evalspan.conformance.ladder.values import NotJson, read_json

__all__ = ["ABSENT", "Line", "read_lines", "read_schema_file", "schemas_inside"]

_KEYS = ("id", "output", "schema", "source", "label")

_NAMED_VALUES = ("const", "enum", "default", "examples")


class _Absent:
    """What a line does not have: a label may be null."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Any = _Absent()
"""The label of a line that has none."""


@dataclass(frozen=True, slots=True)
class Line:
    """One output of a model, with what it is held against; what is not there is not asked."""

    number: int
    """Of the line in its file, from 1."""
    id: str
    output: str
    schema: Any = None
    source: str | None = None
    label: Any = ABSENT


def read_lines(path: Path, schema: Any = None) -> list[Line]:
    """The lines `{"id", "output", "schema"?, "source"?, "label"?}` of a JSONL file. `schema` is for those without.

    Raises:
        LadderError: the file cannot be read, is empty, or a line is malformed; the text names it.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LadderError(f"{path}: cannot be read: {error.strerror}") from None
    lines: list[Line] = []
    seen: dict[str, int] = {}
    for number, raw in enumerate(data.split(b"\n"), 1):
        if not raw.strip():
            continue
        try:
            record = read_json(raw.decode())
        except UnicodeDecodeError as error:
            raise LadderError(f"is no UTF-8: {error.reason} at byte {error.start}", number) from None
        except NotJson as error:
            raise LadderError(f"is no JSON: {error}", number) from None
        line = _line(record, number, schema)
        if line.id in seen:
            raise LadderError(f"the id {line.id!r} is that of line {seen[line.id]} too", number)
        seen[line.id] = number
        lines.append(line)
    if not lines:
        raise LadderError(f"{path}: holds no lines: there is nothing to measure")
    return lines


def _line(record: Any, number: int, schema: Any) -> Line:
    if not isinstance(record, dict):
        raise LadderError('must be an object with "id" and "output"', number)
    if unknown := sorted(set(record) - set(_KEYS)):
        raise LadderError(f"has the unknown key {unknown[0]!r}; known: {', '.join(_KEYS)}", number)
    for key in ("id", "output"):
        if not isinstance(record.get(key), str):
            raise LadderError(f'"{key}" must be there and a string', number)
    if not isinstance(record.get("source", ""), str):
        raise LadderError('"source" must be a string', number)
    if not isinstance(record.get("schema", True), dict | bool):
        raise LadderError('"schema" must be an object, true or false', number)
    return Line(
        number,
        record["id"],
        record["output"],
        record.get("schema", schema),
        record.get("source"),
        record.get("label", ABSENT),
    )


def read_schema_file(path: Path) -> Any:
    """The schema in a file.

    Raises:
        LadderError: it cannot be read, or is no schema.
    """
    try:
        schema = read_json(path.read_text("utf-8"))
    except OSError as error:
        raise LadderError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:  # no UTF-8, or no JSON
        raise LadderError(f"{path}: is no JSON: {error}") from None
    if not isinstance(schema, dict | bool):
        raise LadderError(f"{path}: a schema is an object, true or false")
    return schema


def schemas_inside(schema: Any) -> Iterator[dict[str, Any]]:
    """Every object in a schema that may be a schema; values that it only names are left out."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting += [value for keyword, value in part.items() if keyword not in _NAMED_VALUES]
        elif isinstance(part, list):
            waiting += part
