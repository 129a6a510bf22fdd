"""`evalspan conformance oracle`: masks against enumerated languages."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalspan.conformance.json_file import json_file_option, write_json

if TYPE_CHECKING:
    from evalspan.conformance.oracle.report import OracleReport
    from evalspan.orchestrator.engines import EngineName

__all__ = ["oracle"]


@click.command()
@click.option("--only", default="*", metavar="GLOB", help="Only the cases whose names match.")
@click.option(
    "--engine",
    type=click.Choice(["llguidance", "xgrammar"]),
    default="llguidance",
    show_default=True,
    help="The grammar engine that makes the masks.",
)
@click.option(
    "--paths",
    type=click.IntRange(min=0),
    default=100,
    show_default=True,
    help="Random token paths for each case, beside the systematic ones.",
)
@click.option(
    "--all-paths",
    type=click.IntRange(min=0),
    default=3_000,
    show_default=True,
    help="Walk every way to cut a document into tokens where there are at most so many.",
)
@click.option(
    "--depth",
    type=click.IntRange(min=0, max=3),
    default=1,
    show_default=True,
    help="Tokens from the start of free text that are walked in every way; 2 takes a minute.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another seed, other paths.")
@json_file_option
def oracle(
    only: str, engine: EngineName, paths: int, all_paths: int, depth: int, seed: int, json_file: Path | None
) -> int:
    """Compare every mask, end and forced text with languages that are enumerated by other means.

    At every reachable prefix a token of an awkward vocabulary must be allowed exactly when some document starts with
    prefix and token, and the end exactly at a document. The exit status is 1 where anything differs, or where the
    default engine does not take a grammar.

    With --json: {"engine", "seed", "cases": [{"case", "status", "documents", "prefixes", "masks", "comparisons",
    "disagreements", …}], "summary": {"passed", "failed", "unsupported"}}.
    """
    from evalspan.conformance.oracle import CASES, DEFAULT_ENGINE, Effort, awkward_driver, check

    chosen = [case for case in CASES if fnmatchcase(case.id, only)]
    if not chosen:
        raise click.UsageError(f"no case is called {only!r}; there are {', '.join(case.id for case in CASES)}")
    effort = Effort(all_paths, paths, depth=depth, seed=seed)
    quiet = json_file is not None and str(json_file) == "-"
    reports: list[OracleReport] = []
    for case in chosen:
        with awkward_driver(case, engine) as driver:
            reports.append(check(case, driver, engine=engine, effort=effort))
        if not quiet:
            _show(reports[-1])
    counts = {
        name: sum(report.status == status for report in reports)
        for name, status in (("passed", "pass"), ("failed", "fail"), ("unsupported", "unsupported"))
    }
    if not quiet:
        comparisons = sum(report.comparisons for report in reports)
        click.echo(f"{', '.join(f'{count} {name}' for name, count in counts.items())}; {comparisons} tokens compared")
    if json_file is not None:
        cases = [report.as_json() for report in reports]
        write_json({"engine": engine, "seed": seed, "cases": cases, "summary": counts}, json_file)
    return 1 if counts["failed"] or (counts["unsupported"] and engine == DEFAULT_ENGINE) else 0


def _show(report: OracleReport) -> None:
    head = f"{report.case:14}{report.status:12}"
    if report.unsupported is not None:
        click.echo(f"{head}{report.engine}: {report.unsupported}")
        return
    documents = "no end" if report.documents is None else f"{report.documents} documents"
    ways = "all paths" if report.exhaustive else "some paths"
    click.echo(
        f"{head}{documents}, {report.prefixes} prefixes, {report.masks} masks on {ways}, "
        f"{report.comparisons} tokens, {report.forced} forced texts"
    )
    for disagreement in report.disagreements:
        click.echo(f"  {disagreement}".replace("\n", "\n  "))
    if report.more:
        click.echo(f"  and {report.more} more")
