"""Canonical JSON: one text for one value, and a reader that refuses what has two readings."""

from __future__ import annotations

import json
import math
from typing import Any

from evalspan.orchestrator.encoding import is_text
from evalspan.policies import EvalspanError

__all__ = ["MAX_BYTES", "MAX_DEPTH", "ReceiptError", "canonical", "json_path", "parse_json"]

MAX_BYTES = 64 * 1024 * 1024
"""Of a receipt. A token takes some 130 bytes with its ledger: this is half a million of them."""

MAX_DEPTH = 32
"""Of objects and arrays in one another. A receipt has eight, most of them its registry's."""


_LONGEST_NAME = 64
"""Characters of a name in a path; those of receipts have 20 at most."""


class ReceiptError(EvalspanError):
    """A receipt that cannot be read, or a generation that can have none. `path` is where in it, as in `output.text`."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        self.message = message


def canonical(value: Any) -> str:
    """The text of a value: names in order, no spaces, numbers as briefly as they can be read back.

    Raises:
        ReceiptError: the value holds what JSON has no place for.
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise ReceiptError(f"this is no JSON: {error}") from None


def parse_json(data: bytes) -> Any:
    """The value of a JSON text in UTF-8.

    Raises:
        ReceiptError: it is none, is longer or deeper than a receipt can be, or holds a name twice, a number that is
            not finite or half a character; the text says where.
    """
    if len(data) > MAX_BYTES:
        raise ReceiptError(f"is longer than {MAX_BYTES} bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ReceiptError(f"is not UTF-8 at byte {error.start}") from None
    try:
        # The hooks know no place, so names that repeat and numbers without an end are looked for afterwards.
        value = json.loads(text, object_pairs_hook=_Pairs, parse_constant=float)
    except RecursionError:
        raise ReceiptError(f"is more than {MAX_DEPTH} deep") from None
    except ValueError as error:
        raise ReceiptError(f"is no JSON: {error}") from None
    return _checked(value, "", 0)


def json_path(path: str, step: str | int) -> str:
    """The path of an item of what is at `path`."""
    if isinstance(step, int):
        return f"{path}[{step}]"
    if not step.isprintable() or len(step) > _LONGEST_NAME:
        return f"{path}[{json.dumps(step[:_LONGEST_NAME])}]"  # a name of somebody's own, which a terminal must survive
    return f"{path}.{step}" if path else step


class _Pairs(list[tuple[str, Any]]):
    """The names and values of an object as they stand."""


def _checked(value: Any, path: str, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise ReceiptError(f"is more than {MAX_DEPTH} deep", path)
    if isinstance(value, _Pairs):
        table: dict[str, Any] = {}
        for name, item in value:
            _checked(name, path, depth)
            at = json_path(path, name)
            if name in table:
                raise ReceiptError("this name is there twice", at)
            table[name] = _checked(item, at, depth + 1)
        return table
    if isinstance(value, list):
        return [_checked(item, json_path(path, index), depth + 1) for index, item in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        raise ReceiptError("the number is not finite", path)
    if isinstance(value, str) and not is_text(value):
        raise ReceiptError("the text holds half a character", path)
    return value
