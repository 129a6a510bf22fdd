"""What can be wrong with the files of a ladder."""

from __future__ import annotations

from evalspan.policies import EvalspanError

__all__ = ["LadderError"]


class LadderError(EvalspanError):
    """A line or a schema that cannot be used; `line` counts from 1, None where it is no line's fault."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message if line is None else f"line {line}: {message}")
        self.line = line
