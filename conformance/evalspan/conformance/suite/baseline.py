"""Known shortfalls of a backend: what is listed may fail, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

import tomli

from evalspan.policies import EvalspanError

__all__ = ["SuiteError", "load_baseline", "shipped_baseline"]


class SuiteError(EvalspanError):
    """A baseline or a report that cannot be read, or that is not what it should be."""


def shipped_baseline(backend: str) -> Mapping[str, str]:
    """The baseline that ships for a backend: the reason by the requirement's id; none where there is none."""
    folder = files("evalspan.conformance.suite").joinpath("baselines")
    path = folder.joinpath(f"{backend}.toml")
    return _read(path.read_text("utf-8"), f"baselines/{backend}.toml") if path.is_file() else MappingProxyType({})


def load_baseline(path: Path, known: Iterable[str]) -> Mapping[str, str]:
    """A baseline of one's own.

    Raises:
        SuiteError: it cannot be read, is no table of reasons, or names a requirement that does not exist.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SuiteError(f"{path}: cannot be read: {error}") from None
    reasons = _read(text, str(path))
    ids = set(known)
    if unknown := sorted(set(reasons) - ids):
        raise SuiteError(f"{path}: no requirement is called {unknown[0]!r}")
    return reasons


def _read(text: str, source: str) -> Mapping[str, str]:
    try:
        table = tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        raise SuiteError(f"{source}: is no TOML: {error}") from None
    if any(not isinstance(reason, str) or not reason.strip() for reason in table.values()):
        raise SuiteError(f'{source}: a baseline is lines of REQUIREMENT = "reason"')
    return MappingProxyType(table)
