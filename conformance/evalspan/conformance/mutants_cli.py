"""`evalspan conformance mutants`: faults in the real code, each of which a requirement must notice."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalspan.conformance.json_file import json_file_option, write_json

if TYPE_CHECKING:
    from evalspan.conformance.mutants.pool import Verdict

__all__ = ["mutants"]


@click.command()
@click.option("--only", default="*", metavar="GLOB", help="Only the mutants whose names match.")
@click.option("--list", "listed", is_flag=True, help="Say what they are, and run none.")
@json_file_option
def mutants(only: str, listed: bool, json_file: Path | None) -> int:
    """Run the suite's requirements on mutants of the real code, each in a process of its own.

    A mutant has one fault. It is killed where every requirement that is to notice it fails; first these requirements
    are asked of the code as it is, where they must hold. The exit status is 1 where one survives or cannot be made.

    With --json: {"mutants": [{"mutant", "fault", "killed", "killed_by", "survived", "detail", "error"}], "killed",
    "survived"}.
    """
    from evalspan.conformance.mutants.catalogue import MUTANTS
    from evalspan.conformance.mutants.pool import control, run_mutants

    chosen = [mutant for mutant in MUTANTS if fnmatchcase(mutant.name, only)]
    if not chosen:
        raise click.UsageError(f"no mutant is called {only!r}; there are {', '.join(one.name for one in MUTANTS)}")
    if listed:
        for mutant in chosen:
            click.echo(f"{mutant.name:32}{mutant.fault} ({', '.join(mutant.kills)})")
        return 0
    quiet = str(json_file) == "-"
    if broken := control(chosen):
        for name, detail in broken.items():
            click.echo(f"{name} does not hold without a mutant: {detail}", err=True)
        return 1
    verdicts = []
    for verdict in run_mutants(chosen):
        verdicts.append(verdict)
        if not quiet:
            _show(verdict)
    killed = sum(verdict.dead for verdict in verdicts)
    if not quiet:
        click.echo(f"{killed} killed, {len(verdicts) - killed} survived")
    if json_file is not None:
        order = {mutant.name: at for at, mutant in enumerate(chosen)}
        verdicts.sort(key=lambda verdict: order[verdict.mutant.name])
        facts = [_facts(verdict) for verdict in verdicts]
        write_json({"mutants": facts, "killed": killed, "survived": len(verdicts) - killed}, json_file)
    return 0 if killed == len(verdicts) else 1


def _show(verdict: Verdict) -> None:
    name = f"{verdict.mutant.name:32}"
    if verdict.error:
        click.echo(f"{name}cannot be made: {verdict.error}")
    elif verdict.dead:
        click.echo(f"{name}killed by {', '.join(verdict.killed_by)}: {_short(verdict.detail)}")
    else:
        click.echo(f"{name}SURVIVED {', '.join(verdict.survived)}: {verdict.mutant.fault}")


def _short(detail: str) -> str:
    line = " ".join(detail.split())
    return line if len(line) <= 100 else f"{line[:99]}…"


def _facts(verdict: Verdict) -> dict[str, Any]:
    return {
        "mutant": verdict.mutant.name,
        "fault": verdict.mutant.fault,
        "killed": verdict.dead,
        "killed_by": list(verdict.killed_by),
        "survived": list(verdict.survived),
        "detail": verdict.detail,
        "error": verdict.error,
    }
