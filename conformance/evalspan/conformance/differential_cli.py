"""`evalspan conformance differential`: the module against the reference, for as long as one likes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from evalspan.orchestrator.cli.options import json_option

if TYPE_CHECKING:
    from evalspan.conformance.differential import Disagreement, Tally
    from evalspan.evaluators import Outcome

__all__ = ["differential"]

_REMARK_EVERY = 100_000
"""Inputs between two remarks where no bar can be drawn: some seconds."""


@click.command()
@click.option("--evaluator", "wanted", multiple=True, metavar="NAME", help="Only these; all by default.")
@click.option("--n", "count", type=click.IntRange(min=1), default=10_000, show_default=True, help="Inputs of each.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another seed, other inputs.")
@click.option("--start", type=click.IntRange(min=0, max=2**63), default=0, show_default=True, help="The first index.")
@json_option
def differential(wanted: tuple[str, ...], count: int, seed: int, start: int, as_json: bool) -> int:
    """Ask the sandbox and the Python reference the same random inputs; the exit status is 1 if they disagree.

    An input is a function of the evaluator, the seed and an index, so that a run that was interrupted goes on with
    --start. The first disagreement of each evaluator is made as short as it can be and printed.

    With --json the summary is {"seed", "rows": [{"evaluator", "start", "next", "compared", "answers",
    "disagreement"}], "agree"}; a disagreement is null or {"index", "input", "input_hex", "options", "answers"}.
    """
    from evalspan.conformance.differential import Tally, compare, pair
    from evalspan.conformance.generators import GENERATORS

    specs = {spec.partition("/")[0]: spec for spec in GENERATORS}
    for name in wanted:
        if name not in specs:
            raise click.UsageError(f"no generator for {name!r}; there are some for {', '.join(specs)}")
    tallies: dict[str, Tally] = {}
    try:
        for name in dict.fromkeys(wanted or specs):
            tally = tallies[name] = Tally(start)
            with pair(specs[name]) as both, _progress(name, start, count) as advance:
                compare(specs[name], both, tally, seed=seed, count=count, on_progress=advance)
    finally:
        # An interrupted run says what it did, and how to go on.
        _report(tallies, seed, count, as_json)
    return 0 if all(tally.disagreement is None for tally in tallies.values()) else 1


@contextmanager
def _progress(name: str, start: int, count: int) -> Iterator[Callable[[int], None]]:
    """What is told how many inputs were compared, and shows it on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:

        def remark(compared: int) -> None:
            if compared % _REMARK_EVERY == 0:
                click.echo(f"{name}: {compared} compared, next index {start + compared}", err=True)

        yield remark
        return
    columns = (
        TextColumn("{task.description:12}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("index {task.fields[index]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(name, total=count, index=start)

        def show(compared: int) -> None:
            progress.update(task, completed=compared, index=start + compared)

        yield show


def _report(tallies: dict[str, Tally], seed: int, count: int, as_json: bool) -> None:
    if as_json:
        rows = [_row(name, tally) for name, tally in tallies.items()]
        agree = all(row["disagreement"] is None for row in rows)
        click.echo(json.dumps({"seed": seed, "rows": rows, "agree": agree}, ensure_ascii=False))
        return
    for name, tally in tallies.items():
        answers = ", ".join(f"{kind} {times}" for kind, times in tally.answers.most_common())
        click.echo(f"{name:12} {tally.compared} agree ({answers or 'nothing asked'})")
        if tally.disagreement is not None:
            _show(name, tally.disagreement, seed)
        elif tally.compared < count:
            rest = count - tally.compared
            click.echo(f"  go on with  {_command(name, seed, tally.next_index, rest)}")


def _show(name: str, found: Disagreement, seed: int) -> None:
    from evalspan.conformance.differential import RUNTIMES
    from evalspan.conformance.vectors import described

    click.echo(f"  DISAGREEMENT at index {found.index} of seed {seed}")
    click.echo(f"  input       {found.shortest.data!r}")
    if found.shortest.data != found.sample.data:
        click.echo(f"  made from   {found.sample.data!r}")
    click.echo(f"  options     {dict(found.shortest.options)}")
    for runtime, outcome in zip(RUNTIMES, found.answers, strict=True):
        click.echo(f"  {runtime:11} {described(outcome)}")
    click.echo(f"  repeat with {_command(name, seed, found.index, 1)}")


def _command(name: str, seed: int, start: int, count: int) -> str:
    return f"evalspan conformance differential --evaluator {name} --seed {seed} --start {start} --n {count}"


def _row(name: str, tally: Tally) -> dict[str, Any]:
    from evalspan.conformance.differential import RUNTIMES

    found, shown = tally.disagreement, None
    if found is not None:
        shown = {
            "index": found.index,
            "input": found.shortest.data.decode("utf-8", "replace"),
            "input_hex": found.shortest.data.hex(),
            "options": dict(found.shortest.options),
            "answers": dict(zip(RUNTIMES, map(_answer, found.answers), strict=True)),
        }
    return {
        "evaluator": name,
        "start": tally.start,
        "next": tally.next_index,
        "compared": tally.compared,
        "answers": dict(tally.answers),
        "disagreement": shown,
    }


def _answer(outcome: Outcome) -> dict[str, Any]:
    from evalspan.evaluators import Value

    if isinstance(outcome, Value):
        return {"value": outcome.text, "exact": outcome.exact}
    return {"error": {"code": outcome.code.value, "message": outcome.message, "offset": outcome.offset}}
