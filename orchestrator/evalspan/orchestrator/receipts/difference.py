"""Where two values of JSON differ, by path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from evalspan.orchestrator.receipts.canonical import canonical, json_path
from evalspan.policies.errors import one_line

__all__ = ["Problem", "differences"]

_SHOWN = 60  # characters of a value in a message; a terminal's line has room for two


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a receipt, and where."""

    path: str
    message: str

    def __str__(self) -> str:
        return one_line(f"{self.path}: {self.message}" if self.path else self.message)


def differences(recorded: Any, rebuilt: Any, path: str) -> Iterator[Problem]:
    """Where a recorded value is not the rebuilt one, in the order of the rebuilt one; types count, too."""
    if isinstance(recorded, dict) and isinstance(rebuilt, dict):
        for name in recorded:
            if name not in rebuilt:
                yield Problem(json_path(path, name), "unknown key")
        for name, item in rebuilt.items():
            if name not in recorded:
                yield Problem(json_path(path, name), "this key is required")
            else:
                yield from differences(recorded[name], item, json_path(path, name))
    elif isinstance(recorded, list) and isinstance(rebuilt, list):
        for index, (one, other) in enumerate(zip(recorded, rebuilt, strict=False)):
            yield from differences(one, other, json_path(path, index))
        if len(recorded) != len(rebuilt):
            yield Problem(path, f"{len(recorded)} items are recorded and {len(rebuilt)} rebuilt")
    elif type(recorded) is not type(rebuilt) or recorded != rebuilt:
        yield Problem(path, f"{_shown(recorded, rebuilt)} is recorded and {_shown(rebuilt, recorded)} rebuilt")


def _shown(value: Any, other: Any) -> str:
    """A value in a message; of a long text the place where it leaves the other."""
    if isinstance(value, str) and isinstance(other, str) and max(len(value), len(other)) > _SHOWN:
        same = next(
            (i for i, (a, b) in enumerate(zip(value, other, strict=False)) if a != b), min(len(value), len(other))
        )
        start = max(0, same - _SHOWN // 3)
        return f"{'…' if start else ''}{value[start : start + _SHOWN]!r}"
    text = canonical(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
