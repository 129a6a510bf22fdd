"""What the driver costs: ratios of our speed to a baseline's, each measured in one run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from evalspan.backends.scripted import ScriptedBackend
from evalspan.conformance.bench.progress import Progress
from evalspan.orchestrator import BackendOptions, Driver, Finished, FreeText, Message, Mode, Request
from evalspan.orchestrator.backend import Backend, Feed, StepEngine
from evalspan.orchestrator.machine import SpanMachine, SpanPlan
from evalspan.orchestrator.matcher import CompiledGrammar, Vocabulary
from evalspan.orchestrator.plugins import backend_class
from evalspan.policies import Registry

__all__ = ["DriverRow", "mask_microseconds", "run"]

_STEPS = 48
_SLOTS = 16
_PROMPT = [Message("user", "Tell me about the sea.")]
_BLOCK = 9  # forced tokens of an ordinary result in small vocabularies
_LONG = 100_000
_TENTH = _LONG // 10


@dataclass(frozen=True, slots=True)
class DriverRow:
    """A ratio of speeds, ours over the baseline's: higher is better, and the goal is a floor."""

    name: str
    ratio: float
    goal: float

    @property
    def met(self) -> bool:
        """Whether the goal is reached."""
        return self.ratio >= self.goal


def run(rounds: int, model: str | None) -> list[DriverRow]:
    """Measure everything; `model` as the llama_cpp backend takes it.

    Raises:
        BackendError: the model cannot be opened.
    """
    rows = [_flat(), _thousand()]
    with _opened(model, 1) as driver:
        rows += _single(driver, rounds)
    with _opened(model, _SLOTS) as driver:
        rows.append(_batched(driver, rounds))
    return rows


@contextmanager
def _opened(model: str | None, slots: int) -> Iterator[Driver]:
    backend: Backend = backend_class("llama_cpp")(BackendOptions(model=model, context_tokens=512, slots=slots))
    with Driver(backend) as driver:
        yield driver


def _engine(driver: Driver) -> StepEngine:
    engine = driver.backend.engine
    if not isinstance(engine, StepEngine):
        raise TypeError("llama.cpp is a step engine")
    return engine


def _single(driver: Driver, rounds: int) -> list[DriverRow]:
    """One sequence: the raw loop, the driver without and with a grammar, and a block against as many steps."""
    loops: dict[str, Callable[[], float]] = {
        "raw": lambda: _raw(driver),
        "no-grammar": lambda: _driven(driver, "no-grammar"),
        "grammar-eval": lambda: _driven(driver, "grammar-eval"),
        "steps": lambda: _fed(driver, [1] * _BLOCK),
        "block": lambda: _fed(driver, [_BLOCK]),
    }
    seconds = _interleaved("one sequence", loops, rounds)
    return [
        DriverRow("spans on, none used, against a raw loop", seconds["raw"] / seconds["no-grammar"], 0.98),
        DriverRow("grammar on, no span used, against a raw loop", seconds["raw"] / seconds["grammar-eval"], 0.95),
        DriverRow(f"{_BLOCK} forced tokens against {_BLOCK} decode steps", seconds["steps"] / seconds["block"], 1.0),
    ]


