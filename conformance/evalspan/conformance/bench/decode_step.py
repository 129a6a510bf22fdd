"""What an evaluation is beside one decode step of a real model, measured between the steps of a generation."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evalspan.conformance.bench.subjects import Subject
from evalspan.conformance.bench.timing import collection_off, median_us, timed
from evalspan.orchestrator.backend import BackendOptions, Feed, Logits, StepEngine
from evalspan.orchestrator.errors import BackendError
from evalspan.orchestrator.plugins import backend_class

__all__ = ["DecodeStep", "Share", "between_steps"]

_PROMPT = "The sea is wide and deep, and the people who live beside it"


class Share(NamedTuple):
    """What one evaluation costs between two steps, beside the median step.

    A step leaves nothing of ours in the caches. What follows at once is as fast as in a loop of evaluations.
    """

    evaluator: str
    runtime: str
    p50_us: float
    """Of the first evaluation after a step."""
    share: float
    p50_us_at_once: float
    """Of the same evaluation, made again at once."""
    share_at_once: float


class DecodeStep(NamedTuple):
    """One sequence alone, a token at a time."""

    model: str
    """Name of the model's file."""
    p50_us: float
    shares: list[Share]


def between_steps(model: str, subjects: Sequence[Subject], each: int, step: Callable[[], None]) -> DecodeStep:
    """Decode with `model` (`default`: the one that the backend finds), and evaluate one subject after every step.

    Every subject is evaluated `each` times; `step` is called after each of these rounds.

    Raises:
        BackendError: the engine or the model is missing or cannot be used.
    """
    backend = backend_class("llama_cpp")(BackendOptions(model=None if model == "default" else model))
    try:
        engine = backend.engine
        if not isinstance(engine, StepEngine):
            raise BackendError(f"backend {backend.name!r} does not decode step by step")
        generation = _Generation(engine, backend.tokenizer.encode_prompt(_PROMPT))
        steps = array("q")
        first, second = ([array("q") for _ in subjects] for _ in range(2))
        with collection_off():
            for _ in range(each):
                for i, subject in enumerate(subjects):
                    steps.append(generation.step())
                    cold, warm = timed(subject.run, 2)
                    first[i].append(cold)
                    second[i].append(warm)
                step()
        whole = median_us(steps)
        shares = []
        for subject, cold_times, warm_times in zip(subjects, first, second, strict=True):
            cold_us, warm_us = median_us(cold_times), median_us(warm_times)
            figures = (round(cold_us, 2), round(cold_us / whole, 8), round(warm_us, 2), round(warm_us / whole, 8))
            shares.append(Share(subject.evaluator, subject.runtime, *figures))
        return DecodeStep(Path(backend.model).name, round(whole, 1), shares)
    finally:
        backend.shutdown()


class _Generation:
    """Greedy decoding without end: where the context is full, it begins again."""

    def __init__(self, engine: StepEngine, prompt: Sequence[int]) -> None:
        self._engine = engine
        self._prompt = prompt
        self._sequence, self._logits, self._left = self._begun()

    def step(self) -> int:
        """Decode one token, and answer how many nanoseconds that took."""
        if self._left == 0:
            self._engine.close(self._sequence)
            self._sequence, self._logits, self._left = self._begun()
        self._left -= 1
        assert self._logits is not None  # noqa: S101 - they were asked for
        feed = Feed(self._sequence, [int(np.argmax(self._logits))])
        start = time.perf_counter_ns()
        answers = self._engine.decode([feed])
        taken = time.perf_counter_ns() - start
        self._logits = answers[0]
        return taken

    def _begun(self) -> tuple[int, Logits | None, int]:
        """A new sequence with the prompt in it, its logits, and the tokens that still fit."""
        sequence = self._engine.open()
        logits = self._engine.decode([Feed(sequence, self._prompt)])[0]
        return sequence, logits, self._engine.context_tokens - len(self._prompt)
