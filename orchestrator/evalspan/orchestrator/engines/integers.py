"""Ranges of integers as regular languages of their decimal digits."""

from __future__ import annotations

from evalspan.orchestrator.engines.regular import Chars, Concat, Either, Regular, Repeat, literal

__all__ = ["integers"]

_ZERO = ord("0")


def integers(low: int | None, high: int | None) -> Regular:
    """The integers from `low` to `high` in JSON's spelling, without bound where one is None."""
    items: list[Regular] = []
    if high is None or high >= 0:
        items.append(_natural(max(low or 0, 0), high))
    if low is None or low < 0:
        # Mirrored. llguidance writes zero with a sign too where a range has both ends.
        least = -high if high is not None and high < 0 else int(low is None or high is None)
        items.append(Concat((literal("-"), _natural(least, None if low is None else -low))))
    return Either(tuple(items))


def _natural(low: int, high: int | None) -> Regular:
    """The integers from `low`, which is not negative, to `high`."""
    if high is not None and high < low:
        return Either(())
    digits = len(str(low))
    if high is None:
        more = Concat((_digits(1, 9), Repeat(_digits(0, 9), digits, None)))
        return Either((_natural(low, 10**digits - 1), more))
    if len(str(high)) > digits:
        return Either((_natural(low, 10**digits - 1), _natural(10**digits, high)))
    return _same_length(str(low), str(high))


def _same_length(low: str, high: str) -> Regular:
    if not low:
        return Concat(())
    first, last = int(low[0]), int(high[0])
    zeros, nines = "0" * (len(low) - 1), "9" * (len(low) - 1)
    if first == last:
        return Concat((_digits(first, first), _same_length(low[1:], high[1:])))
    items: list[Regular] = []
    if low[1:] != zeros:
        items.append(Concat((_digits(first, first), _same_length(low[1:], nines))))
        first += 1
    if high[1:] != nines:
        items.append(Concat((_digits(last, last), _same_length(zeros, high[1:]))))
        last -= 1
    if first <= last:
        items.append(Concat((_digits(first, last), Repeat(_digits(0, 9), len(zeros), len(zeros)))))
    return Either(tuple(items))


def _digits(first: int, last: int) -> Regular:
    return Chars(((_ZERO + first, _ZERO + last),))
