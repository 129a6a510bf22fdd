"""`evalspan evaluators`: what is registered, what it may use, and how a model is taught it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from evalspan.orchestrator.cli.options import json_option, registry_option

if TYPE_CHECKING:
    from pathlib import Path

    from evalspan.evaluators import Evaluators

__all__ = ["evaluators"]


@click.command()
@click.argument("name", required=False)
@click.option("--prompt", "prompts", is_flag=True, help="Print what teaches a model to use them.")
@registry_option
@json_option
def evaluators(name: str | None, prompts: bool, registry_path: Path | None, as_json: bool) -> None:
    """List the registered evaluators, or show one: specification, functions, limits, module, fuel of a sample."""
    from evalspan.evaluators import Evaluators
    from evalspan.policies import Registry

    registry = Registry.load(registry_path)
    names = [registry.evaluator(name).name] if name else [entry.name for entry in registry.evaluators]
    with Evaluators(registry) as opened:
        if prompts:
            _print_prompts(opened, names, as_json)
            return
        rows = [_facts(opened, each) for each in names]
    if as_json:
        click.echo(json.dumps(rows[0] if name else rows, ensure_ascii=False))
    elif name:
        _show(rows[0])
    else:
        _list(rows)


def _facts(evaluators: Evaluators, name: str) -> dict[str, Any]:
    """What is known of an evaluator, the fuel of its sample among it."""
    from evalspan.evaluators import Failure

    info = evaluators.describe(name)
    rules = [rule for rule in evaluators.registry.spans if rule.evaluator == name]
    sample = None
    if info.sample is not None:
        outcome = evaluators.evaluate(name, info.sample.encode())
        answer = str(outcome.code) if isinstance(outcome, Failure) else outcome.text
        sample = {"input": info.sample, "answer": answer, "fuel": outcome.fuel}
    return {
        "name": name,
        "spec": info.spec,
        "description": evaluators.registry.evaluator(name).description,
        "unicode": info.unicode,
        "spans": {rule.name: f"{rule.open}…{rule.close}" for rule in rules},
        "functions": list(info.functions),
        "sha256": info.digest,
        "bytes": info.size,
        "options": {option.name: value for option, value in zip(info.options, info.values, strict=True)},
        "limits": info.limits.model_dump(),
        "sample": sample,
    }


def _list(rows: list[dict[str, Any]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("name", "spec", "span", "sample"):
        table.add_column(heading, overflow="fold")
    for heading in ("fuel", "KiB"):
        table.add_column(heading, justify="right")
    for row in rows:
        sample = row["sample"] or {"input": "-", "fuel": None}
        fuel = "-" if sample["fuel"] is None else f"{sample['fuel']:,}"
        spans = "\n".join(tags.partition("…")[0] for tags in row["spans"].values()) or "-"
        table.add_row(row["name"], row["spec"], spans, sample["input"], fuel, f"{row['bytes'] / 1024:.0f}")
    Console().print(table)


def _show(row: dict[str, Any]) -> None:
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table

    sample = row["sample"]
    facts = {
        "specification": row["spec"] + (f", Unicode {row['unicode']}" if row["unicode"] else ""),
        "description": row["description"],
        "spans": ", ".join(f"{name} {tags}" for name, tags in row["spans"].items()),
        "functions": " ".join(row["functions"]),
        "module": f"sha256 {row['sha256']}, {row['bytes']:,} bytes",
        "options": ", ".join(f"{name} = {value}" for name, value in row["options"].items()),
        "limits": ", ".join(f"{name} = {value:,}" for name, value in row["limits"].items()),
        "sample": f"{sample['input']} = {sample['answer']}, {sample['fuel']:,} fuel" if sample else "",
    }
    table = Table(box=SIMPLE, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for heading, text in facts.items():
        if text:
            table.add_row(heading, text)
    Console().print(row["name"], table, sep="\n")


def _print_prompts(evaluators: Evaluators, names: list[str], as_json: bool) -> None:
    from evalspan.orchestrator.teaching import lesson

    registry = evaluators.registry
    spans = [rule.name for rule in registry.spans if rule.evaluator in names]
    turns = lesson(registry, evaluators, spans=spans) if spans else []
    if as_json:
        click.echo(json.dumps([asdict(turn) for turn in turns], ensure_ascii=False))
        return
    for turn in turns:
        click.echo(f"{turn.role}: {turn.content}\n")
