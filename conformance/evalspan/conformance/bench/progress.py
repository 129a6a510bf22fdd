"""Progress on standard error: one line that changes on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self

import click

__all__ = ["Progress"]

_LINES = 4  # of one piece of work where nobody watches: enough to see that it moves


class Progress:
    """Counts the steps of one piece of work. Use it as a context manager."""

    def __init__(self, label: str, total: int) -> None:
        self._label = label
        self._total = total
        self._done = 0
        self._watched = sys.stderr.isatty()

    def step(self) -> None:
        """One more is done."""
        before, self._done = self._done, self._done + 1
        if self._watched:
            click.echo(f"\r{self._text()}", err=True, nl=False)
        elif self._done * _LINES // self._total > before * _LINES // self._total:
            click.echo(self._text(), err=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watched and self._done:
            click.echo(err=True)

    def _text(self) -> str:
        return f"{self._label}: {self._done} of {self._total}"
