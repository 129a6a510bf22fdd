"""Continuous batching: generations that share the steps of an engine, joining and leaving at any step.

A step reads as schedule, decode, advance. Every generation adds the token it has just sampled; forced blocks and
prompts ride in the same step, in pieces of a budget, so that neighbours do not wait for a long one.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator

from evalspan.orchestrator.backend import StepEngine
from evalspan.orchestrator.events import Event, Finished, RequestFailed
from evalspan.orchestrator.generating import Generating

__all__ = ["STEP_TOKENS", "Batch", "Refusal"]

STEP_TOKENS = 64
"""How many tokens of one prompt or forced block a step takes while others wait: about what two ordinary results
are, and on a CPU, which is bound by computing, some five steps of one token."""


class Refusal:
    """A request that cannot be honoured, in its place among those that wait."""

    def __init__(self, index: int, failed: RequestFailed) -> None:
        self.index = index
        self.failed = failed


class Batch:
    """Runs generations on the slots of an engine, first come, first served."""

    def __init__(
        self, engine: StepEngine, waiting: Iterable[Generating | Refusal], *, step_tokens: int = STEP_TOKENS
    ) -> None:
        self._engine = engine
        self._step_tokens = step_tokens
        self._waiting = iter(waiting)
        self._running: dict[int, Generating] = {}

    def run(self) -> Generator[tuple[int, Event], None, None]:
        """Yield the events of all, each with the index of its generation; closing the iterator frees every slot.

        Generations are taken from `waiting` one by one, as slots become free.
        """
        try:
            yield from self._admit()
            while self._running:
                yield from self._step()
                yield from self._admit()
        finally:
            for sequence in list(self._running):
                self._leave(sequence)

    def _admit(self) -> Iterator[tuple[int, Event]]:
        """Fill the free slots; what needs none is answered at once."""
        while len(self._running) < self._engine.slots:
            generating = next(self._waiting, None)
            if generating is None:
                return
            if isinstance(generating, Refusal):
                yield generating.index, generating.failed
                yield generating.index, Finished("refused", "", 0, 0, 0)
                continue
            generating.begin()
            if cancelled := list(generating.cancelled()):
                yield from ((generating.index, event) for event in cancelled)
                continue
            self._running[self._engine.open()] = generating

    def _step(self) -> Iterator[tuple[int, Event]]:
        most = self._step_tokens if len(self._running) > 1 else self._engine.context_tokens
        feeds = [generating.next_feed(sequence, most) for sequence, generating in self._running.items()]
        start = time.perf_counter()
        answers = self._engine.decode(feeds)
        milliseconds = (time.perf_counter() - start) * 1000
        for feed, logits in zip(feeds, answers, strict=True):
            yield from self._told(feed.sequence, self._running[feed.sequence].advance(logits, milliseconds))

    def _told(self, sequence: int, events: Iterable[Event]) -> Iterator[tuple[int, Event]]:
        """The events of the generation in a slot, which is free before the last of them is told."""
        generating = self._running[sequence]
        for event in events:
            if isinstance(event, Finished):
                self._leave(sequence)  # before the event: who reads it may start another
            yield generating.index, event

    def _leave(self, sequence: int) -> None:
        del self._running[sequence]
        self._engine.close(sequence)
