"""A requirement: an id that stays, one line that says what must hold, and the check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from evalspan.conformance.suite.subject import Subject

__all__ = ["ANY", "CHOSEN", "MASKED", "REQUEST", "STEP", "WHY_NOT", "Level", "Requirement"]

Level = Literal["step", "request", "span"]
"""What a backend's engine is: see `evalspan.orchestrator.backend`."""

STEP: frozenset[Level] = frozenset({"step"})
REQUEST: frozenset[Level] = frozenset({"request"})
MASKED: frozenset[Level] = frozenset({"step", "span"})
CHOSEN: frozenset[Level] = frozenset({"step", "request"})
ANY: frozenset[Level] = frozenset({"step", "request", "span"})
"""Sets of levels; of those in `CHOSEN` some engines say the tokens that they are to say."""

WHY_NOT: Mapping[Level, str] = MappingProxyType(
    {
        "step": "a step engine: the driver masks and samples by itself, and there is no completion to resume",
        "request": "a request engine: it samples by itself, so nothing can be masked and no token chosen",
        "span": "a span engine: it samples, masks and forces by itself, so its steps are not seen",
    }
)
"""Why a requirement cannot be asked of an engine of this level, where it is not for that."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """What must hold. `check` raises `Fault` or `Unsupported`, or any error of evalspan, which is a failure too."""

    id: str
    """Such as `EVS-INJ-01`. It is never given to another requirement."""
    statement: str
    check: Callable[[Subject], None]
    levels: frozenset[Level] = ANY
    """The engines that can be asked."""
    shared: bool = False
    """Whether the backend has no part in it: it is asked once in a run, and the answer holds for all backends there."""
