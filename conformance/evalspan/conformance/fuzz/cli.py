"""`evalspan fuzz`: look for faults in an evaluator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalspan.orchestrator.cli.options import registry_option

if TYPE_CHECKING:
    from evalspan.conformance.fuzz.targets import TargetSpec

__all__ = ["fuzz"]

_DEFAULT_SECONDS = 60.0
_FINDINGS = Path("fuzz-findings")


# An expression may begin with a minus, and a command has options of its own; both stand behind an option here.
@click.command()
@click.argument("target", required=False)
@click.option("--command", metavar="'PROG ARGS'", help="Fuzz a program that reads an input and prints an answer.")
@click.option("--inputs", type=click.IntRange(min=1), metavar="N", help="Stop after so many inputs.")
@click.option("--seconds", type=click.FloatRange(min=0.1), metavar="S", help="Stop after so long; 60 by default.")
@click.option(
    "--seed",
    type=click.IntRange(min=0, max=2**31 - 1),
    default=0,
    show_default=True,
    help="Another seed, other inputs.",
)
@click.option("--jobs", type=click.IntRange(min=1, max=256), default=1, show_default=True, help="Processes.")
@click.option(
    "--corpus",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Keep inputs, findings and state there, and go on from them.",
)
@click.option(
    "--json",
    "report",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE|-",
    help="Write the summary as JSON.",
)
@click.option(
    "--repeat",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Ask one finding, or the bytes of any file, and do nothing else.",
)
@click.option(
    "--grammar",
    metavar="NAME|FILE",
    help="What inputs are derived from: arithmetic, checksums, dates, expression, strings, or a file.",
)
@click.option(
    "--allow",
    multiple=True,
    metavar="NAME",
    help="An exception that a Python target declares, or one more error code of an evaluator.",
)
@click.option("--bytes", "as_bytes", is_flag=True, help="Give a Python target bytes, not text.")
@click.option(
    "--python", metavar="PATH", help="The interpreter that runs a Python target, such as that of its own environment."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.01, max=600),
    default=1.0,
    show_default=True,
    metavar="S",
    help="For one input of a Python target or a command; CPU time for one of host:NAME.",
)
@click.option(
    "--memory",
    type=click.IntRange(min=16),
    default=512,
    show_default=True,
    metavar="MIB",
    help="What a Python target or a command may add to its memory.",
)
@click.option(
    "--reference-every",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    metavar="N",
    help="Ask the Python reference about one input in N; 0 is never.",
)
@click.option(
    "--planted",
    is_flag=True,
    help="Measure the fuzzer itself: how soon it finds faults that were put into the built-in evaluators.",
)
@registry_option
def fuzz(
    target: str | None,
    command: str | None,
    inputs: int | None,
    seconds: float | None,
    seed: int,
    jobs: int,
    corpus: Path | None,
    report: Path | None,
    repeat: Path | None,
    grammar: str | None,
    allow: tuple[str, ...],
    as_bytes: bool,
    python: str | None,
    timeout: float,
    memory: int,
    reference_every: int,
    planted: bool,
    registry_path: Path | None,
) -> int:
    """Look for faults in TARGET: a registered evaluator, a .wasm file, package.module:function, an executable file,
    or host:NAME, a part of evalspan itself.

    Inputs come from a grammar, from mutations of what showed something new, from known bombs and from noise; fuel (or
    CPU time) guides the search. Oracles judge every answer. A finding is made as short as it can be and saved with a
    command that repeats it. Ctrl-C stops with the summary. The exit status is 1 if there are findings.
    """
    from evalspan.conformance.fuzz.targets import TargetSpec, resolve

    if planted:
        from evalspan.conformance.fuzz.planted.cli import run_planted

        return run_planted(target, seconds or _DEFAULT_SECONDS, seed, report, corpus)
    settings = TargetSpec(
        kind="evaluator",
        name="",
        registry=registry_path,
        python=python,
        grammar=grammar,
        allow=frozenset(allow),
        as_bytes=as_bytes,
        seconds=timeout,
        memory_bytes=memory * 1024 * 1024,
        reference_every=reference_every,
    )
    found = resolve(target, command, settings)
    if repeat is not None:
        return _repeat(found, repeat)
    return _run(found, inputs, seconds, seed, jobs, corpus, report)


def _run(
    target: TargetSpec,
    inputs: int | None,
    seconds: float | None,
    seed: int,
    jobs: int,
    corpus: Path | None,
    report: Path | None,
) -> int:
    from evalspan.conformance.fuzz.campaign import Campaign, Plan
    from evalspan.conformance.fuzz.display import shown, summary
    from evalspan.conformance.fuzz.files import write_whole

    if inputs is None and seconds is None:
        seconds = _DEFAULT_SECONDS
    campaign = Campaign(Plan(target, seed, inputs, seconds, jobs, corpus, _FINDINGS))
    with shown() as show:
        campaign.run(show)
    text = json.dumps(campaign.as_json(), indent=2, ensure_ascii=True) + "\n"
    if str(report) == "-":
        click.echo(text, nl=False)
    else:
        if report is not None:
            write_whole(report, text.encode())
        summary(campaign)
    return 1 if campaign.findings else 0


def _repeat(target: TargetSpec, path: Path) -> int:
    from evalspan.conformance.fuzz.replay import replay

    complaints = replay(target, path)
    for complaint in complaints:
        click.echo(f"{complaint.oracle.upper()}: {complaint.cause}")
        click.echo(f"  {complaint.detail}")
    if not complaints:
        click.echo("no oracle objects")
    return 1 if complaints else 0
