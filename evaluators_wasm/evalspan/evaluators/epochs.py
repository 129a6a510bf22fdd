"""The clock behind the epoch deadline: a backstop in wall time, behind fuel."""

from __future__ import annotations

import threading
import weakref

import wasmtime

__all__ = ["TICK_MS", "EpochClock", "ticks"]

TICK_MS = 50
"""Deadlines are kept to one tick. A tick costs some 20 us, so that the clock takes 0.04% of a core."""

_IDLE_TICKS = 60_000 // TICK_MS + 2  # over the longest deadline: no evaluation still runs


def ticks(deadline_ms: int) -> int:
    """Epochs that an evaluation may see pass: never fewer milliseconds than its deadline."""
    return -(-deadline_ms // TICK_MS) + 1


class EpochClock:
    """Increments the epoch of engines while evaluations run, from a thread of its own.

    The thread starts with the first engine, rests when there is nothing to do for a minute, and ends when
    the clock is closed or collected.
    """

    def __init__(self) -> None:
        self.active = False
        """Set before each evaluation; the clock clears it."""
        self.resting = True
        """Whether `wake` is due before an evaluation."""
        self._engines: list[wasmtime.Engine] = []
        self._lock = threading.Lock()
        self._due = threading.Event()
        self._closed = threading.Event()
        weakref.finalize(self, _stop, self._closed, self._due)
        self._thread: threading.Thread | None = None

    def add(self, engine: wasmtime.Engine) -> None:
        """Keep the time of `engine` until it is removed."""
        with self._lock:
            self._engines.append(engine)

    def remove(self, engine: wasmtime.Engine) -> None:
        """Let go of `engine`; after this it may be deleted."""
        with self._lock:
            self._engines.remove(engine)

    def wake(self) -> None:
        """Start ticking; an evaluation that finds the clock resting calls this."""
        with self._lock:
            self.resting = False
            if self._thread is None:
                self._thread = threading.Thread(
                    target=_tick,
                    args=(weakref.ref(self), self._closed, self._due),
                    name="evalspan-epochs",
                    daemon=True,
                )
                self._thread.start()
        self._due.set()

    def close(self) -> None:
        """End the thread."""
        _stop(self._closed, self._due)

    def advance(self) -> None:
        """One tick."""
        with self._lock:
            for engine in self._engines:
                engine.increment_epoch()


def _stop(closed: threading.Event, due: threading.Event) -> None:
    closed.set()
    due.set()


def _tick(clock: weakref.ref[EpochClock], closed: threading.Event, due: threading.Event) -> None:
    """The thread's body. It holds the clock for a tick only, so that a forgotten clock can be collected."""
    quiet = 0
    while not closed.wait(TICK_MS / 1000):
        now = clock()
        if now is None:
            return
        now.advance()
        quiet = 0 if now.active else quiet + 1
        now.active = False
        if quiet > _IDLE_TICKS:
            # An evaluation sets `active` and then reads `resting`; here it is the other way round, so that
            # one of the two sees the other.
            due.clear()
            now.resting = True
            if now.active:
                now.resting = False
            else:
                del now
                due.wait()
            quiet = 0
