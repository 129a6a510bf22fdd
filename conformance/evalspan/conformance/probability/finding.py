"""What a check of probabilities found."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Finding"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer of one check: what was asked, of how many things, and the first few faults, in words."""

    check: str
    statement: str
    compared: int
    faults: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether there is no fault, and something was compared at all."""
        return not self.faults and self.compared > 0

    def __str__(self) -> str:
        lines = [f"{self.check:14}{'pass' if self.passed else 'fail':6}{self.compared} compared: {self.statement}"]
        return "\n  ".join([*lines, *self.faults])
