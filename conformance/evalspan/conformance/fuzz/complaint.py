"""What an oracle says about an answer that it does not accept."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Complaint"]


@dataclass(frozen=True, slots=True)
class Complaint:
    """One oracle's objection to one answer."""

    oracle: str
    """The oracle's name."""
    cause: str
    """What tells this fault from others of the oracle: an error code, a trap's place, an exception and its frame."""
    detail: str
    """What was answered and what would be right, on one line."""
    costly: bool = False
    """Whether asking again takes as long as a time limit: such a finding is minimized in few trials."""
    coarse: bool = False
    """Whether different faults have this cause: the words of the minimized input then tell them apart."""
