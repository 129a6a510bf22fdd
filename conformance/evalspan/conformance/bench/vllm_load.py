"""Loads for a vLLM engine, and what they take: many requests at once, straight to the engine without a driver."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from evalspan.backends.vllm_engine import VllmEngine
from evalspan.orchestrator.sampling import SamplingParams

__all__ = ["OPTED_IN", "Load", "environment", "neighbours", "prompt", "run_load"]

OPTED_IN: Mapping[str, Any] = {"evalspan": "default"}
"""The keys of a request that opts in."""


def prompt(number: int) -> str:
    """A text that a small model goes on with in lines like its own, of some 30 tokens: a span and a result in each."""
    # Days go on: with lines that could be the last one, a small model ends, and a batch that shrinks is another load.
    sums = ((3, 4), (10, 25), (7, 90), (11 + number, 5 + 3 * number))
    return "".join(
        f"Day {day}: <calc>{a} + {b}</calc><result>{a + b}</result> came.\n" for day, (a, b) in enumerate(sums, 1)
    )


@dataclass(slots=True)
class Load:
    """What a load took."""

    tokens: int = 0
    """Of all outputs, forced ones included."""
    seconds: float = 0.0
    gaps: list[float] = field(default_factory=list)
    """Seconds between two tokens of one output."""
    outputs: list[list[int]] = field(default_factory=list)


def run_load(
    engine: VllmEngine, prompts: Sequence[Sequence[int]], max_tokens: int, keys: Mapping[str, Any] | None = None
) -> Load:
    """Greedy completions of all the prompts at once; `keys` opt in."""
    return engine.submit(_run(engine, prompts, max_tokens, keys or {})).result()


async def _run(engine: VllmEngine, prompts: Sequence[Sequence[int]], max_tokens: int, keys: Mapping[str, Any]) -> Load:
    load = Load()

    async def complete(tokens: Sequence[int]) -> list[int]:
        output: list[int] = []
        last = None
        async for completion in engine.outputs(tokens, engine.params(SamplingParams(), max_tokens, 0, keys)):
            now = time.perf_counter()
            count = len(completion.token_ids)
            output += completion.token_ids
            if last is not None and count:
                load.gaps += [(now - last) / count] * count
            last = now
        return output

    start = time.perf_counter()
    load.outputs = list(await asyncio.gather(*(complete(tokens) for tokens in prompts)))
    load.seconds = time.perf_counter() - start
    load.tokens = sum(len(output) for output in load.outputs)
    return load


@contextmanager
def neighbours(engine: VllmEngine, prompts: Sequence[Sequence[int]], max_tokens: int) -> Iterator[None]:
    """Completions of others, which have begun and go on for as long as this is open, or up to `max_tokens`."""
    begun: list[Any] = []

    async def begin() -> None:
        for tokens in prompts:
            outputs = engine.outputs(tokens, engine.params(SamplingParams(), max_tokens, 0, {}))
            await anext(outputs)
            begun.append((outputs, asyncio.create_task(_drain(outputs))))

    async def end() -> None:
        for outputs, task in begun:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await outputs.aclose()

    engine.submit(begin()).result()
    try:
        yield
    finally:
        engine.submit(end()).result()


async def _drain(outputs: Any) -> None:
    async for _ in outputs:
        pass


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Variables that a process has which is started here, and this one only meanwhile."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
