"""The protocol of targets, and the description from which a process of its own can open one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from evalspan.conformance.fuzz.complaint import Complaint
from evalspan.conformance.fuzz.vocabulary import Vocabulary
from evalspan.conformance.generators import Sample

__all__ = ["Described", "Target", "TargetSpec"]

TargetKind = Literal["evaluator", "module", "python", "command", "host"]
"""What a target is."""


@dataclass(frozen=True, slots=True)
class TargetSpec:
    """All that is needed to open a target, in values that a process can hand to another."""

    kind: TargetKind
    name: str
    """As the user wrote it."""
    registry: Path | None = None
    command: tuple[str, ...] = ()
    python: str | None = None
    """The interpreter of a Python target; this one where it is None."""
    grammar: str | None = None
    """A grammar that ships with evalspan, or the path of one; by default that of the evaluator."""
    allow: frozenset[str] = field(default_factory=frozenset)
    """Exceptions that a Python target declares, or error codes that an evaluator may answer beside its own."""
    as_bytes: bool = False
    """Whether a Python target takes bytes and not text."""
    seconds: float = 1.0
    """The time limit of one input for a Python target or a command."""
    memory_bytes: int = 512 * 1024 * 1024
    """What a Python target or a command may add to its memory."""
    reference_every: int = 1
    """Of so many inputs the reference is asked one; 0 is never."""


@dataclass(frozen=True, slots=True)
class Described:
    """A target in words."""

    title: str
    unit: str
    """Of what the cost is: `fuel` or `us`."""
    oracles: Sequence[str]
    """The names of those that apply, in the order they are asked."""


class Target(Protocol):
    """What answers inputs, and judges its answers. For one thread."""

    described: Described
    vocabulary: Vocabulary

    def ask(self, sample: Sample) -> Any:
        """The answer to an input; never raises for one."""
        ...

    def kind_of(self, answer: Any) -> str:
        """What sort of an answer it is: inputs that show a new one are kept."""
        ...

    def cost_of(self, answer: Any) -> int:
        """What the answer cost."""
        ...

    def check(self, sample: Sample, answer: Any, turn: int) -> Iterator[Complaint]:
        """What the oracles object to; `turn` is a number that goes up, for those that take turns."""
        ...

    def complaints(self, sample: Sample, oracle: str | None = None) -> Iterator[Complaint]:
        """Ask an input and all oracles, or one of them, whatever its turn is."""
        ...

    def close(self) -> None:
        """Free what is held."""
        ...
