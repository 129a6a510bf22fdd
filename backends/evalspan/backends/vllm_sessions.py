"""Generations as sessions: the engine ends a turn at a close tag, and all forced tokens go in as the next input.

The processor in the worker masks as always, and where something is to be forced it pins the end token instead
(`evalspan_session`). That token has been sampled and not yet read by the model, and vLLM drops such a token when a
session goes on: so the next input is the forced tokens, and nothing else. They go through the model in one pass.
"""

# What is imported here is of vLLM's environment, which is not the one that the types are checked in.
# pyright: reportMissingImports=false
from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from evalspan.backends.vllm_engine import VllmEngine, chunk_of
from evalspan.orchestrator.backend import Chunk, SpanRequest
from evalspan.orchestrator.errors import DecodeError
from evalspan.orchestrator.replay import OutputReader, Replayer

__all__ = ["session"]


async def session(
    engine: VllmEngine, replayer: Replayer, request: SpanRequest, keys: Mapping[str, Any]
) -> AsyncGenerator[Chunk, None]:
    """Yield the tokens of a generation. Those that were forced are yielded once the model has read them."""
    from vllm.engine.protocol import StreamingInput

    reader = replayer.reader(mode=request.mode, grammar=request.grammar, max_tokens=request.max_tokens)
    history: list[int] = []  # the output so far, with what is about to be read
    pending: list[int] = []  # forced, and not yet read by the model
    inputs: asyncio.Queue[Any] = asyncio.Queue()

    def params() -> Any:
        # The worker begins each turn with nothing but this: what came before counts for the limits and the grammar.
        asked = {**keys, "evalspan_session": 1, "evalspan_history": [*history]}
        return engine.params(request.sampling, reader.machine.remaining, 0, asked)

    async def turns() -> AsyncGenerator[Any, None]:
        while True:
            yield await inputs.get()

    first = params()
    inputs.put_nowait(StreamingInput(engine.input(request.tokens), first))
    async with aclosing(engine.outputs(turns(), first)) as completions:
        async for completion in completions:
            chunk = chunk_of(completion)
            try:
                written = _read(reader, chunk)
                told = (*pending, *written)
                history += written
                pending = []
                if reader.reason is None and chunk.end == "eos":
                    pending = _take_due(reader)
                    history += pending
            except DecodeError:
                # Who reads the tokens comes to the same error, and says where.
                yield Chunk(tokens=(*pending, *chunk.tokens), end="eos")
                return
            if reader.reason is not None or chunk.end == "length":
                # What was forced last may end the output; then nobody needs to read it.
                yield Chunk(tokens=(*told, *pending), end=chunk.end)
                return
            if pending:
                inputs.put_nowait(StreamingInput(engine.input(pending), params()))
            if told:
                yield Chunk(tokens=told)


def _read(reader: OutputReader, chunk: Chunk) -> tuple[int, ...]:
    """Read the tokens of a turn; the end token that was pinned, where something is due, is none of the output."""
    for index, token in enumerate(chunk.tokens):
        if reader.due is not None and index == len(chunk.tokens) - 1 and chunk.end == "eos":
            return chunk.tokens[:index]
        reader.take(token)
    return chunk.tokens


def _take_due(reader: OutputReader) -> list[int]:
    """Read the tokens that are due.

    Raises:
        DecodeError: there are none; a session must not go on with nothing.
    """
    forced: list[int] = []
    while reader.reason is None and (token := reader.due) is not None:
        reader.take(token)
        forced.append(token)
    if not forced:
        raise DecodeError("the engine ended a turn where nothing is to be forced")
    return forced
