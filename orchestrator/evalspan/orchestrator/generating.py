"""One generation on a step engine, on its way: what it has to feed next, and what it has to say."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict

from evalspan.orchestrator.actions import Block, Force, Stop
from evalspan.orchestrator.backend import Feed, Logits
from evalspan.orchestrator.errors import DecodeError
from evalspan.orchestrator.events import DecodeFailed, Event, FinishReason, Injected, Step
from evalspan.orchestrator.machine import SpanMachine
from evalspan.orchestrator.requests import Cancellation, Request
from evalspan.orchestrator.sampling import Sampler

__all__ = ["Deadline", "Generating", "failure"]


class Deadline:
    """When a generation is to end whatever it says: its time is used up, or it was cancelled."""

    def __init__(
        self,
        time_limit: float | None = None,
        cancellation: Cancellation | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`time_limit` is in seconds, `clock` tells seconds; nothing runs before `begin`."""
        self._limit = time_limit
        self._cancellation = cancellation
        self._clock = clock
        self._until: float | None = None

    def begin(self) -> None:
        """Start the clock."""
        if self._limit is not None:
            self._until = self._clock() + self._limit

    def reason(self) -> FinishReason | None:
        """Why the generation must end now, if it must."""
        if self._cancellation is not None and self._cancellation.cancelled:
            return "cancelled"
        if self._until is not None and self._clock() >= self._until:
            return "time_limit"
        return None


def failure(error: DecodeError, machine: SpanMachine) -> DecodeFailed:
    """The event for an error, which learns where the generation stands."""
    error.locate(machine.text, machine.sampled + machine.forced)
    return DecodeFailed(
        error.code,
        error.message,
        error.position or 0,
        error.step or 0,
        error.tail.decode("utf-8", "replace"),
        error.state,
    )


class Generating:
    """A generation that takes turns with others, or none."""

    def __init__(
        self,
        index: int,
        prompt: list[int],
        machine: SpanMachine,
        sampler: Sampler,
        request: Request,
    ) -> None:
        self.index = index
        self.machine = machine
        self.error: DecodeError | None = None
        """Why it ended with `decode_error`."""
        self._ledger = request.ledger or request.receipt
        self._deadline = Deadline(request.time_limit, request.cancellation)
        self._prompt_tokens = len(prompt)
        self._reason: FinishReason | None = None
        self._sampler = sampler
        self._pending = deque(prompt)
        self._blocks: tuple[Block, ...] = ()
        self._milliseconds = 0.0

    def begin(self) -> None:
        """It has its turn: its time starts."""
        self._deadline.begin()

    def has_read_prompt(self) -> None:
        """The engine has the prompt already: `advance` comes next, with the logits after it."""
        self._sampler.observe(self._pending)
        self._pending.clear()

    def next_feed(self, sequence: int, most: int) -> Feed:
        """Up to `most` of the tokens that are to be fed; logits are wanted after the last of them."""
        tokens = [self._pending.popleft() for _ in range(min(most, len(self._pending)))]
        self._sampler.observe(tokens)
        return Feed(sequence, tokens, wants_logits=not self._pending)

    def advance(self, logits: Logits | None, milliseconds: float) -> Iterator[Event]:
        """Go on from the logits after a feed, which took so long; without logits there is more to feed."""
        self._milliseconds += milliseconds
        if logits is not None:
            for block in self._blocks:
                yield Injected(block.span, block.kind, block.text, block.tokens, round(self._milliseconds, 2))
            self._blocks = ()
            self._milliseconds = 0.0
        # A block that is only half fed is fed to its end first: it is in the text, and must be told.
        reason = None if self._blocks else self._deadline.reason()
        if reason is not None:
            self._reason = self.machine.stop(reason).reason
        elif logits is not None:
            yield from self._sampled(logits)
        yield from self.machine.drain()
        if self._reason is not None:
            yield self.machine.finished(self._reason, self._prompt_tokens)

    def cancelled(self) -> Iterator[Event]:
        """The events of one that was cancelled before its turn came; none where it was not."""
        if (reason := self._deadline.reason()) is not None:
            yield self.machine.finished(reason, self._prompt_tokens)

    def _sampled(self, logits: Logits) -> Iterator[Event]:
        try:
            yield from self._sample(logits)
        except DecodeError as error:
            self.error = error
            failed = failure(error, self.machine)
            self._reason = self.machine.stop("decode_error").reason
            yield from self.machine.drain()
            yield failed

    def _sample(self, logits: Logits) -> Iterator[Event]:
        if self.machine.remaining <= 0:  # a forced block was the last that fits
            self._reason = self.machine.stop("length").reason
            return
        if self._ledger:
            drawn = self._sampler.explain(logits, self.machine.mask())
            token = drawn.token
            yield Step(**asdict(drawn))
        else:
            token = self._sampler.sample(logits, self.machine.mask())
        action = self.machine.advance(token)
        if isinstance(action, Stop):
            self._reason = action.reason
            return
        if isinstance(action, Force):
            if not action.replaces_token:
                self._pending.append(token)
            self._pending.extend(action.tokens)
            self._blocks = action.blocks
        else:
            self._pending.append(token)
