"""JSON with exact numbers: every number of an output is a decimal that remembers how it was written."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

__all__ = ["NotJson", "Number", "equal", "json_text", "read_json", "read_output"]


class NotJson(ValueError):
    """A text that is no JSON value; says why."""


class Number(Decimal):
    """A number by its value, and its text."""

    text: str

    def __new__(cls, text: str) -> Number:
        number = super().__new__(cls, text)
        number.text = text
        return number


def read_json(text: str) -> Any:
    """A value of JSON whose fractions are decimals.

    Raises:
        NotJson: it is none, has a name twice in an object, or a number that is out of all range.
    """
    return _read(text, int, Decimal)


def read_output(text: str) -> Any:
    """As `read_json`; every number is a `Number`."""
    return _read(text, Number, Number)


def _read(text: str, whole: Any, fraction: Any) -> Any:
    try:
        return json.loads(
            text, parse_int=whole, parse_float=fraction, parse_constant=_no_number, object_pairs_hook=_once
        )
    except RecursionError:
        raise NotJson("it is nested too deep") from None
    except InvalidOperation:
        raise NotJson("a number's exponent is out of range") from None
    except ValueError as error:
        raise NotJson(str(error)) from None


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for name, value in pairs:
        if name in table:
            raise ValueError(f"the name {name!r} is there twice in an object")
        table[name] = value
    return table


def json_text(value: Any) -> str:
    """The JSON text of a value that is no array and no object; of a number as it was written."""
    if isinstance(value, Number):
        return value.text
    return json.dumps(value, ensure_ascii=False)


def equal(value: Any, wanted: Any) -> bool:
    """Whether an output has what a label says: numbers by value, texts and words exactly, arrays item by item, and of
    an object the fields that the label names."""
    if isinstance(wanted, dict):
        return isinstance(value, dict) and all(
            name in value and equal(value[name], part) for name, part in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(value, list)
            and len(value) == len(wanted)
            and all(equal(item, part) for item, part in zip(value, wanted, strict=True))
        )
    if isinstance(wanted, bool) or wanted is None:
        return value is wanted
    if isinstance(wanted, str):
        return isinstance(value, str) and value == wanted
    return isinstance(value, Decimal) and value == wanted
