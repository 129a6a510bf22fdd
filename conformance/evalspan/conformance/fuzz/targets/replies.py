"""What a target that is no evaluator answers, and the oracles for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from evalspan.conformance.fuzz.complaint import Complaint

__all__ = ["ORACLES", "Reply", "complaints_about"]

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

_COSTLY = ("hang", "memory", "died")


def complaints_about(reply: Reply) -> Iterator[Complaint]:
    """What the oracles object to in one answer."""
    if reply.kind in ("value", "declared"):
        return
    cause = f"{reply.what} in {reply.where}" if reply.where else reply.what
    yield Complaint(reply.kind, cause, f"{cause}: {reply.detail}" if reply.detail else cause, reply.kind in _COSTLY)
