"""An engine that runs the span machine itself is read along with, and held to what the machine says."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any

import pytest
from support import CASE_REGISTRY, finished, streamed, timeless

from evalspan.backends.scripted import ScriptedBackend
from evalspan.orchestrator import (
    Cancellation,
    DecodeError,
    DecodeFailed,
    Driver,
    Event,
    GrammarError,
    Injected,
    Request,
    RequestError,
    SamplingParams,
    Text,
)
from evalspan.orchestrator.backend import Chunk, SpanEngine, SpanRequest
from evalspan.orchestrator.errors import BackendError
from evalspan.orchestrator.grammar import Grammar, Mode
from evalspan.policies import Registry

REGISTRY = Registry.parse(CASE_REGISTRY)
TEXT = "so <calc>2 + 3</calc> and <calc>1 / 0</calc>!"


class Completing:
    """A completion that yields given chunks; None keeps its reader waiting for ever."""

    def __init__(self, chunks: Iterable[Chunk | Exception | None]) -> None:
        self.chunks: Iterator[Chunk | Exception | None] = iter(chunks)
        self.closed = False

    def receive(self) -> Future[Chunk | None]:
        future: Future[Chunk | None] = Future()
        chunk = next(self.chunks, Chunk())
        if isinstance(chunk, Exception):
            future.set_exception(chunk)
        elif chunk is not None:
            future.set_result(None if chunk == Chunk() else chunk)
        return future

    def close(self) -> None:
        self.closed = True


class Spans:
    """A span engine that does what each test tells it."""

    context_tokens = 512
    connections = 2

    def __init__(self) -> None:
        self.outputs: list[Sequence[Chunk | Exception | None]] = []
        self.asked: list[SpanRequest] = []
        self.started: list[Completing] = []
        self.registry: Registry | None = None

    def serve(self, registry: Registry) -> None:
        self.registry = registry

    def check(self, mode: Mode, grammar: Grammar, sampling: SamplingParams) -> None:
        if mode == "no-grammar":
            raise RequestError("not inside an engine")

    def start(self, request: SpanRequest) -> Completing:
        self.asked.append(request)
        self.started.append(Completing(self.outputs[len(self.started) % len(self.outputs)]))
        return self.started[-1]


class Backend(ScriptedBackend):
    """The scripted backend's vocabulary, with a span engine."""

    engine: Any


def opened(outputs: list[Sequence[Chunk | Exception | None]]) -> tuple[Driver, Spans]:
    scripted = ScriptedBackend.replay([])
    backend = Backend.__new__(Backend)
    backend.__dict__.update(scripted.__dict__)
    backend.engine = engine = Spans()
    assert isinstance(engine, SpanEngine)
    engine.outputs = outputs
    return Driver(backend, REGISTRY), engine


def truth() -> tuple[list[Event], list[int], int]:
    """A generation on a step engine: its events, the tokens of its output, and the end token."""
    backend = ScriptedBackend.replay([bytes([byte]) for byte in TEXT.encode()])
    with Driver(backend, REGISTRY) as driver:
        events = list(driver.stream("go"))
    tokens: list[int] = []
    for event in events:
        if isinstance(event, Text):
            tokens += backend.tokenizer.encode(event.text.encode())
        elif isinstance(event, Injected):
            tokens += event.tokens
    return events, tokens, min(backend.tokenizer.eos_ids)


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_tokens_in_any_pieces_give_the_events_of_a_step_engine(size: int) -> None:
    events, tokens, end = truth()
    pieces = [Chunk(tokens=tuple(tokens[i : i + size])) for i in range(0, len(tokens), size)]
    driver, engine = opened([[*pieces, Chunk(tokens=(end,), end="eos")]])
    with driver:
        assert timeless(driver.stream("go")) == timeless(events)
    assert engine.registry is REGISTRY
    assert engine.asked[0].mode == "grammar-eval" and engine.asked[0].max_tokens == 256
    assert engine.started[0].closed


def test_many_run_at_once_and_each_is_told_under_its_number() -> None:
    events, tokens, end = truth()
    driver, engine = opened([[Chunk(tokens=(*tokens, end), end="eos")]])
    with driver:
        generations = driver.generate_many(Request("go") for _ in range(5))
    assert [timeless(generation.events) for generation in generations] == [timeless(events)] * 5
    assert len(engine.started) == 5


