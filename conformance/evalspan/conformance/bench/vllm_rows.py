"""`evalspan bench vllm`: what evalspan costs inside vLLM, and what its three paths and a tool call take."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from evalspan.backends.in_engine.counters import COUNTERS
from evalspan.backends.in_engine.registries import REGISTRIES, SWITCH
from evalspan.backends.vllm_backend import VllmBackend
from evalspan.backends.vllm_settings import PATHS, VllmSettings, read_settings
from evalspan.conformance.bench.vllm_latency import (
    calculation_seconds,
    injection_seconds,
    tool_call_seconds,
)
from evalspan.conformance.bench.vllm_load import OPTED_IN, Load, environment, prompt, run_load
from evalspan.orchestrator import BackendError, BackendOptions, Driver

__all__ = ["BATCHES", "Found", "VllmFigures", "VllmRow", "run"]

BATCHES = (1, 8, 32)
_TOKENS = 96  # of an output: two injections, where the model goes on with lines like those of its prompt
_LOADS = ("plain", "loaded", "used")
_COUNTED = ("follow_ns", "mask_ns", "pin_ns", "update_ns")
_WAIT = 5.0  # seconds until the worker has written its counters; it does so when it has nothing to do


@dataclass(frozen=True, slots=True)
class VllmRow:
    """A ratio of speeds, ours over the baseline's: higher is better, and the goal is a floor. An informative row is of
    a clock on the wall, which on a machine that others use says little."""

    name: str
    ratio: float
    goal: float
    informative: bool = False

    @property
    def met(self) -> bool:
        """Whether the goal is reached."""
        return self.ratio >= self.goal


@dataclass(slots=True)
class VllmFigures:
    """Everything that was measured."""

    rows: list[VllmRow] = field(default_factory=list)
    loads: list[dict[str, Any]] = field(default_factory=list)
    """By batch and load: tokens per second, and the milliseconds between two tokens of one output."""
    paths: list[dict[str, Any]] = field(default_factory=list)
    """By path: milliseconds from a close tag to the first token after the result, alone and with neighbours."""
    worker: list[dict[str, Any]] = field(default_factory=list)
    """By batch: microseconds of the plugin for a row and step, by what they were spent on, and of a step."""
    calculation_ms: dict[str, float] = field(default_factory=dict)
    rounds: int = 0
    """That were complete when the time was over."""


def run(rounds: int, minutes: float, model: str | None, engine: Mapping[str, str]) -> VllmFigures:
    """Measure everything. No round is begun once `minutes` have passed, loading included; the first one is complete.

    Raises:
        BackendError: vLLM is not installed here, or cannot load the model; the text says what to do.
    """
    if "path" in engine:
        raise BackendError("the benchmark measures every path: leave the engine option path away")
    begun = time.monotonic()
    settings = replace(read_settings(BackendOptions(model, engine=engine)), context_tokens=2048, slots=max(BATCHES) + 1)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        counters = folder / "counters.json"
        click.echo("loading vLLM twice: without evalspan, and with it", err=True)
        plain = _plain(settings, stack)
        with environment({COUNTERS: str(counters), SWITCH: "", REGISTRIES: ""}):
            pinned = stack.enter_context(Driver(VllmBackend.connect(settings)))
        backend = _backend(pinned)
        drivers = {"in-engine": pinned}
        for path in PATHS:
            if path not in drivers:
                drivers[path] = stack.enter_context(Driver(backend.on(path)))
        found = Found(backend.tokenizer.pieces)
        for number in range(rounds):
            if number and time.monotonic() - begun > minutes * 60:
                break
            _loads(found, plain, backend, counters, number)
            _paths(found, drivers, backend, number)
            _calculations(found, drivers, backend)
            found.rounds += 1
            click.echo(f"round {number + 1} of {rounds}: {(time.monotonic() - begun) / 60:.1f} minutes", err=True)
        return found.figures()


def _plain(settings: VllmSettings, stack: ExitStack) -> VllmBackend:
    with environment({SWITCH: "off"}):
        plain = VllmBackend.connect(replace(settings, path="resume"))
    stack.callback(plain.shutdown)
    return plain


def _backend(driver: Driver) -> VllmBackend:
    if not isinstance(driver.backend, VllmBackend):
        raise TypeError("the driver is on the vllm backend")
    return driver.backend


class Found:
    """The measurements of all rounds."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self.rounds = 0
        self._pieces = pieces
        self.loads: dict[tuple[int, str], list[Load]] = {}
        self.counted: dict[int, list[dict[str, float]]] = {}
        """By batch: what the worker's counters grew by."""
        self.injections: dict[tuple[str, bool], list[float]] = {}
        self.calculations: dict[str, list[float]] = {}

    def figures(self) -> VllmFigures:
        figures = VllmFigures(rounds=self.rounds)
        speed = {
            key: statistics.median(load.tokens / load.seconds for load in loads) for key, loads in self.loads.items()
        }
        for (batch, name), loads in self.loads.items():
            gaps = sorted(gap * 1000 for load in loads for gap in load.gaps)
            figures.loads.append(
                {
                    "batch": batch,
                    "load": name,
                    "tokens_per_s": round(speed[batch, name], 1),
                    "itl_p50_ms": round(statistics.median(gaps), 1),
                    "itl_p99_ms": round(gaps[len(gaps) * 99 // 100], 1),
                    "tokens_per_injection": self._tokens_per_injection(loads) if name == "used" else None,
                }
            )
        for batch in BATCHES:
            for name, text in (("loaded", "loaded and not used"), ("used", "used")):
                ratio = speed[batch, name] / speed[batch, "plain"]
                figures.rows.append(VllmRow(f"batch {batch}: plugin {text}, tokens/s against plain", ratio, 0.95, True))
            counted = self.counted[batch]
            spent = (sum(grown[name] for name in _COUNTED) / grown["step_ns"] for grown in counted)
            left = 1 - statistics.median(spent)
            figures.rows.append(VllmRow(f"batch {batch}: what the plugin leaves of a step, in the worker", left, 0.98))
            figures.worker.append({"batch": batch, **_per_row(counted)})
        for path in PATHS:
            ms = {
                name: round(statistics.median(self.injections[path, crowded]) * 1000, 1)
                for name, crowded in (("alone_ms", False), ("crowded_ms", True))
            }
            figures.paths.append({"path": path, **ms})
        figures.calculation_ms = {
            name: round(statistics.median(seconds) * 1000, 1) for name, seconds in self.calculations.items()
        }
        tool = figures.calculation_ms["tool call"]
        figures.rows += (
            VllmRow(f"a calculation by {path} against a tool call", tool / ms, 2.0)
            for path, ms in figures.calculation_ms.items()
            if path != "tool call"
        )
        return figures

    def _tokens_per_injection(self, loads: Sequence[Load]) -> float | None:
        outputs = [output for load in loads for output in load.outputs]
        texts = (b"".join(self._pieces[token] for token in output) for output in outputs)
        results = sum(text.count(b"</result>") for text in texts)
        return round(sum(map(len, outputs)) / results, 1) if results else None


def _loads(found: Found, plain: VllmBackend, backend: VllmBackend, counters: Path, number: int) -> None:
    encode = backend.tokenizer.encode_prompt
    for batch in BATCHES:
        prompts = [encode(prompt(i)) for i in range(batch)]
        loads: dict[str, Callable[[], Load]] = {
            "plain": partial(run_load, plain.vllm, prompts, _TOKENS),
            "loaded": partial(run_load, backend.vllm, prompts, _TOKENS),
            "used": partial(run_load, backend.vllm, prompts, _TOKENS, OPTED_IN),
        }
        if number == 0:  # what is read, compiled and cached once
            for load in loads.values():
                load()
        for name in (*_LOADS[number % 3 :], *_LOADS[: number % 3]):
            before = _counters(counters) if name == "used" else {}
            found.loads.setdefault((batch, name), []).append(loads[name]())
            if name == "used":
                after = _counters_after(counters, before)
                grown = {key: value - before.get(key, 0) for key, value in after.items()}
                found.counted.setdefault(batch, []).append(grown)


def _counters(path: Path) -> dict[str, float]:
    return json.loads(path.read_text()) if path.exists() else {}


def _counters_after(path: Path, before: Mapping[str, float]) -> dict[str, float]:
    """The counters once they have stood still."""
    deadline = time.monotonic() + _WAIT
    now = _counters(path)
    while time.monotonic() < deadline:
        time.sleep(0.2)
        now, last = _counters(path), now
        if now == last and now != before:
            break
    return now


def _per_row(counted: Sequence[Mapping[str, float]]) -> dict[str, float]:
    sums = {name: sum(grown[name] for grown in counted) for name in (*_COUNTED, "step_ns", "rows", "steps")}
    each = {f"{name.removesuffix('_ns')}_us": round(sums[name] / 1000 / sums["rows"], 1) for name in _COUNTED}
    return {**each, "step_us": round(sums["step_ns"] / 1000 / sums["steps"])}


def _paths(found: Found, drivers: Mapping[str, Driver], backend: VllmBackend, number: int) -> None:
    for crowded in (False, True):
        for path, driver in drivers.items():
            if number == 0 and not crowded:
                injection_seconds(driver, backend, crowded=False, number=number)
            seconds = injection_seconds(driver, backend, crowded=crowded, number=number)
            found.injections.setdefault((path, crowded), []).extend(seconds)


def _calculations(found: Found, drivers: Mapping[str, Driver], backend: VllmBackend) -> None:
    ways: dict[str, Callable[[], float]] = {
        "in-engine": lambda: calculation_seconds(drivers["in-engine"]),
        "sessions": lambda: calculation_seconds(drivers["sessions"]),
        "tool call": lambda: tool_call_seconds(drivers["in-engine"], backend),
    }
    for name, measure in ways.items():
        if name not in found.calculations:
            measure()  # the grammar is compiled, and the prefix is in the cache
        found.calculations.setdefault(name, []).extend(measure() for _ in range(3))
