"""What comes of a requirement on a backend: it holds, it does not, or the backend cannot be asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Fault", "Outcome", "Status", "Unsupported", "expect"]

Status = Literal["pass", "fail", "unsupported"]
"""`unsupported`: the backend is of a kind that the requirement does not ask; the reason is always given."""


class Fault(Exception):
    """A requirement does not hold; the text is what was seen."""


class Unsupported(Exception):
    """A requirement cannot be asked of this backend, or here; the text is why."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of one requirement on one backend."""

    status: Status
    detail: str = ""
    """What was seen where it failed, or why it could not be asked."""
    seconds: float = 0.0


def expect(holds: object, seen: object) -> None:
    """Go on only where something holds.

    Raises:
        Fault: it does not; `seen` says what there was instead.
    """
    if not holds:
        raise Fault(seen if isinstance(seen, str) else repr(seen))
