"""What the driver costs: a raw llama.cpp loop against the driver without a grammar, and with one, span unused."""

import statistics
import time

import numpy as np

from evalspan.orchestrator import Driver, Message
from evalspan.orchestrator.backend import Feed, StepEngine
from evalspan.orchestrator.grammar import Mode
from evalspan.orchestrator.machine import SpanMachine, SpanPlan
from evalspan.orchestrator.matcher import CompiledGrammar, Vocabulary
from evalspan.orchestrator.sentences import FreeText

STEPS = 64
ROUNDS = 7
PROMPT = [Message("user", "Tell me about the sea.")]


def raw(driver: Driver) -> float:
    """Tokens per second of a loop that takes the largest logit and feeds it."""
    engine = driver.backend.engine
    assert isinstance(engine, StepEngine)  # noqa: S101  for the type checker
    sequence = engine.open()
    try:
        (logits,) = engine.decode([Feed(sequence, driver.backend.tokenizer.encode_prompt(PROMPT))])
        start = time.perf_counter()
        for _ in range(STEPS):
            (logits,) = engine.decode([Feed(sequence, [int(np.argmax(logits))])])
        return STEPS / (time.perf_counter() - start)
    finally:
        engine.close(sequence)


def driven(driver: Driver, mode: Mode) -> float:
    """Tokens per second of the driver, from its first event."""
    events = driver.stream(PROMPT, mode=mode, max_tokens=STEPS + 1)
    next(events)
    start = time.perf_counter()
    last = list(events)[-1]
    return (last.sampled_tokens - 1) / (time.perf_counter() - start)  # type: ignore[union-attr]


def mask_microseconds(driver: Driver) -> list[float]:
    """The time of each mask of plain text, one per token of a text with a `<` in each sentence."""
    tokenizer = driver.backend.tokenizer
    vocabulary = Vocabulary(tokenizer)
    grammar = CompiledGrammar(FreeText().compile(driver.registry, vocabulary.marks), vocabulary)
    machine = SpanMachine(
        SpanPlan(driver.registry),
        lambda name, content, rule: (driver.evaluators.evaluate(name, content, rule), 0.0),
        max_tokens=1_000_000,
        tokenizer=tokenizer,
        matcher=grammar.matcher(),
    )
    times = []
    for token in tokenizer.encode(b"The sea is wide, and a < b holds where waves are small. " * 200):
        start = time.perf_counter()
        machine.mask()
        times.append((time.perf_counter() - start) * 1e6)
        machine.advance(token)
    return times


def main() -> None:
    """Print tokens per second, as medians of interleaved rounds, and their ratios to the raw loop."""
    with Driver.open("llama_cpp", context_tokens=512) as driver:
        loops = {
            "raw llama.cpp loop": lambda: raw(driver),
            "driver, no-grammar": lambda: driven(driver, "no-grammar"),
            "driver, grammar-eval": lambda: driven(driver, "grammar-eval"),
        }
        figures: dict[str, list[float]] = {name: [] for name in loops}
        for _ in range(ROUNDS):
            for name, loop in loops.items():
                figures[name].append(loop())
        base = statistics.median(figures["raw llama.cpp loop"])
        for name, rates in figures.items():
            rate = statistics.median(rates)
            print(f"{name:24} {rate:8.1f} tokens/s  ratio {rate / base:.3f}")
        masks = mask_microseconds(driver)
        p99 = sorted(masks)[len(masks) * 99 // 100]
        print(f"mask of plain text       mean {statistics.mean(masks):.1f} us, p99 {p99:.1f} us, goal 5 and 50 us")


if __name__ == "__main__":
    main()
