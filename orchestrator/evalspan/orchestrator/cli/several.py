"""Showing several outputs of one prompt, samples or beams, and keeping the metrics of a run."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from evalspan.orchestrator.beam import Hypothesis
    from evalspan.orchestrator.driver import Driver
    from evalspan.orchestrator.events import Event
    from evalspan.orchestrator.requests import Generation

__all__ = ["metrics_kept", "print_beams", "print_samples", "show_beams", "show_samples"]


def show_samples(samples: list[Generation]) -> None:
    """The texts on standard output, and which is which on standard error."""
    for number, sample in enumerate(samples, 1):
        _show(f"sample {number} of {len(samples)}, seed {sample.seed}", sample.events)


def print_samples(events: Iterable[tuple[int, Event]], seed: int) -> None:
    """One event a line as things happen, with the number of its sample and that one's seed."""
    from evalspan.orchestrator.events import event_json

    for index, event in events:
        click.echo(event_json(event, {"sample": index, "seed": seed + index}))


def show_beams(found: list[Hypothesis]) -> None:
    """The texts on standard output, the best first, and what they are worth on standard error."""
    for number, one in enumerate(found, 1):
        heading = f"beam {number} of {len(found)}, score {one.score:.4f}, log p {one.log_probability:.4f}"
        _show(f"{heading}, length {one.length}", one.generation.events)


def print_beams(found: list[Hypothesis]) -> None:
    """One output a line, the best first, with its events."""
    from evalspan.orchestrator.events import event_json

    for rank, one in enumerate(found, 1):
        facts = {
            "rank": rank,
            "score": one.score,
            "log_probability": one.log_probability,
            "length": one.length,
            "text": one.text,
            "reason": one.generation.reason,
            "tokens": one.tokens,
            "events": [json.loads(event_json(event)) for event in one.generation.events],
        }
        click.echo(json.dumps(facts, ensure_ascii=False, allow_nan=False))


def _show(heading: str, events: Iterable[Event]) -> None:
    from rich.console import Console

    from evalspan.orchestrator.cli.display import finish_line, show_stream

    click.echo(f"evalspan: {heading}", err=True)
    if remark := finish_line(show_stream(Console(highlight=False), events)):
        click.echo(f"evalspan: {remark}", err=True)


@contextmanager
def metrics_kept(driver: Driver, path: Path | None) -> Generator[None, None, None]:
    """Write the driver's counters to a file at the end, also where that is an error."""
    from evalspan.orchestrator.files import write_whole
    from evalspan.policies import EvalspanError

    try:
        yield
    except BaseException:
        with suppress(EvalspanError):  # the error on its way says more
            if path is not None:
                write_whole(path, driver.counters.prometheus())
        raise
    if path is not None:
        write_whole(path, driver.counters.prometheus())
