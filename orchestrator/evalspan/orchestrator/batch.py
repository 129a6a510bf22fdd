"""Continuous batching: generations that share the steps of an engine, joining and leaving at any step.

A step reads as schedule, decode, advance. Every generation adds the token it has just sampled; forced blocks and
prompts ride in the same step, in pieces of a budget, so that neighbours do not wait for a long one.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import asdict

from evalspan.orchestrator.backend import Feed, Logits, StepEngine
from evalspan.orchestrator.errors import DecodeError
from evalspan.orchestrator.events import Event, Finished, FinishReason, Injected, Step
from evalspan.orchestrator.machine import Block, Force, SpanMachine, Stop
from evalspan.orchestrator.sampling import Sampler

__all__ = ["STEP_TOKENS", "Batch", "Generating"]

STEP_TOKENS = 64
"""How many tokens of one prompt or forced block a step takes while others wait: about what two ordinary results
are, and on a CPU, which is bound by computing, some five steps of one token."""


class Generating:
    """A generation on its way: what it has to feed next, and what it has to say."""

    def __init__(
        self, index: int, prompt: list[int], machine: SpanMachine, sampler: Sampler, *, ledger: bool = False
    ) -> None:
        self.index = index
        self._ledger = ledger
        self.machine = machine
        self.prompt_tokens = len(prompt)
        self.reason: FinishReason | None = None
        self.error: DecodeError | None = None
        self._sampler = sampler
        self._pending = deque(prompt)
        self._blocks: tuple[Block, ...] = ()
        self._milliseconds = 0.0

    def next_feed(self, sequence: int, most: int) -> Feed:
        """Up to `most` of the tokens that are to be fed; logits are wanted after the last of them."""
        tokens = [self._pending.popleft() for _ in range(min(most, len(self._pending)))]
        self._sampler.observe(tokens)
        return Feed(sequence, tokens, wants_logits=not self._pending)

    def advance(self, logits: Logits | None, milliseconds: float) -> Iterator[Event]:
        """Go on from the logits after a feed, which took so long; without logits there is more to feed."""
        self._milliseconds += milliseconds
        if logits is None:
            return
        for block in self._blocks:
            yield Injected(block.span, block.kind, block.text, block.tokens, round(self._milliseconds, 2))
        self._blocks = ()
        self._milliseconds = 0.0
        try:
            yield from self._sample(logits)
        except DecodeError as error:
            self.error = error
            self.reason = self.machine.stop("decode_error").reason
        yield from self.machine.drain()
        if self.reason is not None:
            yield self.finished(self.reason)

    def finished(self, reason: FinishReason) -> Finished:
        """The last event."""
        machine = self.machine
        return Finished(reason, "".join(machine.output), self.prompt_tokens, machine.sampled, machine.forced)

    def _sample(self, logits: Logits) -> Iterator[Event]:
        if self.machine.remaining <= 0:  # a forced block was the last that fits
            self.reason = self.machine.stop("length").reason
            return
        if self._ledger:
            drawn = self._sampler.explain(logits, self.machine.mask())
            token = drawn.token
            yield Step(**asdict(drawn))
        else:
            token = self._sampler.sample(logits, self.machine.mask())
        action = self.machine.advance(token)
        if isinstance(action, Stop):
            self.reason = action.reason
            return
        if isinstance(action, Force):
            if not action.replaces_token:
                self._pending.append(token)
            self._pending.extend(action.tokens)
            self._blocks = action.blocks
        else:
            self._pending.append(token)


class Batch:
    """Runs generations on the slots of an engine, first come, first served."""

    def __init__(self, engine: StepEngine, waiting: Iterable[Generating], *, step_tokens: int = STEP_TOKENS) -> None:
        self._engine = engine
        self._step_tokens = step_tokens
        self._waiting = iter(waiting)
        self._running: dict[int, Generating] = {}

    def run(self) -> Generator[tuple[Generating, Event], None, None]:
        """Yield the events of all, each with its generation; closing the iterator frees every slot.

        Generations are taken from `waiting` one by one, as slots become free.
        """
        try:
            while self._admit():
                yield from self._step()
        finally:
            for sequence in list(self._running):
                self._leave(sequence)

    def _admit(self) -> bool:
        """Fill the free slots; false where nothing runs and nothing waits."""
        while len(self._running) < self._engine.slots:
            generating = next(self._waiting, None)
            if generating is None:
                break
            self._running[self._engine.open()] = generating
        return bool(self._running)

    def _step(self) -> Iterator[tuple[Generating, Event]]:
        most = self._step_tokens if len(self._running) > 1 else self._engine.context_tokens
        feeds = [generating.next_feed(sequence, most) for sequence, generating in self._running.items()]
        start = time.perf_counter()
        answers = self._engine.decode(feeds)
        milliseconds = (time.perf_counter() - start) * 1000
        for feed, logits in zip(feeds, answers, strict=True):
            generating = self._running[feed.sequence]
            for event in generating.advance(logits, milliseconds):
                if isinstance(event, Finished):
                    self._leave(feed.sequence)  # before the event: who reads it may start another
                yield generating, event

    def _leave(self, sequence: int) -> None:
        del self._running[sequence]
        self._engine.close(sequence)
