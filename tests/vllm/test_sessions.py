"""The turns of a session, against an engine that says what the test wants it to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import pytest

from evalspan.backends.vllm_sessions import session
from evalspan.orchestrator import FreeText, SamplingParams
from evalspan.orchestrator.backend import Chunk, SpanRequest
from evalspan.orchestrator.replay import Replayer

PROMPT = (1, 2, 3)
END = 2


@dataclass
class Completion:
    token_ids: list[int]
    finish_reason: str | None = None


@dataclass
class Params:
    max_tokens: int
    keys: dict[str, Any]


class Engine:
    """Yields the completions of each turn once it has the turn's input, which it keeps and makes longer."""

    def __init__(self, turns: list[list[Completion]]) -> None:
        self.turns = turns
        self.inputs: list[list[int]] = []
        self.given: list[list[int]] = []
        self.params_of: list[Params] = []

    def params(self, sampling: SamplingParams, max_tokens: int, turn: int, keys: dict[str, Any]) -> Params:
        return Params(max_tokens, dict(keys))

    def input(self, tokens: Any) -> list[int]:
        return [*tokens]

    async def outputs(self, prompt: AsyncGenerator[Any, None], params: Params) -> AsyncGenerator[Completion, None]:
        for turn in self.turns:
            given = await anext(prompt)
            self.inputs.append(list(given.prompt))
            self.params_of.append(given.sampling_params)
            given.prompt += [0] * 10  # as vLLM does with the list that it is given
            for completion in turn:
                yield completion


def run(replayer: Replayer, engine: Engine, max_tokens: int = 60) -> list[Chunk]:
    async def gather() -> list[Chunk]:
        # With a limit: a session that waits for what never comes is a failure, and no hang.
        async with asyncio.timeout(30):
            return await chunks()

    async def chunks() -> list[Chunk]:
        request = SpanRequest(PROMPT, max_tokens, SamplingParams(), "grammar-eval", FreeText())
        return [chunk async for chunk in session(engine, replayer, request, {"evalspan": "default"})]  # type: ignore[arg-type]

    return asyncio.run(gather())


@pytest.fixture(scope="module")
def script(tokenizer: Any) -> tuple[list[int], list[int], list[int]]:
    """A span, what is forced after it, and what comes then."""
    return (
        tokenizer.encode(b"It is <calc>2 + 3</calc>"),
        tokenizer.encode(b"<result>5</result>"),
        tokenizer.encode(b" in all"),
    )


def test_a_turn_takes_the_forced_tokens_alone_and_all_that_counts_so_far(replayer: Replayer, script: Any) -> None:
    span, forced, rest = script
    engine = Engine(
        [
            [Completion(span[:4]), Completion([*span[4:], END], "stop")],
            [Completion(rest), Completion([END], "stop")],
        ]
    )
    chunks = run(replayer, engine)
    assert [token for chunk in chunks for token in chunk.tokens] == [*span, *forced, *rest, END]
    assert chunks[-1].end == "eos"
    assert engine.inputs == [list(PROMPT), forced]
    first, second = engine.params_of
    assert first.max_tokens == 60 and first.keys["evalspan_history"] == []
    assert second.max_tokens == 60 - len(span) - len(forced)
    assert second.keys["evalspan_history"] == [*span, *forced]
    assert first.keys["evalspan_session"] == second.keys["evalspan_session"] == 1


def test_forced_tokens_are_told_once_the_model_has_read_them(replayer: Replayer, script: Any) -> None:
    span, forced, rest = script
    engine = Engine([[Completion([*span, END], "stop")], [Completion(rest[:1]), Completion([*rest[1:], END], "stop")]])
    first, second, _ = run(replayer, engine)
    assert list(first.tokens) == span
    assert list(second.tokens) == [*forced, rest[0]]


def test_what_was_forced_last_and_fills_the_limit_is_not_sent(replayer: Replayer, script: Any) -> None:
    span, forced, _ = script
    engine = Engine([[Completion([*span, END], "stop")]])
    (chunk,) = run(replayer, engine, max_tokens=len(span) + len(forced))
    assert list(chunk.tokens) == [*span, *forced]
    assert engine.inputs == [list(PROMPT)]


def test_a_turn_that_ends_where_nothing_is_due_ends_the_session(replayer: Replayer, script: Any) -> None:
    """A continuation without tokens has been reported to end an engine: there is none, and the reader sees an error."""
    span, _, _ = script
    engine = Engine([[Completion(span[:2], "stop")], [Completion(span[2:], "stop")]])
    chunks = run(replayer, engine)
    assert chunks == [Chunk(tokens=tuple(span[:2]), end="eos")]
    assert engine.inputs == [list(PROMPT)]


def test_an_engine_that_goes_on_where_its_turn_was_to_end_is_not_believed(replayer: Replayer, script: Any) -> None:
    span, _, rest = script
    engine = Engine([[Completion([*span, *rest])], [Completion([END], "stop")]])
    chunks = run(replayer, engine)
    assert chunks == [Chunk(tokens=(*span, *rest), end="eos")]  # in which the driver finds a lost token
    assert engine.inputs == [list(PROMPT)]


def test_a_turn_that_is_cut_off_ends_the_session(replayer: Replayer, script: Any) -> None:
    span, _, _ = script
    chunks = run(replayer, Engine([[Completion(span[:3], "length")]]))
    assert chunks == [Chunk(tokens=tuple(span[:3]), end="length")]
