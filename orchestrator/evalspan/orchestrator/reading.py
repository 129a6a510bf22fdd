"""Driving an engine that runs the span machine itself: read along, tell what was done, and hold the engine to it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from evalspan.orchestrator.backend import Chunk, SpanRequest
from evalspan.orchestrator.errors import DecodeError
from evalspan.orchestrator.events import Event, FinishReason, Injected
from evalspan.orchestrator.generating import Deadline, failure
from evalspan.orchestrator.replay import OutputReader

__all__ = ["Reading"]


class Reading:
    """One generation, of one completion. `together` asks for its chunks, as it does for `Resuming`."""

    def __init__(self, index: int, reader: OutputReader, request: SpanRequest, deadline: Deadline) -> None:
        """`reader` stands at the start of the output."""
        self.index = index
        self.over = False
        self.error: DecodeError | None = None
        """Why it ended with `decode_error`."""
        self._reader = reader
        self._request = request
        self._deadline = deadline
        self._forcing: float | None = None
        """When the close tag came whose result is on its way, in seconds."""

    @property
    def paused(self) -> bool:
        """Whether nothing more of the completion is wanted."""
        return self.over

    def begin(self) -> None:
        """Start the clock of its deadline."""
        self._deadline.begin()

    def request(self) -> SpanRequest:
        """What to ask the engine for."""
        return self._request

    def take(self, chunk: Chunk | None) -> Iterator[Event]:
        """The events of a chunk, None where the completion ended without a reason. The deadline is looked at too."""
        reader = self._reader
        try:
            if chunk is None:
                raise DecodeError("the engine ended a completion without a reason")
            for token in chunk.tokens:
                # What is behind the end, a token of the engine's or of a text that a stop string cut off, is dropped.
                if reader.reason is None:
                    reader.take(token)
                    if reader.due is not None and self._forcing is None:
                        self._forcing = time.perf_counter()
            if chunk.end == "eos" and reader.reason is None:
                raise DecodeError("the engine ended an output that the span machine would go on with")
        except DecodeError as error:
            yield from self._failed(error)
            return
        reason = reader.reason or self._deadline.reason() or ("length" if chunk.end == "length" else None)
        yield from self._end(reason) if reason is not None else self._events()

    def wait(self) -> Iterator[Event]:
        """The events of a time in which no chunk came: none, unless the deadline is over."""
        if (reason := self._deadline.reason()) is not None:
            yield from self._end(reason)

    def lost(self) -> Iterator[Event]:
        """What was received and not yet told, where the engine has failed; the error is the caller's to raise."""
        self.over = True
        self._reader.stop("decode_error")
        yield from self._events()

    def _end(self, reason: FinishReason) -> Iterator[Event]:
        self.over = True
        if self._reader.reason is None:
            self._reader.stop(reason)
        yield from self._events()
        yield self._reader.machine.finished(self._reader.reason or reason, len(self._request.tokens))

    def _failed(self, error: DecodeError) -> Iterator[Event]:
        self.error = error
        self.over = True
        machine = self._reader.machine
        failed = failure(error, machine)
        self._reader.stop("decode_error")
        yield from self._events()
        yield failed
        yield machine.finished("decode_error", len(self._request.tokens))

    def _events(self) -> Iterator[Event]:
        """What the reader has told since the last time, with what forcing took as far as this process can see."""
        events, self._reader.events = self._reader.events, []
        for event in events:
            if isinstance(event, Injected):
                since = self._forcing
                milliseconds = (time.perf_counter() - since) * 1000 if since is not None else 0.0
                event = replace(event, milliseconds=round(milliseconds, 2))
            yield event
        if self._reader.due is None:
            self._forcing = None
