"""What a run tells while it goes, on standard error: a bar on a terminal, else a line for each backend and failure."""

from __future__ import annotations

from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from evalspan.conformance.suite.outcome import Outcome
from evalspan.conformance.suite.requirement import Requirement

__all__ = ["Progress"]


class Progress:
    """A context manager; `tell` it every outcome."""

    def __init__(self, total: int) -> None:
        self._console = Console(stderr=True, highlight=False)
        columns = (
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False),
        )
        self._bar = Bar(*columns, console=self._console, transient=True, disable=not self._console.is_terminal)
        self._task = self._bar.add_task("", total=total)
        self._subject = ""

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def tell(self, subject: str, requirement: Requirement, outcome: Outcome) -> None:
        """An outcome is there."""
        if subject != self._subject and not self._console.is_terminal:
            self._console.print(f"testing {subject}", markup=False)
        self._subject = subject
        if outcome.status == "fail":
            self._console.print(f"{subject}: {requirement.id} fails", markup=False)
        self._bar.update(self._task, advance=1, description=f"{subject} {requirement.id}")
