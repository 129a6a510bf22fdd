"""`evalspan bench`: figures, with how they were measured and on what."""

from __future__ import annotations

import json
from pathlib import Path

import click

from evalspan.orchestrator.cli.options import json_option

__all__ = ["bench"]


@click.group()
def bench() -> None:
    """Measure what evalspan costs. Machines are noisy: what counts are ratios within one run."""


@bench.command()
@json_option
@click.option(
    "--plot", "figure", type=click.Path(path_type=Path), metavar="FILE", help="Draw the figures too: .png or .svg."
)
@click.option(
    "--rounds", type=click.IntRange(min=1), default=100, show_default=True, help="Interleaved rounds; 100 take 20 s."
)
@click.option(
    "--model",
    metavar="FILE",
    help="Compare with a decode step of this GGUF model; `default` is the one that is installed.",
)
def overhead(as_json: bool, figure: Path | None, rounds: int, model: str | None) -> None:
    """What sandboxing costs: the same expressions in the sandbox, in this process and in a process of their own.

    All pay the same policy checks. Goals are reported as met or not met. With --json the figures are {"machine",
    "rows": [{"evaluator", "runtime", "case", "p50_us", "p99_us", "ratio_to_in_process", "fuel"}], "longest_hold_us"},
    and "decode_step" with --model; the goals go to standard error.
    """
    if figure is not None:  # before minutes are spent on what cannot be drawn
        from evalspan.conformance.bench.figure import check

        check(figure)
    from rich.console import Console

    from evalspan.conformance.bench.overhead import run
    from evalspan.conformance.bench.overhead_text import print_goals, print_overhead

    found = run(rounds, model)
    if as_json:
        click.echo(json.dumps(found.as_json()))
        print_goals(found, Console(stderr=True, highlight=False))
    else:
        print_overhead(found, Console(highlight=False))
    if figure is not None:
        from evalspan.conformance.bench.overhead_plot import draw

        draw(found, figure)
        click.echo(f"{figure} is written", err=True)


@bench.command()
@json_option
@click.option("--rounds", type=click.IntRange(min=1), default=9, show_default=True, help="Interleaved rounds.")
@click.option("--model", metavar="FILE", help="A GGUF model; the one that is installed by default.")
def driver(as_json: bool, rounds: int, model: str | None) -> None:
    """What the driver costs: against a raw llama.cpp loop, in batches, over long texts, with many evaluators.

    A row is a ratio of speeds, ours over the baseline's; the goal is a floor. With --json: {"machine", "rows":
    [{"name", "ratio", "goal"}], "mask_us": {"mean", "p99"}}.
    """
    from dataclasses import asdict
    from statistics import mean

    from evalspan.conformance.bench.driver import mask_microseconds, run
    from evalspan.conformance.bench.machine import machine_line

    rows = run(rounds, model)
    masks = sorted(mask_microseconds(model))
    mask_us = {"mean": round(mean(masks), 2), "p99": round(masks[len(masks) * 99 // 100], 2)}
    machine = machine_line("llama-cpp-python", "llguidance")
    if as_json:
        listed = [{**asdict(row), "ratio": round(row.ratio, 3)} for row in rows]
        click.echo(json.dumps({"machine": machine, "rows": listed, "mask_us": mask_us}))
        return
    click.echo(machine)
    for row in rows:
        click.echo(f"{'met' if row.met else 'not met':8}{row.ratio:7.3f}  goal {row.goal:.2f}  {row.name}")
    click.echo(f"mask of plain text: mean {mask_us['mean']} us (goal 5), 99th percentile {mask_us['p99']} us (goal 50)")


@bench.command()
@json_option
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Interleaved rounds.")
@click.option(
    "--minutes",
    type=click.FloatRange(min=0),
    default=8.0,
    show_default=True,
    help="No round is begun after this time, loading included.",
)
@click.option("--model", metavar="DIR", help="A model that vLLM reads, or a GGUF file; SmolLM2-135M by default.")
@click.option(
    "--engine-option", "engine_options", metavar="NAME=VALUE", multiple=True, help="As in `evalspan run`; not path."
)
def vllm(as_json: bool, rounds: int, minutes: float, model: str | None, engine_options: tuple[str, ...]) -> None:
    """What evalspan costs inside vLLM, what its three paths take, and what a tool call does. On a CPU or a GPU.

    A row is a ratio of speeds, ours over the baseline's; the goal is a floor. With --json: {"machine", "load",
    "rounds", "rows": [{"name", "ratio", "goal", "informative"}], "loads", "paths", "worker",
    "calculation_ms"}.
    """
    from dataclasses import asdict

    from evalspan.backends.vllm_backend import VllmBackend
    from evalspan.conformance.bench.machine import load, machine_line
    from evalspan.orchestrator.backend import check_engine_options
    from evalspan.orchestrator.cli.options import engine_pairs

    options = engine_pairs(engine_options)
    check_engine_options(VllmBackend, options)
    VllmBackend.find()

    from evalspan.conformance.bench.vllm_rows import run

    others = load()
    found = run(rounds, minutes, model, options)
    machine = machine_line("vllm", "llguidance")
    if as_json:
        figures = asdict(found)
        for row in figures["rows"]:
            row["ratio"] = round(row["ratio"], 4)
        click.echo(json.dumps({"machine": machine, "load": others, **figures}))
        return
    click.echo(f"{machine}; load {others} before; {found.rounds} rounds")
    for row in found.rows:
        says = "wall" if row.informative else "met" if row.met else "not met"
        click.echo(f"{says:8}{row.ratio:7.3f}  goal {row.goal:.2f}  {row.name}")
    for figure in (*found.loads, *found.paths, *found.worker):
        click.echo("  ".join(f"{name} {value}" for name, value in figure.items()))
    click.echo("a calculation, ms: " + ", ".join(f"{name} {ms}" for name, ms in found.calculation_ms.items()))
