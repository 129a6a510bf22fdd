"""Interleaved timing: every cell gets a short burst in every round, so that a busy moment hits all alike."""

from __future__ import annotations

import gc
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

__all__ = ["collection_off", "interleaved", "median_us", "percentile_us", "timed"]

_BURST_NS = 1_000_000
"""What a burst should take: long enough that the caches are the cell's own, short enough that load is shared."""
_MIN_CALLS, _MAX_CALLS = 4, 100
"""Of a burst. Four of the slowest give 400 samples in 100 rounds, of which four lie above the 99th percentile."""
_WARM_UP_NS = 50_000_000
_WARM_UP_CALLS = 300
"""A cell is warm after either: CPython 3.11 specializes a function at its 16th call, caches need fewer."""


def interleaved(
    groups: Sequence[Sequence[Callable[[], object]]], rounds: int, step: Callable[[], None]
) -> list[list[array[int]]]:
    """The nanoseconds of each call of each cell, in the shape of `groups`.

    The cells of a group are what is to be compared: they follow each other at once, and another one is first in each
    round. The first call of a burst is not counted: with 100 calls it alone would be the 99th percentile. `step` is
    called after each round.
    """
    with collection_off():
        calls = [[_calls(_warmed(cell)) for cell in group] for group in groups]
        samples = [[array("q") for _ in group] for group in groups]
        for number in range(rounds):
            for g, group in enumerate(groups):
                for i in range(len(group)):
                    c = (i + number) % len(group)
                    group[c]()  # brings back what the cell before displaced
                    samples[g][c].extend(timed(group[c], calls[g][c]))
            gc.collect()
            step()
    return samples


def timed(call: Callable[[], object], times: int) -> array[int]:
    """The nanoseconds of each of `times` calls; reading the clock, some 50 ns, is included."""
    clock = time.perf_counter_ns
    samples = array("q", bytes(8 * times))
    for i in range(times):
        start = clock()
        call()
        samples[i] = clock() - start
    return samples


def median_us(samples: Sequence[int]) -> float:
    """The median, in microseconds."""
    return percentile_us(samples, 50)


def percentile_us(samples: Sequence[int], percent: int) -> float:
    """The smallest sample that `percent` of a hundred do not exceed, in microseconds."""
    rank = -(-len(samples) * percent // 100)
    return sorted(samples)[max(rank, 1) - 1] / 1000


@contextmanager
def collection_off() -> Iterator[None]:
    """No garbage collection inside: its pauses grow with the whole process, and would fall on whoever allocates."""
    was_on = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _warmed(call: Callable[[], object]) -> float:
    """Nanoseconds of one warm call."""
    until = time.perf_counter_ns() + _WARM_UP_NS
    for _ in range(_WARM_UP_CALLS):
        call()
        if time.perf_counter_ns() > until:
            break
    return float(min(timed(call, _MIN_CALLS)))


def _calls(nanoseconds: float) -> int:
    return max(_MIN_CALLS, min(_MAX_CALLS, int(_BURST_NS / max(nanoseconds, 1))))