def _batched(driver: Driver, rounds: int) -> DriverRow:
    """Sixteen sequences whose results are injected against sixteen that write them, in tokens per second."""
    loops = {
        "plain": lambda: _many(driver, "grammar-no-eval"),
        "injecting": lambda: _many(driver, "grammar-eval"),
    }
    per_token = _interleaved(f"batch of {_SLOTS}", loops, max(2, rounds // 2))
    return DriverRow(
        f"batch of {_SLOTS}, results injected against written, in tokens/s",
        per_token["plain"] / per_token["injecting"],
        0.97,
    )


def _interleaved(label: str, loops: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The median seconds of each loop, the loops taking turns."""
    figures: dict[str, list[float]] = {name: [] for name in loops}
    with Progress(label, rounds) as progress:
        for _ in range(rounds):
            for name, loop in loops.items():
                figures[name].append(loop())
            progress.step()
    return {name: statistics.median(values) for name, values in figures.items()}


def _raw(driver: Driver) -> float:
    """Seconds of a step in a loop that takes the largest logit and feeds it."""
    engine = _engine(driver)
    sequence = engine.open()
    try:
        (logits,) = engine.decode([Feed(sequence, driver.backend.tokenizer.encode_prompt(_PROMPT))])
        start = time.perf_counter()
        for _ in range(_STEPS):
            if logits is None:
                raise TypeError("logits were asked for")
            (logits,) = engine.decode([Feed(sequence, [int(np.argmax(logits))])])
        return (time.perf_counter() - start) / _STEPS
    finally:
        engine.close(sequence)


def _driven(driver: Driver, mode: Mode) -> float:
    """Seconds of a step in the driver, from its first event on."""
    events = driver.stream(_PROMPT, mode=mode, max_tokens=_STEPS + 1)
    next(events)
    start = time.perf_counter()
    *_, last = events
    seconds = time.perf_counter() - start
    if not isinstance(last, Finished):
        raise TypeError("a generation ends with Finished")
    return seconds / (last.sampled_tokens - 1)


def _fed(driver: Driver, sizes: list[int]) -> float:
    """Seconds to feed pieces of these sizes."""
    engine = _engine(driver)
    token = driver.backend.tokenizer.encode(b" sea")[0]
    sequence = engine.open()
    try:
        engine.decode([Feed(sequence, driver.backend.tokenizer.encode_prompt(_PROMPT))])
        start = time.perf_counter()
        for size in sizes:
            engine.decode([Feed(sequence, [token] * size)])
        return time.perf_counter() - start
    finally:
        engine.close(sequence)


def _many(driver: Driver, mode: Mode) -> float:
    """Seconds for each token, sampled or forced, of a full batch of boxes to count, the prompts being through."""
    from evalspan.orchestrator import experiment

    # Numbers of two digits each: prompts of one length, which all end in the same step.
    boxes = [experiment.Problem(10 + i, 40 - i, 50 + i) for i in range(_SLOTS)]
    requests = [
        Request(experiment.conversation(box, driver.registry), mode, experiment.SENTENCE, experiment.MAX_TOKENS)
        for box in boxes
    ]
    tokens, start = 0, 0.0
    for _, event in driver.stream_many(requests):
        start = start or time.perf_counter()
        if isinstance(event, Finished):
            tokens += event.sampled_tokens + event.forced_tokens
    return (time.perf_counter() - start) / tokens


def _flat() -> DriverRow:
    """The cost of a token at the start of a long text against one at its end, with a span every hundred tokens."""
    registry = Registry.parse(_LONG_REGISTRY)
    machine, tokens = _scripted_machine(registry, "calc")
    tenths: list[float] = []
    with Progress("text of 100,000 tokens", 10) as progress:
        for _ in range(10):
            start = time.perf_counter()
            for _ in range(_TENTH // len(tokens)):
                for token in tokens:
                    machine.mask()
                    machine.advance(token)
                machine.drain()
            tenths.append(time.perf_counter() - start)
            progress.step()
    return DriverRow("first tenth of 100,000 tokens against the last, per token", tenths[0] / tenths[-1], 0.9)


def _thousand() -> DriverRow:
    """The cost of a token with four registered evaluators against one with a thousand."""
    seconds = {}
    for count in (4, 1000):
        machine, tokens = _scripted_machine(Registry.parse(_many_spans(count)), "s3")
        for token in tokens * 4:  # the masks of text are computed once
            machine.mask()
            machine.advance(token)
        rates = []
        for _ in range(20):
            start = time.perf_counter()
            for token in tokens:
                machine.mask()
                machine.advance(token)
            rates.append(time.perf_counter() - start)
        seconds[count] = statistics.median(rates)
    return DriverRow("1,000 registered evaluators against 4, per token", seconds[4] / seconds[1000], 0.9)


def _scripted_machine(registry: Registry, span: str) -> tuple[SpanMachine, list[int]]:
    """A machine over a vocabulary of bytes, and tokens of text with one span, to be taken again and again."""
    rule = registry.span(span)
    backend = ScriptedBackend.replay([], vocabulary=[b"the ", b"sea ", b"is ", b"wide ", rule.open.encode()])
    driver = Driver(backend, registry)
    vocabulary = Vocabulary(backend.tokenizer)
    machine = SpanMachine(
        SpanPlan(registry),
        lambda name, content, rule: (driver.evaluators.evaluate(name, content, rule), 0.0),
        max_tokens=10 * _LONG,
        tokenizer=backend.tokenizer,
        matcher=CompiledGrammar(FreeText().compile(registry, vocabulary.marks), vocabulary).matcher(),
    )
    text = b"the sea is wide " * 20 + f"{rule.open}17+4{rule.close}".encode()
    return machine, backend.tokenizer.encode(text)


def mask_microseconds(model: str | None) -> list[float]:
    """The time of each mask of plain text over a real vocabulary, for a text with a `<` in each sentence."""
    with _opened(model, 1) as driver:
        tokenizer = driver.backend.tokenizer
        vocabulary = Vocabulary(tokenizer)
        machine = SpanMachine(
            SpanPlan(driver.registry),
            lambda name, content, rule: (driver.evaluators.evaluate(name, content, rule), 0.0),
            max_tokens=_LONG,
            tokenizer=tokenizer,
            matcher=CompiledGrammar(FreeText().compile(driver.registry, vocabulary.marks), vocabulary).matcher(),
        )
        times = []
        for token in tokenizer.encode(b"The sea is wide, and a < b holds where waves are small. " * 200):
            start = time.perf_counter()
            machine.mask()
            times.append((time.perf_counter() - start) * 1e6)
            machine.advance(token)
        return times


def _many_spans(count: int) -> str:
    return "version = 1\n" + "".join(
        f'[[evaluator]]\nname = "e{i}"\nbuiltin = "arithmetic/1"\n'
        f'[[span]]\nname = "s{i}"\nopen = "<s{i}>"\nclose = "</s{i}>"\ncontent = "[0-9+]+"\nevaluator = "e{i}"\n'
        for i in range(count)
    )


_LONG_REGISTRY = """
version = 1
[policy.default]
max_spans = 100000
max_injected_tokens = 1000000
[[evaluator]]
name = "arithmetic"
builtin = "arithmetic/1"
[[span]]
name = "calc"
open = "<calc>"
close = "</calc>"
content = "[0-9+]+"
evaluator = "arithmetic"
"""
