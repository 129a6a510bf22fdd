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

    No token, no byte and no two neighbours of either can be taken out, unless the trials ran out.

    Source: Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002 (the algorithm ddmin).
    """
    trials = _Trials(keeps)
    while True:
        before = data
        data = _fewest(_TOKENS.findall(data), trials)
        data = _fewest([data[at : at + 1] for at in range(len(data))], trials)
        if data == before:
            return data


class _Trials:
    """The property, asked a limited number of times."""

    def __init__(self, keeps: Callable[[bytes], bool]) -> None:
        self.left = MAX_TRIALS
        self._keeps = keeps

    def keep(self, pieces: Sequence[bytes]) -> bool:
        self.left -= 1
        return self._keeps(b"".join(pieces))


def _fewest(pieces: Sequence[bytes], trials: _Trials) -> bytes:
    """The pieces without those that are not needed: ever smaller chunks are taken out, which overlap by half."""
    chunk = len(pieces)
    while chunk > 0:
        at = 0
        while at < len(pieces) and trials.left > 0:
            fewer = [*pieces[:at], *pieces[at + chunk :]]
            if trials.keep(fewer):
                pieces = fewer
            else:
                at += max(1, chunk // 2)
        chunk //= 2
    return b"".join(pieces)
