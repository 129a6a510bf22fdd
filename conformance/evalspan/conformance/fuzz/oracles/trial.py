"""One input, its answer, and what an oracle may ask beside."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from evalspan.conformance.generators import Chance
from evalspan.conformance.vectors import Evaluate
from evalspan.evaluators import Outcome, Value
from evalspan.policies import ErrorCode, Limits

__all__ = ["Objection", "Subject", "Trial"]

_NAMES = frozenset(Limits.model_fields)


@dataclass(frozen=True, slots=True)
class Objection:
    """Why an answer cannot be right: the cause tells this fault from others of the same oracle."""

    cause: str
    detail: str


@dataclass(frozen=True, slots=True)
class Subject:
    """The evaluator that is judged, and what its answers are compared with."""

    spec: str
    """Its operator specification, such as `arithmetic/1`."""
    ask: Evaluate
    twin: Evaluate | None
    """The same module in an instance of its own that is made anew for every input."""
    injected: Evaluate
    """Behind the result policy."""
    reference: Evaluate | None
    codes: frozenset[ErrorCode]
    """The error codes that the specification has."""
    allowed: frozenset[ErrorCode]
    """What the user allows beside."""
    fuel_limit: int
    """What the policy lets an evaluation use."""
    known_limits: dict[tuple[tuple[str, int], ...], Limits] = field(default_factory=dict)
    """The limits in force, by the options that set them: there are few, and each takes a while to build."""

    def limits(self, options: Mapping[str, int]) -> Limits:
        """The default limits with those that `options` set."""
        key = tuple(options.items())
        found = self.known_limits.get(key)
        if found is None:
            changed = {name: value for name, value in options.items() if name in _NAMES}
            found = self.known_limits[key] = Limits().model_copy(update=changed)
        return found


@dataclass(slots=True)
class Trial:
    """One input and its answer."""

    subject: Subject
    data: bytes
    options: Mapping[str, int]
    outcome: Outcome
    _chance: Chance | None = None

    @property
    def chance(self) -> Chance:
        """Choices that are a function of the input, so that a finding is one too."""
        if self._chance is None:
            self._chance = Chance()
            self._chance.restart(zlib.crc32(self.data), 0)
        return self._chance

    @property
    def limits(self) -> Limits:
        """The limits in force."""
        return self.subject.limits(self.options)

    def again(self, data: bytes) -> Outcome:
        """The answer to another input under the same options."""
        return self.subject.ask(data, self.options)

    def value(self, data: bytes | str) -> Value | None:
        """The value of another input; None where it has none, so that a relation can say nothing."""
        outcome = self.again(data if isinstance(data, bytes) else data.encode())
        return outcome if isinstance(outcome, Value) else None
