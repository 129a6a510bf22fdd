"""`evalspan conformance ladder`: what share of outputs holds at each rung."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalspan.conformance.json_file import json_file_option, write_json
from evalspan.orchestrator.cli.options import registry_option

if TYPE_CHECKING:
    from evalspan.conformance.ladder import LadderReport
    from evalspan.evaluators import RuntimeName

__all__ = ["ladder"]


@click.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.jsonl")
@click.option(
    "--schema",
    "schema_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="JSON Schema of the lines that have none of their own.",
)
@registry_option
@click.option(
    "--runtime",
    type=click.Choice(["in_process", "wasm", "subprocess"]),
    default="in_process",
    show_default=True,
    help="What evaluates again: the references in Python; modules of one's own have none and need wasm.",
)
@click.option(
    "--resamples",
    type=click.IntRange(min=1, max=1_000_000),
    default=10_000,
    show_default=True,
    help="Of the bootstrap.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the bootstrap.")
@json_file_option
def ladder(
    file: Path,
    schema_file: Path | None,
    registry_path: Path | None,
    runtime: RuntimeName,
    resamples: int,
    seed: int,
    json_file: Path | None,
) -> int:
    """Measure outputs: what share parses, holds its schema, agrees with itself, with its source, with its label.

    A line is {"id", "output"} with an optional "schema", "source" and "label". Rates are over all inputs: an output
    that fails at a rung fails at those above too. What an input has no schema, source or label for is not asked of
    it, and counted apart.

    With --json: {"rungs": [{"rung", "inputs", "passed", "failed", "not_asked", "rate", "low", "high", "of_all"}],
    "bootstrap",
    "failures": [{"id", "line", "failed", "reason"}]}.
    """
    from evalspan.conformance.ladder import Ladder, read_lines, read_schema_file, report
    from evalspan.evaluators import Evaluators
    from evalspan.policies import Registry

    schema = read_schema_file(schema_file) if schema_file is not None else None
    lines = read_lines(file, schema)
    with Evaluators(Registry.load(registry_path), runtime=runtime) as evaluators:
        climbs = list(Ladder(evaluators).climb(lines))
    found = report(climbs, resamples=resamples, seed=seed)
    if str(json_file) != "-":
        _show(found)
    if json_file is not None:
        write_json(found.as_json(), json_file)
    return 0


def _show(found: LadderReport) -> None:
    click.echo(f"{'rung':14}{'rate':>8}{'interval':>20}{'passed':>9}{'failed':>9}{'not asked':>11}{'of all':>9}")
    for rung in found.rungs:
        rate = "-" if rung.rate is None else f"{rung.rate:.1%}"
        interval = "-" if rung.low is None or rung.high is None else f"{rung.low:.1%} to {rung.high:.1%}"
        counts = f"{rung.passed:9}{rung.failed:9}{rung.not_asked:11}"
        click.echo(f"{rung.rung:14}{rate:>8}{interval:>20}{counts}{rung.of_all:>9.1%}")
    click.echo(
        f"{len(found.climbs)} inputs; {found.level:.0%} percentile bootstrap over inputs, "
        f"{found.resamples} resamples, seed {found.seed}"
    )
