"""What a target that is no evaluator answers, and the oracles for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from evalspan.conformance.fuzz.complaint import Complaint
from evalspan.conformance.generators import Sample

__all__ = ["ENDS", "ORACLES", "Reply", "ReplyTarget", "complaint"]

ReplyKind = Literal["value", "declared", "exception", "hang", "memory", "died", "report"]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: a value, an error that is declared, or what no input may cause."""

    kind: ReplyKind
    what: str
    """Of a value its type, of an exception its type, of a dead process how it ended."""
    where: str = ""
    """The frame that raised, as `file:function`."""
    detail: str = ""
    microseconds: int = 0
    """CPU time, as far as it is known."""

    @property
    def same_as(self) -> tuple[str, ...]:
        """What two runs must agree on."""
        return (self.kind, self.what, self.detail)


ORACLES = {
    "exception": "only the exceptions that are declared",
    "hang": "an answer within the time limit",
    "memory": "no more memory than the limit",
    "died": "the process lives",
    "report": "no report of a sanitizer, a panic or a traceback on standard error",
    "two runs": "the same answer again",
}
"""The oracles by name, and what each holds."""

ENDS = ("hang", "memory", "died")
"""The oracles whose objection costs a process."""

_ANSWERS = ("value", "declared")

_AGAIN_EVERY = 16
"""Of so many inputs one is asked twice: a second run tells little where the first two agreed."""


def complaint(oracle: str, what: str, where: str, detail: str) -> Complaint:
    """What an oracle says of an answer, whose fields these are."""
    cause = f"{what} in {where}" if where else what
    return Complaint(oracle, cause, f"{cause}: {detail}" if detail else cause, costly=oracle in ENDS)


class ReplyTarget(ABC):
    """A target whose answers are replies, and the oracles for them."""

    @abstractmethod
    def ask(self, sample: Sample) -> Reply:
        """The answer to an input."""

    def shown(self, answer: Reply) -> str:
        """The detail of an answer as a complaint shows it."""
        return answer.detail

    def check(self, sample: Sample, answer: Reply, turn: int) -> Iterator[Complaint]:
        """What the oracles object to."""
        if answer.kind not in _ANSWERS:
            yield complaint(answer.kind, answer.what, answer.where, answer.detail)
        elif turn % _AGAIN_EVERY == 0:
            yield from self._twice(sample, answer)

    def complaints(self, sample: Sample, oracle: str | None = None) -> Iterator[Complaint]:
        """Ask an input and all oracles, or one of them."""
        answer = self.ask(sample)
        if answer.kind not in _ANSWERS:
            if oracle in (None, answer.kind):
                yield complaint(answer.kind, answer.what, answer.where, answer.detail)
        elif oracle in (None, "two runs"):
            yield from self._twice(sample, answer)

    def _twice(self, sample: Sample, answer: Reply) -> Iterator[Complaint]:
        again = self.ask(sample)
        if again.kind in _ANSWERS and again.same_as != answer.same_as:
            details = f"{self.shown(answer)}, then {self.shown(again)}"
            yield Complaint("two runs", f"{answer.what} then {again.what}", details)
