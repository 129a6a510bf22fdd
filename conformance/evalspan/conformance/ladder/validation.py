"""Whether a schema holds, by the `jsonschema` library: independent of the grammar, and kept from what it must not do.

The library matches patterns with a backtracking engine and divides numbers in floating point. Both are replaced:
outputs are a model's, and must neither hang the check nor slip through it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

from evalspan.conformance.ladder.errors import LadderError
from evalspan.conformance.ladder.records import schemas_inside
from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.json.engine import check_schema, json_text, matches
from evalspan.orchestrator.json.keywords import FORMATS, read_schema

__all__ = ["SchemaCheck"]

_LONGEST_FORMAT = 2_000  # characters: more than any address has, and few for the slowest of the library's parsers


class SchemaCheck:
    """A schema of draft 2020-12, formats asserted. References lead to places in it, never to the network."""

    def __init__(self, schema: Any) -> None:
        """Raises:
        LadderError: it is no schema, or has what cannot be checked; the library is not installed.
        """
        try:
            from jsonschema import Draft202012Validator, FormatChecker, SchemaError
            from jsonschema.validators import extend
            from referencing import Registry
        except ImportError:
            raise LadderError(
                "the schema rung needs the library jsonschema: pip install 'evalspan[conformance]'"
            ) from None
        try:
            # Patterns are checked below: Python's dialect, which the library would ask for, is not that of the draft.
            Draft202012Validator.check_schema(schema, format_checker=FormatChecker(()))
        except SchemaError as error:
            raise LadderError(f"the schema is none: {error.message} at /{'/'.join(map(str, error.path))}") from None
        except RecursionError:
            raise LadderError("the schema is nested too deep") from None
        self._refuse(schema)
        known = Draft202012Validator.FORMAT_CHECKER.checkers
        if missing := sorted(set(FORMATS) - set(known)):
            raise LadderError(
                f"the library jsonschema cannot check {', '.join(missing)}: pip install 'evalspan[conformance]'"
            )
        formats = FormatChecker(())
        formats.checkers = {name: (_bounded(known[name][0]), known[name][1]) for name in FORMATS}
        types = Draft202012Validator.TYPE_CHECKER.redefine_many({"integer": _is_integer, "number": _is_number})
        make: Any = extend  # the library has no types of its own
        validator = make(
            Draft202012Validator,
            {
                "pattern": _pattern,
                "patternProperties": _pattern_properties,
                "additionalProperties": _additional_properties,
                "multipleOf": _multiple_of,
            },
            type_checker=types,
        )
        self._validator: Any = validator(schema, format_checker=formats, registry=Registry())

    def fault(self, value: Any) -> str | None:
        """Where a value breaks the schema and how, None where it holds.

        Raises:
            LadderError: a reference of the schema leads nowhere.
        """
        from referencing.exceptions import Unresolvable

        try:
            error = next(self._validator.iter_errors(value), None)
        except RecursionError:
            return "it is nested too deep to be checked"
        except Unresolvable as unresolved:
            raise LadderError(f"the schema has a reference that leads nowhere: {unresolved.ref}") from None
        if error is None:
            return None
        return f"/{'/'.join(map(str, error.absolute_path))}: breaks {error.validator}"

    def _refuse(self, schema: Any) -> None:
        for part in schemas_inside(schema):
            name = part.get("format")
            if isinstance(name, str) and name not in FORMATS:
                raise LadderError(f"the format {name!r} is not checked; those that are: {', '.join(FORMATS)}")
            if "unevaluatedProperties" in part and any("patternProperties" in one for one in schemas_inside(schema)):
                raise LadderError("unevaluatedProperties beside patternProperties cannot be checked in linear time")
            patterns = part.get("patternProperties")
            names = list(patterns) if isinstance(patterns, dict) else []
            if isinstance(part.get("pattern"), str):
                names.append(part["pattern"])
            for pattern in names:
                try:
                    _searched(pattern)("")
                except GrammarError as error:
                    raise LadderError(f"the pattern {pattern!r} cannot be matched in linear time: {error}") from None


def _bounded(checker: Callable[[object], bool]) -> Callable[[object], bool]:
    def check(value: object) -> bool:
        return checker(value) if not isinstance(value, str) or len(value) <= _LONGEST_FORMAT else False

    return check


def _is_number(_: Any, value: object) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _is_integer(_: Any, value: object) -> bool:
    if isinstance(value, Decimal):
        return value == value.to_integral_value()
    return isinstance(value, int) and not isinstance(value, bool)


@lru_cache(maxsize=256)
def _searched(pattern: str) -> Callable[[str], bool]:
    """What searches for a pattern in linear time, with the meaning of ECMA-262."""
    schema, _ = read_schema({"type": "string", "pattern": pattern})
    check_schema(schema, "")
    return lambda text: matches(schema, json_text(text))


def _pattern(validator: Any, pattern: str, value: Any, schema: Any) -> Iterator[Any]:
    if validator.is_type(value, "string") and not _searched(pattern)(value):
        yield _broken("pattern")


def _pattern_properties(validator: Any, patterns: Mapping[str, Any], value: Any, schema: Any) -> Iterator[Any]:
    if not validator.is_type(value, "object"):
        return
    for pattern, part in patterns.items():
        for name, item in value.items():
            if _searched(pattern)(name):
                yield from validator.descend(item, part, path=name, schema_path=pattern)


def _additional_properties(validator: Any, rest: Any, value: Any, schema: Any) -> Iterator[Any]:
    if not validator.is_type(value, "object"):
        return
    for name, item in value.items():
        if name in schema.get("properties", {}):
            continue
        if any(_searched(pattern)(name) for pattern in schema.get("patternProperties", {})):
            continue
        yield from validator.descend(item, rest, path=name)


def _multiple_of(validator: Any, factor: Any, value: Any, schema: Any) -> Iterator[Any]:
    if validator.is_type(value, "number") and not _divides(Decimal(factor), Decimal(value)):
        yield _broken("multipleOf")


def _divides(factor: Decimal, value: Decimal) -> bool:
    """Exactly, and in little time whatever the exponents are."""
    _, digits, exponent = value.as_tuple()
    _, factor_digits, factor_exponent = factor.as_tuple()
    whole, divisor = int(Decimal((0, digits, 0))), int(Decimal((0, factor_digits, 0)))
    shift = int(exponent) - int(factor_exponent)
    if not whole:
        return True
    if shift >= 0:
        return whole * pow(10, shift, divisor) % divisor == 0
    # A number is no multiple of a larger one.
    return -shift < len(digits) and whole % (divisor * 10**-shift) == 0


def _broken(keyword: str) -> Any:
    from jsonschema import ValidationError

    return ValidationError(json.dumps(keyword))
