"""Whether a result fits the schema of the field that it is bound to, and how it is written there."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from evalspan.orchestrator.json.engine import json_text, matches

__all__ = ["FieldRule", "Misfit"]

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")  # no character can be matched in two ways: it cannot backtrack
_STRING_KEYWORDS = ("format", "maxLength", "minLength", "pattern")


class Misfit(Exception):
    """Why a result does not fit; it never quotes the result."""


@dataclass(frozen=True, slots=True)
class FieldRule:
    """The type and the constraints of a bound field: `schema` is the text of its schema, without evalspan's keywords.

    Numbers are compared exactly as decimals, so a result of 482 is the constant 482.0; the engine's floating point
    has no say. What is forced is the result's own canonical text.
    """

    type: str
    nullable: bool
    schema: str

    @property
    def shape(self) -> dict[str, Any]:
        """What the grammar demands of the field: its type. The constraints are checked here, before it is forced."""
        return {"type": [self.type, "null"] if self.nullable else self.type}

    def written(self, result: str) -> str:
        """The JSON text of a result.

        Raises:
            Misfit: it has another type, or breaks a constraint.
        """
        schema = json.loads(self.schema)
        if self.type == "string":
            text = json_text(result)
            wanted = {"type": "string", **{key: schema[key] for key in _STRING_KEYWORDS if key in schema}}
            if not matches(wanted, text):
                raise Misfit(f"the result breaks {' or '.join(key for key in wanted if key != 'type') or 'the type'}")
            self._check_literals(schema, result)
            return text
        if self.type == "boolean":
            if result not in ("true", "false"):
                raise Misfit("the result is not true or false")
            self._check_literals(schema, result == "true")
            return result
        if _NUMBER.fullmatch(result) is None:
            raise Misfit("the result is not a number")
        number = Fraction(result)
        if self.type == "integer" and number.denominator != 1:
            raise Misfit("the result is not an integer")
        _check_bounds(schema, number)
        self._check_literals(schema, number)
        return result

    def _check_literals(self, schema: dict[str, Any], result: str | bool | Fraction) -> None:
        for keyword, allowed in (("const", [schema.get("const")]), ("enum", schema.get("enum", []))):
            if keyword in schema and not any(_equal(value, result) for value in allowed):
                raise Misfit(f"the result is not in {keyword}")


def _equal(value: Any, result: str | bool | Fraction) -> bool:
    if isinstance(result, Fraction):
        return isinstance(value, int | float) and not isinstance(value, bool) and Fraction(repr(value)) == result
    return type(value) is type(result) and value == result


def _check_bounds(schema: dict[str, Any], number: Fraction) -> None:
    limits = {
        keyword: Fraction(repr(schema[keyword]))
        for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
        if keyword in schema
    }
    for keyword, limit in limits.items():
        kept = {
            "minimum": number >= limit,
            "maximum": number <= limit,
            "exclusiveMinimum": number > limit,
            "exclusiveMaximum": number < limit,
            "multipleOf": keyword == "multipleOf" and (number / limit).denominator == 1,
        }[keyword]
        if not kept:
            raise Misfit(f"the result breaks {keyword} {schema[keyword]}")
