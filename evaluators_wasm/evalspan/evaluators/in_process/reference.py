"""What a reference implementation offers, and where to find the one of a specification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Protocol, cast

from evalspan.evaluators.outcome import Outcome

__all__ = ["SPECS", "OptionSpec", "Reference", "load_reference"]


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """An option of an operator: an unsigned integer from `minimum` to `maximum`."""

    default: int
    minimum: int
    maximum: int


class Reference(Protocol):
    """The interface of a reference module."""

    SPEC: str
    """The specification it answers for, such as `arithmetic/1`."""
    OPTIONS: Mapping[str, OptionSpec]
    """The options it takes, by name."""

    def evaluate(self, data: bytes, options: Mapping[str, int], /) -> Outcome:
        """The answer to the raw input `data`.

        An option that is missing has its default. Options are in range and of `OPTIONS`: that is for the
        runtime to see to, once, not for every evaluation.
        """
        ...


_MODULES: Mapping[str, str] = MappingProxyType(
    {f"{name}/1": f"evalspan.evaluators.in_process.{name}" for name in ("arithmetic", "checksums", "dates", "strings")}
)

SPECS = tuple(_MODULES)
"""The specifications that have a reference."""


def load_reference(spec: str) -> Reference:
    """The reference of `spec`, imported when first asked for: some need libraries that others do not.

    Raises KeyError where there is none, ImportError where a library of its own is missing.
    """
    return cast(Reference, import_module(_MODULES[spec]))
