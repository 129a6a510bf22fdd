"""What a run shows while it goes on, and its summary."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.table import Table

    from evalspan.conformance.fuzz.campaign import Campaign

__all__ = ["shown", "summary"]

_REMARK_SECONDS = 10.0
"""Between two remarks where nothing can be drawn."""


@contextmanager
def shown() -> Iterator[Callable[[Campaign], None]]:
    """What is told how a run goes on, and shows it on standard error: a table that changes, or a line now and then."""
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    if not console.is_terminal:
        last = time.monotonic()

        def remark(campaign: Campaign) -> None:
            nonlocal last
            if time.monotonic() - last >= _REMARK_SECONDS:
                last = time.monotonic()
                click.echo(", ".join(f"{name} {value}" for name, value in _facts(campaign)), err=True)

        yield remark
        return
    with Live(console=console, refresh_per_second=4, transient=True) as live:
        yield lambda campaign: live.update(_table(campaign))


def summary(campaign: Campaign) -> None:
    """Print what a run did and what it found."""
    target = campaign.plan.target.name
    title = target if campaign.described is None else campaign.described.title
    click.echo(title)
    for name, value in _facts(campaign):
        click.echo(f"  {name:22} {value}")
    answers = ", ".join(f"{kind} {times}" for kind, times in campaign.answers().most_common(8))
    click.echo(f"  {'answers':22} {answers or 'none'}")
    if campaign.described is not None:
        click.echo(f"  {'oracles':22} {', '.join(campaign.described.oracles)}")
    for finding, path in campaign.findings:
        click.echo(f"\n{finding.oracle.upper()}: {finding.cause}")
        click.echo(f"  {finding.detail}")
        click.echo(f"  input       {finding.sample.data[:200]!r}{'…' if len(finding.sample.data) > 200 else ''}")
        if finding.sample.options:
            click.echo(f"  options     {dict(finding.sample.options)}")
        if finding.before:
            click.echo(f"  after       {len(finding.before)} inputs that the file has")
        click.echo(f"  found after {finding.inputs} inputs, {finding.seconds:.1f} s")
        if path is not None:
            click.echo(f"  repeat with {_repeat(campaign, str(path))}")
    count = len(campaign.findings)
    stopped = ", interrupted" if campaign.interrupted else ""
    click.echo(f"\n{count or 'no'} finding{'' if count == 1 else 's'} in {campaign.inputs} inputs{stopped}")


def _repeat(campaign: Campaign, path: str) -> str:
    target = campaign.plan.target
    words = ["evalspan", "fuzz"]
    if target.kind == "command":
        words += ["--command", shlex.join(target.command)]
    else:
        words.append(target.name)
    if target.registry is not None:
        words += ["--registry", str(target.registry)]
    if target.python is not None:
        words += ["--python", target.python]
    if target.as_bytes:
        words.append("--bytes")
    for name in sorted(target.allow):
        words += ["--allow", name]
    return shlex.join([*words, "--repeat", path])


def _facts(campaign: Campaign) -> list[tuple[str, str]]:
    rate, worst = campaign.worst
    covered, productions = campaign.covered
    unit = "fuel" if campaign.plan.target.kind in ("evaluator", "module") else "us"
    before = f" (and {campaign.resumed} before)" if campaign.resumed else ""
    shown_worst = f"{rate:,.0f}" + (f" for {worst[:40]!r}" if worst else "")
    return [
        ("inputs", f"{campaign.inputs}{before}"),
        ("inputs/s", f"{campaign.inputs / max(campaign.seconds, 1e-9):,.0f}"),
        ("seed", f"{campaign.plan.seed}"),
        ("seconds", f"{campaign.seconds:.0f}"),
        ("corpus", f"{campaign.corpus}"),
        ("productions", f"{covered} of {productions}" if productions else "no grammar"),
        (f"worst {unit} per byte", shown_worst),
        ("findings", f"{len(campaign.findings)}"),
    ]


def _table(campaign: Campaign) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_row(Text(campaign.plan.target.name, style="bold"), Text("Ctrl-C stops with the summary", style="dim"))
    for name, value in _facts(campaign):
        alarm = name == "findings" and bool(campaign.findings)
        table.add_row(name, Text(value, style="bold red" if alarm else ""))
    for finding, _ in campaign.findings[-5:]:
        table.add_row(Text(finding.oracle, style="red"), Text(f"{finding.cause}: {finding.sample.data[:60]!r}"))
    return table
