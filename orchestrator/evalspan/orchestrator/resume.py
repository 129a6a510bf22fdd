"""Driving an engine that samples by itself: watch the completion, cancel it at a close tag, resume with the result."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import closing

from evalspan.orchestrator.backend import Chunk, CompletionRequest, RequestEngine
from evalspan.orchestrator.errors import DecodeError
from evalspan.orchestrator.events import Event, Finished, Injected
from evalspan.orchestrator.machine import Action, Continue, Force, SpanMachine
from evalspan.orchestrator.sampling import SamplingParams

__all__ = ["resumed"]


def resumed(
    engine: RequestEngine,
    machine: SpanMachine,
    prompt: list[int],
    prompt_text: bytes,
    sampling: SamplingParams,
    stops: list[str],
) -> Generator[Event, None, None]:
    """Yield the events of one generation, made of as many completions as there are injections, and one.

    Raises:
        DecodeError: a completion ends without saying why.
    """
    history = list(prompt)
    while True:
        # Copies: an engine may keep its request, and even extend the list.
        request = CompletionRequest(
            tuple(history), prompt_text + bytes(machine.text), machine.remaining, sampling, tuple(stops)
        )
        action: Action = Continue()
        start = 0.0
        with closing(engine.complete(request)) as completion:
            for chunk in completion:
                start = time.perf_counter()
                action = _take(machine, chunk, history)
                yield from machine.drain()
                if not isinstance(action, Continue):
                    break
        if isinstance(action, Continue):
            raise DecodeError("the engine ended a completion without a reason")
        if isinstance(action, Force):
            history += action.tokens
            milliseconds = round((time.perf_counter() - start) * 1000, 2)
            for block in action.blocks:
                yield Injected(block.span, block.kind, block.text, block.tokens, milliseconds)
            if machine.remaining > 0:
                continue
            action = machine.stop("length")
            yield from machine.drain()
        text = "".join(machine.output)
        yield Finished(action.reason, text, len(prompt), machine.sampled, machine.forced)
        return


def _take(machine: SpanMachine, chunk: Chunk, history: list[int]) -> Action:
    """What a chunk means; its tokens up to the first that is no plain continuation join the history."""
    for token in chunk.tokens:
        action = machine.advance(token)
        if isinstance(action, Continue) or (isinstance(action, Force) and not action.replaces_token):
            history.append(token)
        if not isinstance(action, Continue):
            return action
    if chunk.data and not chunk.tokens:
        action = machine.advance_bytes(chunk.data)
        if not isinstance(action, Continue):
            return action
    return machine.stop(chunk.end) if chunk.end else Continue()
