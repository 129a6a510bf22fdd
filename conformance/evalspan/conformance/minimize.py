"""Making an input smaller while it keeps a property, by delta debugging."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from evalspan.conformance.generators import Sample
from evalspan.conformance.generators.tokens import tokens

__all__ = ["minimized", "minimized_sample"]

MAX_TRIALS = 5000
"""How many smaller inputs are tried: seconds, where each takes up to a millisecond."""


def minimized(data: bytes, keeps: Callable[[bytes], bool], *, trials: int = MAX_TRIALS) -> bytes:
    """A short part of `data` for which `keeps` is true, as it is for `data`.

    No token, no byte and no two neighbours of either can be taken out, unless the trials ran out.

    Source: Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002 (the algorithm ddmin).
    """
    left = _Trials(keeps, trials)
    while True:
        before = data
        data = _fewest(tokens(data), left)
        data = _fewest([data[at : at + 1] for at in range(len(data))], left)
        if data == before:
            return data


def minimized_sample(
    sample: Sample, keeps: Callable[[bytes, Mapping[str, int]], bool], *, trials: int = MAX_TRIALS
) -> Sample:
    """As `minimized`, for an input with options: with the default ones where these keep the property too."""
    options = sample.options
    if options and keeps(sample.data, {}):
        options = {}
    return Sample(minimized(sample.data, lambda part: keeps(part, options), trials=trials), options)


class _Trials:
    """The property, asked a limited number of times."""

    def __init__(self, keeps: Callable[[bytes], bool], most: int) -> None:
        self.left = most
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
