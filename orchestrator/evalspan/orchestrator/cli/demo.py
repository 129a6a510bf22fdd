"""`evalspan demo`: a real model counts the items in a box, first alone, then with an exact span."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalspan.orchestrator.cli.options import json_option, model_options, open_driver
from evalspan.orchestrator.cli.receipt import check_receipt, receipt_kept, receipt_option

if TYPE_CHECKING:
    from rich.console import Console

    from evalspan.orchestrator.driver import Driver, Request
    from evalspan.orchestrator.events import Event
    from evalspan.orchestrator.experiment import Problem
    from evalspan.orchestrator.grammar import Mode

__all__ = ["demo"]

_CONTEXT_TOKENS = 512  # a prompt has 210 in small vocabularies, an answer at most 96
_SLOTS = 8  # of the experiment: a batch of eight is some three times as fast as one after the other


@click.command()
@model_options
@click.option(
    "--samples", type=click.IntRange(min=1), metavar="N", help="Repeat the experiment on N problems, in each mode."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the problems.")
@receipt_option
@json_option
def demo(samples: int | None, seed: int, receipt: Path | None, as_json: bool, **where: Any) -> None:
    """Ask a small model how many items are in 17 rows of 23 with 91 more.

    First the model writes the result itself and gets it wrong; then the engine owns it. --json prints the events of
    the second run, one a line; --receipt is of that run too.
    """
    from rich.console import Console

    console = Console(highlight=False)
    where["context"] = where["context"] or _CONTEXT_TOKENS
    if receipt is not None:
        check_receipt(receipt, several=samples is not None)
    if samples is not None:
        where["slots"] = where["slots"] or min(samples, _SLOTS)
    with open_driver(**where) as driver:
        if samples is not None:
            _experiment(driver, console, samples, seed, as_json)
        elif as_json:
            from evalspan.orchestrator.cli.run import print_json
            from evalspan.orchestrator.experiment import Problem

            request = _request(driver, "grammar-eval", Problem(17, 23, 91), receipt is not None)
            print_json(receipt_kept(driver, request, driver.begin(request), receipt))
        else:
            _two_runs(driver, console, receipt)


def _request(driver: Driver, mode: Mode, problem: Problem, receipt: bool = False) -> Request:
    from evalspan.orchestrator import experiment
    from evalspan.orchestrator.driver import Request

    return Request(
        experiment.conversation(problem, driver.registry),
        mode,
        experiment.grammar_for(mode),
        experiment.MAX_TOKENS,
        receipt=receipt,
    )


def _two_runs(driver: Driver, console: Console, receipt: Path | None) -> None:
    from evalspan.orchestrator import experiment
    from evalspan.orchestrator.cli.display import injection_table, show_stream

    problem = experiment.Problem(17, 23, 91)
    console.print(f"model: {driver.backend.model}", style="dim", soft_wrap=True)
    console.print(problem.question, soft_wrap=True)
    runs: tuple[tuple[Mode, str], ...] = (
        ("grammar-no-eval", "the model writes the result"),
        ("grammar-eval", "the engine evaluates the span and forces the result"),
    )
    events: list[Event] = []
    for mode, who in runs:
        console.print(f"\n{mode}: {who}", style="bold")
        kept = receipt if mode == "grammar-eval" else None
        request = _request(driver, mode, problem, kept is not None)
        events = show_stream(console, receipt_kept(driver, request, driver.begin(request), kept))
        verdict = experiment.judge(problem, events, driver.registry, driver.evaluators)
        style = "green" if verdict == "right" else "red"
        console.print(f"{verdict}: {problem.expression} = {problem.answer}", style=style)
    if table := injection_table(events):
        console.print()
        console.print(table)


def _experiment(driver: Driver, console: Console, samples: int, seed: int, as_json: bool) -> None:
    import json

    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    from evalspan.orchestrator import experiment
    from evalspan.orchestrator.events import Finished
    from evalspan.orchestrator.grammar import MODES

    asked: list[tuple[Mode, Problem]] = [
        (mode, problem) for mode in MODES for problem in experiment.problems(samples, seed)
    ]
    counts: dict[str, Counter[str]] = {mode: Counter() for mode in MODES}
    events: dict[int, list[Event]] = {}
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("problems, in three modes", total=len(asked))
        requests = (_request(driver, mode, problem) for mode, problem in asked)
        for index, event in driver.stream_many(requests):
            events.setdefault(index, []).append(event)
            if isinstance(event, Finished):
                mode, problem = asked[index]
                found = experiment.judge(problem, events.pop(index), driver.registry, driver.evaluators)
                counts[mode][found] += 1
                progress.advance(task)
    verdicts = ("right", "wrong value", "wrong expression", "no expression")
    if as_json:
        rows = {mode: {verdict: counts[mode][verdict] for verdict in verdicts} for mode in MODES}
        click.echo(json.dumps({"samples": samples, "seed": seed, "modes": rows}))
        return
    table = Table(title=f"{samples} problems, seed {seed}", title_justify="left", title_style="")
    table.add_column("mode")
    table.add_column("accuracy", justify="right")
    for verdict in verdicts:
        table.add_column(verdict, justify="right")
    for mode in MODES:
        row = [counts[mode][verdict] for verdict in verdicts]
        table.add_row(mode, f"{row[0] / samples:.0%}", *map(str, row))
    console.print(table)
