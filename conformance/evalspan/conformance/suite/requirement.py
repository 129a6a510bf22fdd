"""A requirement: an id that stays, one line that says what must hold, and the check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from evalspan.conformance.suite.subject import Subject

__all__ = ["ANY", "CHOSEN", "MASKED", "REQUEST", "STEP", "Level", "Requirement", "why_not"]

Level = Literal["step", "request", "span"]
"""What a backend's engine is: see `evalspan.orchestrator.backend`."""

STEP: frozenset[Level] = frozenset({"step"})
REQUEST: frozenset[Level] = frozenset({"request"})
MASKED: frozenset[Level] = frozenset({"step", "span"})
CHOSEN: frozenset[Level] = frozenset({"step", "request"})
ANY: frozenset[Level] = frozenset({"step", "request", "span"})
"""Sets of levels; of those in `CHOSEN` some engines say the tokens that they are to say."""


def why_not(asked: frozenset[Level], level: Level) -> str:
    """Why a requirement for engines of some levels cannot be asked of one of another."""
    if asked == REQUEST:
        return f"it is about completions that are resumed, and a {level} engine has none"
    if asked == MASKED:
        return "a request engine samples by itself and cannot be masked"
    return f"a {level} engine samples by itself: its tokens cannot be chosen, nor its steps seen"


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
