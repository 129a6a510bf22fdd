"""Receipts of scripted generations, and every way to change one thing in them."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any

from support import CASE_REGISTRY

from evalspan.backends.scripted import ScriptedBackend
from evalspan.orchestrator import Driver, Generation, Request
from evalspan.orchestrator.receipts import Receipt
from evalspan.orchestrator.receipts.model import digest_of
from evalspan.policies import Registry

__all__ = ["REGISTRY", "Changed", "changes", "leaves", "rehashed", "scripted", "spelt"]

REGISTRY = Registry.parse(CASE_REGISTRY)

Changed = tuple[str, dict[str, Any]]
"""What was changed, and the receipt's value with it."""


def spelt(text: str) -> list[bytes]:
    """A token a byte."""
    return [bytes([byte]) for byte in text.encode()]


def scripted(
    make: Callable[[], ScriptedBackend], registry: Registry = REGISTRY, **options: Any
) -> tuple[Generation, Receipt]:
    """A generation of a script, and its receipt."""
    options.setdefault("prompt", "go")
    request = Request(**options, receipt=True)
    with Driver(make(), registry) as driver:
        generation = driver.generate_many([request])[0]
    assert generation.receipt is not None
    return generation, generation.receipt


def rehashed(value: dict[str, Any]) -> dict[str, Any]:
    """The value with every hash of its own contents computed anew, as a forger would."""
    value = copy.deepcopy(value)
    identity = value.get("identity")
    if isinstance(identity, dict) and isinstance(identity.get("registry"), dict):
        text = json.dumps(identity["registry"], sort_keys=True, ensure_ascii=True)
        identity["registry_sha256"] = hashlib.sha256(text.encode()).hexdigest()
    value["digest"] = digest_of(value)
    return value


Path = tuple[str | int, ...]


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value in a value that holds no other, with its path; empty objects and arrays are such."""
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    inner = list(items)
    if not inner:
        yield path, value
    for step, item in inner:
        yield from leaves(item, (*path, step))


def _others(value: Any) -> list[Any]:
    """Values of a leaf's place that say something else."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if isinstance(value, float):
        return [value + 0.25, value / 2 + 0.01]
    if isinstance(value, str):
        swapped = value[:-1] + chr(ord(value[-1]) ^ 1) if value else "x"
        return [value + "x", value[1:] or "y", swapped]
    if value is None:
        return [0, "x"]
    return [[0], None] if isinstance(value, list) else [{"x": 0}, None]


def changes(value: dict[str, Any]) -> Iterator[Changed]:
    """The value with one thing changed: each leaf, each name, each item, each order of two."""
    for path, leaf in leaves(value):
        for other in _others(leaf):
            yield (
                f"{path} := {other!r}",
                _with(value, path, lambda holder, step, new=other: holder.__setitem__(step, new)),
            )
        yield f"{path} := null", _with(value, path, lambda holder, step: holder.__setitem__(step, None))
    for path, holder in _holders(value):
        if isinstance(holder, dict):
            yield f"{path} + extra", _at(value, path, lambda table: table.__setitem__("extra", 1))
            for name in holder:
                yield f"{path} - {name}", _at(value, path, lambda table, gone=name: table.pop(gone))
        else:
            for index in range(len(holder)):
                yield f"{path} - [{index}]", _at(value, path, lambda items, gone=index: items.pop(gone))
                yield (
                    f"{path} twice [{index}]",
                    _at(value, path, lambda items, again=index: items.insert(again, copy.deepcopy(items[again]))),
                )
                if index and holder[index] != holder[index - 1]:
                    yield f"{path} swaps [{index}]", _at(value, path, lambda items, at=index: _swap(items, at))


def _swap(items: list[Any], index: int) -> None:
    items[index - 1], items[index] = items[index], items[index - 1]


def _holders(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict | list):
        yield path, value
        for step, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _holders(item, (*path, step))


def _at(value: dict[str, Any], path: Path, change: Callable[[Any], Any]) -> dict[str, Any]:
    changed = copy.deepcopy(value)
    place: Any = changed
    for step in path:
        place = place[step]
    change(place)
    return changed


def _with(value: dict[str, Any], path: Path, change: Callable[[Any, Any], Any]) -> dict[str, Any]:
    return _at(value, path[:-1], lambda holder: change(holder, path[-1]))
