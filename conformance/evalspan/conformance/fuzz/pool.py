"""The corpus in memory, and what makes an input worth keeping."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from evalspan.conformance.generators import Chance, Sample

__all__ = ["Entry", "Pool"]

_LEAST_BYTES = 16
"""Inputs below are left out of fuel per byte: what every evaluation costs would hide what a byte does."""

_BETTER = 1.02
"""By how much an input must raise the cost per byte of its length: each step of 2% is kept, not each unit."""

_DEAR = 2
"""By how many doublings of the typical cost an input is dear: the search would spend most of its time on those."""

_SELDOM = 16
"""One pick in so many may be a dear one."""

_TRIES = 4
"""Entries of which one is picked."""

_TYPICAL = 1000
"""Inputs that the typical cost is taken of."""

_DIGITS = str.maketrans("123456789", "000000000")


@dataclass(slots=True)
class Entry:
    """An input that is kept, and why."""

    sample: Sample
    reason: str
    has_value: bool
    """Whether the answer was a value: what comes from such an input has one more often."""
    cost: int
    """The work of its answer; what comes from it takes about as much."""


@dataclass(slots=True)
class Pool:
    """Inputs that showed something new: an answer of a new kind, a new amount of work, a new production."""

    entries: list[Entry] = field(default_factory=list)
    worst_rate: float = 0.0
    """The most cost per byte so far, of inputs of at least 16 bytes."""
    worst: Sample | None = None
    fresh: list[Entry] = field(default_factory=list)
    """Entries since the last time that somebody took them."""
    _doublings: float = 0.0
    """The average of the costs' logarithms, to base 2."""
    _seen: set[tuple[str, int]] = field(default_factory=set)
    _kinds: dict[str, str] = field(default_factory=dict)
    _rates: list[float] = field(default_factory=lambda: [0.0] * 32)
    _known: set[bytes] = field(default_factory=set)

    @property
    def kinds(self) -> int:
        """How many kinds of answers were seen."""
        return len({kind for kind, _ in self._seen})

    def judge(self, sample: Sample, kind: str, cost: int, *, new_production: bool) -> str | None:
        """Keep an input if it shows something new, and say what: `production`, `answer`, `cost` or `rate`.

        `kind` says what was answered (numbers in it count for nothing), `cost` is the work in units of the target.
        A cost is new where none of its kind was within a quarter of a doubling.
        """
        self._doublings += (cost.bit_length() - self._doublings) / _TYPICAL
        width = len(sample.data)
        rate = cost / (width or 1)
        length = width.bit_length()
        better = rate > self._rates[length] * _BETTER
        # The bits below the first two: a bucket is a quarter of a doubling.
        high = cost.bit_length()
        bucket = high << 2 | (cost >> high - 3 & 3 if high > 2 else 0)
        feature = (self._kinds.get(kind) or self._kind(kind), bucket)
        new = feature not in self._seen
        if not (new or better or new_production):
            return None
        reason = "production" if new_production else "cost" if new else "rate"
        if new:
            if not any(known == feature[0] for known, _ in self._seen):
                reason = "answer"
            self._seen.add(feature)
        if better:
            self._rates[length] = rate
            if width >= _LEAST_BYTES and rate > self.worst_rate:
                self.worst_rate, self.worst = rate, sample
        self.keep(Entry(sample, reason, "value" in kind[:13], cost))  # a rounded value is one too
        return reason

    def keep(self, entry: Entry) -> None:
        """Add an entry, unless its input is there already."""
        if entry.sample.data not in self._known:
            self._known.add(entry.sample.data)
            self.entries.append(entry)
            self.fresh.append(entry)

    def pick(self, chance: Chance) -> Sample:
        """One of the inputs: half the time one of the last quarter, which were tried least.

        Rather one with a value, and seldom a dear one: those are kept for the work that they cause, and so they would
        be the most of the corpus and nearly all of the time.
        """
        entries = self.entries
        recent = chance.random() < 0.5
        last = (len(entries) + 3) // 4
        drawn = [entries[-1 - chance.below(last)] if recent else chance.pick(entries) for _ in range(_TRIES)]
        dear = math.inf if chance.one_in(_SELDOM) else self._doublings + _DEAR
        entry = min(drawn, key=lambda each: (each.cost.bit_length() > dear, not each.has_value))
        return entry.sample

    def take_fresh(self) -> list[Entry]:
        """The entries since the last call."""
        taken, self.fresh = self.fresh, []
        return taken

    def _kind(self, kind: str) -> str:
        if len(self._kinds) > 10_000:  # messages with numbers in them
            self._kinds.clear()
        found = self._kinds[kind] = kind.translate(_DIGITS)[:120]
        return found