def test_a_forced_token_that_is_another_one_fails_that_generation_alone() -> None:
    _, tokens, end = truth()
    wrong = list(tokens)
    wrong[TEXT.index("</calc>") + len("</calc>")] += 1
    driver, _ = opened([[Chunk(tokens=tuple(wrong))], [Chunk(tokens=(*tokens, end), end="eos")]])
    with driver:
        first, second = driver.generate_many([Request("go"), Request("go")])
        assert first.reason == "decode_error" and second.reason == "eos"
        (failed,) = (event for event in first.events if isinstance(event, DecodeFailed))
        assert failed.code == "forced_token_lost"
    driver, _ = opened([[Chunk(tokens=tuple(wrong))]])
    with driver, pytest.raises(DecodeError, match="was to be forced"):
        driver.generate("go")


def test_an_engine_that_ends_too_early_is_an_error_and_not_an_end() -> None:
    _, tokens, _ = truth()
    inside = TEXT.index("2 +")
    for chunks in ([Chunk(tokens=tuple(tokens[:inside]), end="eos")], [Chunk(tokens=tuple(tokens[:inside]))]):
        driver, _ = opened([chunks])
        with driver, pytest.raises(DecodeError, match="the engine ended"):
            driver.generate("go")


def test_a_stop_string_ends_the_text_and_the_request() -> None:
    _, tokens, end = truth()
    driver, engine = opened([[Chunk(tokens=(*tokens, end), end="eos")]])
    with driver:
        generation = driver.generate("go", stop=(" and",))
    assert generation.reason == "stop_string"
    assert generation.text == "so <calc>2 + 3</calc><result>5</result>"
    assert engine.started[0].closed


def test_a_block_that_was_only_half_received_is_told_before_a_cancelled_end() -> None:
    _, tokens, _ = truth()
    half = TEXT.index("</calc>") + len("</calc>") + 4
    cancellation = Cancellation()
    driver, engine = opened([[Chunk(tokens=tuple(tokens[:half])), None]])
    with driver:
        events = []
        for event in driver.stream("go", cancellation=cancellation):
            events.append(event)
            cancellation.cancel()
    last = finished(events)
    assert last.reason == "cancelled" and last.text.endswith("</calc><result>5</result>")
    assert streamed(events) == last.text
    assert engine.started[0].closed


def test_a_time_limit_holds_while_the_engine_says_nothing() -> None:
    driver, engine = opened([[None]])
    with driver:
        start = time.monotonic()
        assert driver.generate("go", time_limit=0.2).reason == "time_limit"
        assert time.monotonic() - start < 5
    assert engine.started[0].closed


def test_an_engine_that_fails_says_so_after_what_it_gave() -> None:
    _, tokens, _ = truth()
    driver, _ = opened([[Chunk(tokens=tuple(tokens[:2])), BackendError("it is dead")]])
    with driver:
        events = driver.stream("go")
        assert [next(events), next(events)] == [Text("s"), Text("o")]
        with pytest.raises(BackendError, match="it is dead"):
            list(events)


def test_what_the_engine_refuses_is_refused_at_once() -> None:
    driver, engine = opened([[]])
    with driver:
        with pytest.raises(RequestError, match="not inside an engine"):
            driver.stream("go", mode="no-grammar")
        with pytest.raises(RequestError, match="has no ledger"):
            driver.stream("go", ledger=True)
        with pytest.raises(RequestError, match="at temperature 0"):
            driver.samples(Request("go"), 2)
        (event, last) = (event for _, event in driver.stream_many([Request("")], refused="report"))
        assert event.event == "request_failed" and finished([last]).reason == "refused"
    assert engine.started == []


def test_a_grammar_engine_that_the_engine_does_not_have_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = opened([[]])[0].backend
    monkeypatch.setattr("evalspan.orchestrator.driver.engine_identity", str)  # as where it is installed
    with pytest.raises(GrammarError, match="masks by itself"):
        Driver(backend, REGISTRY, grammar_engine="xgrammar")
