"""The keywords that a schema may have: an allow-list, so that nothing the grammar engine would overlook reaches it.

`read_schema` answers a copy in which annotations are left out, numbers have one spelling and patterns are in the
engine's dialect. Whatever else stands in a schema is refused with its place.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Literal, get_args
from urllib.parse import urldefrag, urljoin

from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.json.patterns import MAX_COUNT, engine_pattern

__all__ = [
    "ANNOTATIONS",
    "ASSERT",
    "BIND",
    "ENFORCED",
    "FORMATS",
    "MAX_NUMBER",
    "REFUSAL",
    "REFUSED",
    "TYPES",
    "Formats",
    "Schema",
    "SchemaText",
    "pointer",
    "read_schema",
]

Schema = dict[str, Any] | bool
"""A schema as `read_schema` answers it."""

Formats = Literal["assertion", "annotation"]
"""What `format` does: text must be of the format, one that is not known being refused; or nothing."""

BIND, ASSERT, REFUSAL = "x-evalspan", "x-evalspan-assert", "x-evalspan-refusal"

DIALECT = "https://json-schema.org/draft/2020-12/schema"

MAX_NUMBER = 2**53
"""The engine reads numbers as binary floating point: beyond this, integers run together."""

_MAX_DECIMALS = 15  # digits after the point that binary floating point keeps
_MAX_MULTIPLE = 100_000
"""The least common multiple of all `multipleOf`, as decimal digits without the point and the zeros around them: the
engine has a state for each remainder, and compiles these in half a second."""

_MAX_BYTES = 1_048_576  # of a schema as text; those of large applications have some 100 KiB
_MAX_DEPTH = 64  # schemas inside one another; Python's stack and the engine's hold many times more

TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")

FORMATS = ("date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid")
"""The formats that the engine knows."""

ANNOTATIONS = (
    *("$comment", "$schema", "contentEncoding", "contentMediaType", "contentSchema", "default", "deprecated"),
    *("description", "examples", "readOnly", "title", "writeOnly"),
)
"""Keywords that say something to people and constrain nothing. `$schema` may only name draft 2020-12."""

REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "$dynamicAnchor": "references are followed by name only: use $anchor",
        "$dynamicRef": "references are followed by name only: use $ref",
        "$recursiveAnchor": "of draft 2019-09",
        "$recursiveRef": "of draft 2019-09: use $ref",
        "$vocabulary": "of meta-schemas",
        "additionalItems": "of draft 2019-09: use items beside prefixItems",
        "contains": "the engine cannot count the items that match",
        "dependencies": "of draft 7",
        "dependentRequired": "properties cannot depend on one another",
        "dependentSchemas": "properties cannot depend on one another",
        "else": "there are no conditions: use anyOf",
        "id": "of draft 4: use $id",
        "if": "there are no conditions: use anyOf",
        "maxContains": "the engine cannot count the items that match",
        "minContains": "the engine cannot count the items that match",
        "not": "the engine cannot negate a schema",
        "propertyNames": "use patternProperties with additionalProperties false",
        "then": "there are no conditions: use anyOf",
        "unevaluatedItems": "use items",
        "unevaluatedProperties": "use additionalProperties",
        "uniqueItems": "the engine cannot compare items",
        "x-guidance": "the engine's own options are set here",
    }
)
"""Keywords that the engine cannot enforce, and what there is instead."""


class SchemaText:
    """What one reading of a schema has found beside its keywords."""

    def __init__(self, formats: Formats) -> None:
        self.formats = formats
        self.extensions: list[str] = []
        """Pointers of the schemas that have an `x-evalspan` or `x-evalspan-assert`."""
        self.refusals: list[str] = []
        """Pointers of the schemas that have an `x-evalspan-refusal`."""
        self.references: list[tuple[str, str]] = []
        """Pointers of the schemas that have a `$ref`, and its address without the fragment."""
        self.resources = {""}
        self.multiple: Fraction | None = None
        """The least common multiple of all `multipleOf`; None while there is none."""
        self.named: list[str] = []
        """Pointers of `$id` and `$anchor`."""


def pointer(*steps: str | int, base: str = "") -> str:
    """The JSON pointer `base` with more steps."""
    return base + "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def read_schema(schema: Mapping[str, Any] | bool, formats: Formats = "assertion") -> tuple[Schema, SchemaText]:
    """The schema in the form described above.

    Raises:
        GrammarError: it is no schema, or has a keyword that cannot be enforced; the text has the keyword's pointer.
    """
    if formats not in get_args(Formats):
        raise GrammarError(f"formats must be one of {', '.join(get_args(Formats))}, got {formats!r}")
    try:
        text = json.dumps(schema, allow_nan=False, ensure_ascii=False)
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise GrammarError(f"the schema is no JSON: {error}") from None
    if size > _MAX_BYTES:
        raise GrammarError(f"the schema has {size} bytes, the limit is {_MAX_BYTES}")
    found = SchemaText(formats)
    read = _schema(json.loads(text), "", "", 0, found)
    for where, address in found.references:
        if address not in found.resources:
            raise _refused(where, "$ref", f"leads to {address!r}, which is not in this schema")
    return read, found


def _refused(where: str, keyword: str, reason: str) -> GrammarError:
    return GrammarError(f"schema at {pointer(keyword, base=where)}: {reason}")


def _schema(schema: Any, where: str, base: str, depth: int, found: SchemaText) -> Schema:
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, dict):
        raise GrammarError(f"schema at {where or '/'}: a schema is an object, true or false")
    if depth > _MAX_DEPTH:
        raise GrammarError(f"schema at {where}: schemas are more than {_MAX_DEPTH} deep in one another")
    if (address := schema.get("$id")) is not None and isinstance(address, str):
        base = urljoin(base, urldefrag(address).url)
        found.resources |= {base, urldefrag(address).url}
    out: dict[str, Any] = {}
    for keyword, value in schema.items():
        place = pointer(keyword, base=where)
        if keyword in REFUSED and not (keyword == "uniqueItems" and value is False):
            raise _refused(where, keyword, f"{keyword} cannot be enforced: {REFUSED[keyword]}")
        if keyword in ANNOTATIONS or keyword == "uniqueItems":
            if keyword == "$schema" and value not in (DIALECT, DIALECT + "#"):
                raise _refused(where, keyword, f"only {DIALECT} is known")
        elif keyword in _SUBSCHEMAS:
            out[keyword] = _SUBSCHEMAS[keyword](
                value, place, lambda item, at: _schema(item, at, base, depth + 1, found)
            )
        elif keyword in _VALUES:
            out[keyword] = _VALUES[keyword](value, place)
            if keyword == "multipleOf":
                found.multiple = _common_multiple(found.multiple, Fraction(repr(out[keyword])))
                if _digits(found.multiple) > _MAX_MULTIPLE:
                    reason = "it and the others have a common multiple of more than"
                    raise _refused(where, keyword, f"{reason} {_MAX_MULTIPLE}, the point and zeros at the ends aside")
        elif keyword == "$ref":
            found.references.append((where, urldefrag(urljoin(base, _text(value, place))).url))
            out[keyword] = value
        elif keyword == "format":
            if found.formats == "assertion":
                if value not in FORMATS:
                    known = ", ".join(FORMATS)
                    raise _refused(where, keyword, f"{value!r} is no format that can be enforced; those are {known}")
                out[keyword] = value
        elif keyword in ("$id", "$anchor"):
            found.named.append(place)
            out[keyword] = _text(value, place)
        elif keyword in (BIND, ASSERT):
            found.extensions.append(where)
            out[keyword] = value
        elif keyword == REFUSAL:
            if value is not True:
                raise _refused(where, keyword, "must be true")
            found.refusals.append(where)
            out[keyword] = value
        else:
            raise _refused(where, keyword, "no keyword of JSON Schema 2020-12 that can be enforced has this name")
    _check_counts(out, where)
    return out


def _check_counts(schema: dict[str, Any], where: str) -> None:
    for low, high in (("minLength", "maxLength"), ("minItems", "maxItems"), ("minProperties", "maxProperties")):
        if schema.get(low, 0) > schema.get(high, MAX_COUNT):
            raise _refused(where, low, f"is above {high}")
    # The engine counts names that are written twice as two, a reader as one.
    if schema.get("minProperties", 0) > max(1, len(schema.get("required", ()))):
        raise _refused(where, "minProperties", "more than 1 can be enforced only where as many are required")


_Each = Callable[[Any, str], Schema]


def _one(value: Any, place: str, each: _Each) -> Any:
    return each(value, place)


def _many(value: Any, place: str, each: _Each) -> Any:
    if not isinstance(value, list) or not value:
        raise GrammarError(f"schema at {place}: must be an array of schemas that is not empty")
    return [each(item, pointer(index, base=place)) for index, item in enumerate(value)]


def _named(value: Any, place: str, each: _Each) -> Any:
    if not isinstance(value, dict):
        raise GrammarError(f"schema at {place}: must be an object of schemas")
    return {_text(name, place): each(item, pointer(name, base=place)) for name, item in value.items()}


def _patterned(value: Any, place: str, each: _Each) -> Any:
    read = _named(value, place, each)
    return {_pattern(name, pointer(name, base=place)): item for name, item in read.items()}


_SUBSCHEMAS: Mapping[str, Callable[[Any, str, _Each], Any]] = MappingProxyType(
    {
        **dict.fromkeys(("additionalProperties", "items"), _one),
        **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), _many),
        **dict.fromkeys(("$defs", "definitions", "properties"), _named),
        "patternProperties": _patterned,
    }
)


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise GrammarError(f"schema at {place}: must be a string")
    return value


def _pattern(value: Any, place: str) -> str:
    try:
        return engine_pattern(_text(value, place))
    except ValueError as error:
        raise GrammarError(f"schema at {place}: {value!r} is no pattern that can be enforced: {error}") from None


def _count(value: Any, place: str) -> int:
    number = _number(value, place)
    if not isinstance(number, int) or not 0 <= number <= MAX_COUNT:
        raise GrammarError(f"schema at {place}: must be an integer from 0 to {MAX_COUNT}, got {value}")
    return number


def _number(value: Any, place: str) -> int | float:
    """The number in its one spelling: without a fraction where it has none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise GrammarError(f"schema at {place}: must be a number")
    if abs(value) > MAX_NUMBER:
        raise GrammarError(f"schema at {place}: numbers over {MAX_NUMBER} (2**53) cannot be enforced exactly")
    if value == int(value):
        return int(value)
    if (Fraction(repr(value)) * 10**_MAX_DECIMALS).denominator != 1:
        raise GrammarError(f"schema at {place}: more than {_MAX_DECIMALS} decimals cannot be enforced exactly")
    return value


