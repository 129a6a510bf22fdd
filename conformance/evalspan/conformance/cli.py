"""`evalspan conformance`: run what must hold."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import click

from evalspan.conformance.differential_cli import differential
from evalspan.conformance.ladder_cli import ladder
from evalspan.conformance.mutants_cli import mutants
from evalspan.conformance.oracle_cli import oracle
from evalspan.conformance.probability_cli import probability
from evalspan.conformance.suite_cli import merge, run
from evalspan.orchestrator.cli.options import json_option

if TYPE_CHECKING:
    from evalspan.evaluators import RuntimeName

__all__ = ["conformance"]


@click.group()
def conformance() -> None:
    """Run what must hold: a suite of requirements on any backend, and its parts apart."""


conformance.add_command(differential)
conformance.add_command(ladder)
conformance.add_command(mutants)
conformance.add_command(oracle)
conformance.add_command(merge)
conformance.add_command(probability)
conformance.add_command(run)


@conformance.command()
@click.option("--evaluator", "wanted", multiple=True, metavar="NAME", help="Only these; all by default.")
@click.option(
    "--runtime",
    "runtimes",
    type=click.Choice(["wasm", "in_process", "subprocess"]),
    multiple=True,
    help="Where they run; wasm and in_process by default. May be repeated.",
)
@json_option
def vectors(wanted: tuple[str, ...], runtimes: tuple[RuntimeName, ...], as_json: bool) -> int:
    """Run the operator vectors and print a summary; the exit status is 1 if any fails.

    With --json the summary is {"rows": [{"evaluator", "runtime", "passed", "failed", "failures"}], "passed", "failed"}.
    """
    from evalspan.conformance.runtimes import on_runtime
    from evalspan.conformance.vectors import builtin_suites, run

    suites = {spec.partition("/")[0]: suite for spec, suite in builtin_suites().items()}
    for name in wanted:
        if name not in suites:
            raise click.UsageError(f"no vectors for {name!r}; there are some for {', '.join(suites)}")
    rows: list[dict[str, Any]] = []
    for name in wanted or tuple(suites):
        for runtime in runtimes or cast("tuple[RuntimeName, ...]", ("wasm", "in_process")):
            with on_runtime(suites[name].spec, runtime) as evaluate:
                results = run(suites[name].cases, evaluate)
            failures = [str(result) for result in results if not result.passed]
            rows.append(
                {
                    "evaluator": name,
                    "runtime": runtime,
                    "passed": len(results) - len(failures),
                    "failed": len(failures),
                    "failures": failures,
                }
            )
    passed, failed = (sum(row[key] for row in rows) for key in ("passed", "failed"))
    if as_json:
        click.echo(json.dumps({"rows": rows, "passed": passed, "failed": failed}, ensure_ascii=False))
    else:
        for row in rows:
            for failure in row["failures"]:
                click.echo(f"{row['evaluator']} on {row['runtime']}: {failure}")
            click.echo(f"{row['evaluator']:12} {row['runtime']:12} {row['passed']:5} passed  {row['failed']} failed")
        click.echo(f"{passed} passed, {failed} failed")
    return 1 if failed else 0
