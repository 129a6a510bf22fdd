"""`evalspan conformance probability`: what is drawn from, and which question that answers."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from evalspan.conformance.json_file import json_file_option, write_json

__all__ = ["probability"]


@click.command()
@json_file_option
def probability(json_file: Path | None) -> int:
    """Check the sampler and its ledger against theory, and show what masked decoding is not.

    The exit status is 1 if a check fails. With --json: {"checks": [{"check", "passed", "statement", "compared",
    "faults"}], "example": [{"text", "model", "masked", "driver", "conditional"}]}.
    """
    from evalspan.conformance.probability import (
        check_frequencies,
        check_ledger,
        check_normalization,
        example_table,
    )
    from evalspan.conformance.probability.example import check_example

    findings = (check_normalization(), check_ledger(), check_frequencies(), check_example())
    rows = example_table()
    if str(json_file) != "-":
        for finding in findings:
            click.echo(finding)
        click.echo()
        click.echo("A model of ax, ay, bx and by, under a grammar of ax, bx and by:")
        click.echo(f"  {'':6}{'model':>10}{'masked':>10}{'by driver':>12}{'given the grammar':>20}")
        for row in rows:
            shares = (
                f"{float(row.model):10.4f}{float(row.masked):10.4f}{row.driver:12.4f}{float(row.conditional):20.4f}"
            )
            click.echo(f"  {row.text:6}{shares}")
    if json_file is not None:
        checks = [{"passed": finding.passed, **asdict(finding)} for finding in findings]
        example = [
            {
                "text": row.text,
                "model": float(row.model),
                "masked": float(row.masked),
                "driver": row.driver,
                "conditional": float(row.conditional),
            }
            for row in rows
        ]
        write_json({"checks": checks, "example": example}, json_file)
    return 0 if all(finding.passed for finding in findings) else 1