def _factor(value: Any, place: str) -> int | float:
    number = _number(value, place)
    if number <= 0:
        raise GrammarError(f"schema at {place}: must be above 0")
    return number


def _common_multiple(one: Fraction | None, other: Fraction) -> Fraction:
    """The least common multiple of two numbers."""
    if one is None:
        return other
    return Fraction(math.lcm(one.numerator, other.numerator), math.gcd(one.denominator, other.denominator))


def _digits(number: Fraction) -> int:
    """The digits of a decimal number as an integer, without zeros at its ends: these cost the engine nothing."""
    while number.denominator > 1:
        number *= 10
    digits = number.numerator
    while digits % 10 == 0:
        digits //= 10
    return digits


def _types(value: Any, place: str) -> Any:
    names = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(name, str) and name in TYPES for name in names):
        raise GrammarError(f"schema at {place}: must be one or more of {', '.join(TYPES)}")
    return value


def _names(value: Any, place: str) -> list[str]:
    if not isinstance(value, list):
        raise GrammarError(f"schema at {place}: must be an array of strings")
    return list(dict.fromkeys(_text(name, place) for name in value))


def _literal(value: Any, place: str) -> Any:
    """A value that the output may have to equal."""
    if isinstance(value, dict):
        return {_spelt(name, place): _literal(item, pointer(name, base=place)) for name, item in value.items()}
    if isinstance(value, list):
        return [_literal(item, pointer(index, base=place)) for index, item in enumerate(value)]
    if isinstance(value, str):
        return _spelt(value, place)
    return value if value is None or isinstance(value, bool) else _number(value, place)


def _spelt(text: str, place: str) -> str:
    if any(char not in "\b\f\n\r\t" and (char < " " or char == "\x7f") for char in text):
        raise GrammarError(f"schema at {place}: has a control character that strings here cannot have")
    return text


def _literals(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise GrammarError(f"schema at {place}: must be an array that is not empty")
    return [_literal(item, pointer(index, base=place)) for index, item in enumerate(value)]


_VALUES: Mapping[str, Callable[[Any, str], Any]] = MappingProxyType(
    {
        **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _count),
        **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _number),
        "multipleOf": _factor,
        "pattern": _pattern,
        "type": _types,
        "required": _names,
        "const": _literal,
        "enum": _literals,
    }
)

_PLAIN: Iterable[str] = ("$anchor", "$id", "$ref", "format")

ENFORCED = tuple(sorted({*_SUBSCHEMAS, *_VALUES, *_PLAIN}))
"""The keywords that are enforced, or that say where a schema is."""
