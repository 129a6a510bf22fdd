"""Driving an engine that samples by itself: watch the completion, cancel it at a close tag, resume with the result."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing

from evalspan.orchestrator.actions import Action, Continue, Force
from evalspan.orchestrator.backend import Chunk, CompletionRequest, PromptText, RequestEngine
from evalspan.orchestrator.errors import BackendError, DecodeError
from evalspan.orchestrator.events import Event, Injected
from evalspan.orchestrator.generating import Deadline, failure
from evalspan.orchestrator.machine import SpanMachine
from evalspan.orchestrator.sampling import SamplingParams

__all__ = ["Resuming", "resumed"]


class Resuming:
    """One generation, made of as many completions as there are injections, and one.

    The engine is asked to stop at `closing_tags`; stop strings are the machine's, which knows what was forced. A
    machine without a tokenizer reads the bytes of chunks; their tokens are kept as long as all are known.
    """

    def __init__(
        self,
        index: int,
        machine: SpanMachine,
        prompt: PromptText,
        sampling: SamplingParams,
        closing_tags: Sequence[str],
        deadline: Deadline,
    ) -> None:
        self.index = index
        self.paused = False
        """Nothing more of the completion is wanted: there is another to ask for, unless the generation is over."""
        self.over = False
        self.error: DecodeError | None = None
        """Why it ended with `decode_error`."""
        self._machine = machine
        self._prompt = prompt
        self._sampling = sampling
        self._tags = tuple(closing_tags)
        self._deadline = deadline
        self._history = list(prompt.tokens) if prompt.tokens is not None else None
        self._turn = 0

    def begin(self) -> None:
        """Start the clock of its deadline."""
        self._deadline.begin()

    def request(self) -> CompletionRequest:
        """What to ask the engine for now."""
        self.paused = False
        machine = self._machine
        text = self._prompt.text + bytes(machine.text)
        # Copies: an engine may keep its request, and even extend the list.
        return CompletionRequest(
            tuple(self._history or ()), text, machine.remaining, self._sampling, self._tags, self._turn
        )

    def take(self, chunk: Chunk | None) -> Iterator[Event]:
        """The events of a chunk, None where the completion ended without a reason. The deadline is looked at too."""
        start = time.perf_counter()
        machine = self._machine
        try:
            if chunk is None:
                raise DecodeError("the engine ended a completion without a reason")
            action = self._read(chunk)
        except DecodeError as error:
            self.error = error
            failed = failure(error, machine)
            reason = machine.stop("decode_error").reason
            yield from machine.drain()
            yield failed
            self.over = self.paused = True
            yield machine.finished(reason, self._prompt.count)
            return
        if isinstance(action, Continue) and (late := self._deadline.reason()) is not None:
            action = machine.stop(late)
        yield from machine.drain()
        if isinstance(action, Continue):
            return
        self.paused = True
        if isinstance(action, Force):
            milliseconds = round((time.perf_counter() - start) * 1000, 2)
            for block in action.blocks:
                yield Injected(block.span, block.kind, block.text, block.tokens, milliseconds)
            self._turn += 1
            over = self._deadline.reason() or ("length" if machine.remaining <= 0 else None)
            if over is None:
                return
            action = machine.stop(over)
            yield from machine.drain()
        self.over = True
        yield machine.finished(action.reason, self._prompt.count)

    def wait(self) -> Iterator[Event]:
        """The events of a time in which no chunk came: none, unless the deadline is over."""
        if (reason := self._deadline.reason()) is not None:
            self._machine.stop(reason)
            yield from self._machine.drain()
            self.over = self.paused = True
            yield self._machine.finished(reason, self._prompt.count)

    def lost(self) -> Iterator[Event]:
        """What was received and not yet told, where the engine has failed; the error is the caller's to raise."""
        self._machine.stop("decode_error")
        self.over = self.paused = True
        yield from self._machine.drain()

    def _read(self, chunk: Chunk) -> Action:
        """What a chunk means; its tokens up to the first that is no plain continuation join the history."""
        machine = self._machine
        if machine.reads_bytes:
            return self._read_bytes(chunk)
        history = self._history if self._history is not None else []
        for token in chunk.tokens:
            action = machine.advance(token)
            if isinstance(action, Continue) or (isinstance(action, Force) and not action.replaces_token):
                history.append(token)
            if isinstance(action, Force):
                history += action.tokens
            if not isinstance(action, Continue):
                return action
        if chunk.data and not chunk.tokens:
            action = machine.advance_bytes(chunk.data)
            if isinstance(action, Force):
                history += action.tokens
            if not isinstance(action, Continue):
                return action
        return machine.stop(chunk.end) if chunk.end else Continue()

    def _read_bytes(self, chunk: Chunk) -> Action:
        """As `_read`, by bytes: a chunk is of as many tokens as it shows, or of one."""
        machine = self._machine
        action: Action = Continue()
        if chunk.data:
            action = machine.advance_bytes(chunk.data, len(chunk.tokens) or 1)
            kept = chunk.tokens
            if isinstance(action, Force):
                kept = action.tokens if action.replaces_token else (*chunk.tokens, *action.tokens)
                known = all(block.tokens for block in action.blocks) and (action.replaces_token or bool(chunk.tokens))
            else:
                known = bool(chunk.tokens)
            if self._history is not None and known:
                self._history += kept
            else:
                self._history = None
        else:
            machine.sampled += len(chunk.tokens)  # an end token, which spells nothing
        if isinstance(action, Continue) and chunk.end:
            return machine.stop(chunk.end)
        return action


def resumed(engine: RequestEngine, resuming: Resuming) -> Generator[Event, None, None]:
    """Yield the events of a generation. The deadline is looked at whenever the engine yields.

    Raises:
        DecodeError: a completion ends without saying why; after the `Finished` event.
        BackendError: the engine fails; after the events of what was received.
    """
    resuming.begin()
    while not resuming.over:
        with closing(engine.complete(resuming.request())) as completion:
            while not resuming.paused:
                try:
                    events = list(resuming.take(next(completion, None)))
                except BackendError:  # of the completion, or of a question about a forced text
                    yield from resuming.lost()
                    raise
                if resuming.paused:
                    completion.close()
                yield from events
    if resuming.error is not None:
        raise resuming.error
