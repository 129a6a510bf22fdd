"""Making an input smaller while it keeps a property, by delta debugging."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

__all__ = ["minimized"]

_TOKENS = re.compile(rb"\\u[0-9a-fA-F]{4}|[A-Za-z0-9_]+|[\x80-\xff]+|.", re.DOTALL)
"""What of an input is taken out as a whole: an escape, a word, a run that is not ASCII, any other byte."""

MAX_TRIALS = 5000
"""How many smaller inputs are tried: seconds, where each takes up to a millisecond."""


def minimized(data: bytes, keeps: Callable[[bytes], bool]) -> bytes:
    """A short part of `data` for which `keeps` is true, as it is for `data`.

    No token and no byte of it can be taken out, unless the trials ran out.

    Source: Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002 (the algorithm ddmin).
    """
    trials = iter(range(MAX_TRIALS))

    def tried(candidate: bytes) -> bool:
        return next(trials, None) is not None and keeps(candidate)

    while True:
        before = data
        data = _fewest(_TOKENS.findall(data), tried)
        data = _fewest([data[at : at + 1] for at in range(len(data))], tried)
        if data == before:
            return data


def _fewest(pieces: Sequence[bytes], keeps: Callable[[bytes], bool]) -> bytes:
    """The pieces without those that are not needed: ever smaller chunks are taken out."""
    chunk = len(pieces)
    while chunk > 0:
        at = 0
        while at < len(pieces):
            fewer = [*pieces[:at], *pieces[at + chunk :]]
            if keeps(b"".join(fewer)):
                pieces = fewer
            else:
                at += chunk
        chunk //= 2
    return b"".join(pieces)
