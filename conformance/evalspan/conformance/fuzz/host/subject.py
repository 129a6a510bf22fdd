"""What a host target runs: one reader of evalspan's, in the child process."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Disagreement", "Subject"]


class Disagreement(Exception):
    """Two ways to the same answer gave two answers, or an answer breaks a promise.

    Not an `EvalspanError`: what a subject raises on purpose must not pass for an error of what it runs.
    """

    def __init__(self, cause: str, detail: str) -> None:
        """`cause` tells this fault from others of the subject; `detail` says what was answered."""
        super().__init__(f"{cause}: {detail}")
        self.cause = cause
        self.detail = detail


class Subject(Protocol):
    """A reader with whatever it needs, opened once in a process. It must not remember inputs."""

    def run(self, data: bytes) -> str:
        """Read an input, and answer in a word or two what became of it: a new word makes the input worth keeping.

        Raises:
            EvalspanError: the input is refused, as it may be.
            Disagreement: the answer cannot be right.
        """
        ...
