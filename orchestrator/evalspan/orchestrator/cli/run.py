"""`evalspan run`: answer a prompt with exact spans."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from evalspan.orchestrator.cli.decoding import chosen_decoding, decoding_options
from evalspan.orchestrator.cli.grammars import chosen_grammar, grammar_options
from evalspan.orchestrator.cli.options import json_option, model_options, open_driver
from evalspan.orchestrator.cli.reasoning import chosen_reasoning, reasoning_options
from evalspan.orchestrator.cli.receipt import check_receipt, receipt_kept, receipt_option

__all__ = ["run"]


@click.command()
@click.argument("prompt", required=False)
@model_options
@click.option(
    "--mode",
    type=click.Choice(["no-grammar", "grammar-no-eval", "grammar-eval"]),
    help="Who writes results and whether output is masked; grammar-eval where the backend can be masked.",
)
@click.option("--max-tokens", type=click.IntRange(min=1), default=256, show_default=True, help="Forced ones count.")
@click.option("--temperature", type=float, default=0.0, show_default=True, help="0 is greedy.")
@click.option("--top-k", type=int, default=0, show_default=True, help="0 is off.")
@click.option("--top-p", type=float, default=1.0, show_default=True, help="1 is off.")
@click.option("--min-p", type=float, default=0.0, show_default=True, help="0 is off.")
@click.option("--repetition-penalty", type=float, default=1.0, show_default=True, help="1 is off.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--system", metavar="TEXT", help="A system prompt of your own, before the lesson.")
@click.option("--plain", is_flag=True, help="Do not teach the model the spans: send the prompt alone.")
@click.option("--raw", is_flag=True, help="PROMPT is the text to continue: no chat template, no lesson.")
@click.option(
    "--require-span",
    "required",
    metavar="NAME",
    multiple=True,
    help="Demand at least one span of this name; small models need it. May be repeated.",
)
@grammar_options
@click.option(
    "--grammar-engine",
    type=click.Choice(["llguidance", "xgrammar"]),
    default="llguidance",
    show_default=True,
    help="Who masks; xgrammar where it is installed.",
)
@reasoning_options
@decoding_options
@click.option("--prompts", type=click.Path(path_type=Path), metavar="FILE", help='Answer each line {"prompt": "…"}.')
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Where to: one result a line, in order.")
@receipt_option
@json_option
def run(
    prompt: str | None,
    mode: Any,
    max_tokens: int,
    temperature: float,
    top_k: int,
    top_p: float,
    min_p: float,
    repetition_penalty: float,
    seed: int,
    system: str | None,
    plain: bool,
    raw: bool,
    required: tuple[str, ...],
    prompts: Path | None,
    out: Path | None,
    receipt: Path | None,
    as_json: bool,
    **where: Any,
) -> None:
    """Answer PROMPT (- reads standard input); spans are evaluated and their results put in.

    The model is taught the registry's spans with a system prompt and worked examples. With --json every event is a
    line, the last one {"event": "finished", "reason": …, "text": …}. With --prompts and --out many are answered,
    --slots of them at once; an interrupted run goes on when it is repeated. With --n or --beams there are several
    outputs; with --json the events of each sample have its number and seed, and each beam is a line.
    """
    from evalspan.orchestrator.backend import Message, StepEngine
    from evalspan.orchestrator.cli.several import metrics_kept, print_beams, print_samples, show_beams, show_samples
    from evalspan.orchestrator.errors import PromptError
    from evalspan.orchestrator.requests import Request
    from evalspan.orchestrator.sampling import SamplingParams
    from evalspan.orchestrator.sentences import FreeText
    from evalspan.orchestrator.teaching import lesson

    if (prompt is None) == (prompts is None) or (prompts is None) != (out is None):
        raise click.UsageError("give either a PROMPT, or --prompts FILE and --out FILE")
    if raw and (system or plain):
        raise click.UsageError("--raw sends the prompt as it is: leave --system and --plain away")
    if prompt == "-":
        prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    if prompt is not None and not prompt.strip():
        raise PromptError("the prompt is empty: there is nothing to answer")
    grammar = chosen_grammar(where, {"--require-span": bool(required)}) or (FreeText(required) if required else None)
    reasoning = chosen_reasoning(where)
    decoding = chosen_decoding(where, file=prompts is not None)
    if receipt is not None:
        check_receipt(receipt, folder=prompts is not None, several=decoding.samples > 1 or decoding.beams is not None)
    where["slots"] = where["slots"] or decoding.slots
    sampling = SamplingParams(temperature, top_k, top_p, min_p, repetition_penalty, seed=seed)
    with open_driver(**where) as driver, metrics_kept(driver, decoding.metrics):
        if reasoning is not None:
            grammar = reasoning.before(grammar, driver.registry)
        if not isinstance(driver.backend.engine, StepEngine):  # which path it takes depends on what it found
            click.echo(f"evalspan: {driver.backend.model}", err=True)
        if plain or raw:
            turns = [Message("system", system)] if system else []
        else:
            turns = lesson(driver.registry, driver.evaluators, spans=required, system=system)

        def request(text: str) -> Request:
            return Request(
                text if raw else [*turns, Message("user", text)],
                mode,
                grammar,
                max_tokens,
                sampling,
                stop=decoding.stop,
                keep_stop=decoding.keep_stop,
                time_limit=decoding.time_limit,
                receipt=receipt is not None,
            )

        if prompts is not None and out is not None:
            settings = {
                "turns": turns,
                **({"raw": True} if raw else {}),
                "mode": mode,
                "grammar": grammar,
                "max_tokens": max_tokens,
                "sampling": sampling,
                **({"stop": decoding.stop, "keep_stop": decoding.keep_stop} if decoding.stop else {}),
                **({"time_limit": decoding.time_limit} if decoding.time_limit else {}),
                **({"receipt": True} if receipt is not None else {}),
            }
            _answer_file(driver, prompts, out, request, settings, receipt)
            return
        wanted = request(prompt or "")
        if decoding.beams is not None:
            found = driver.beam(
                wanted,
                width=decoding.beams,
                length_penalty=decoding.length_penalty,
                forced_in_length=decoding.forced_in_length,
                patient=decoding.patient,
            )
            (print_beams if as_json else show_beams)(found)
            return
        if decoding.samples > 1 and as_json:
            print_samples(driver.stream_samples(wanted, decoding.samples), seed)
            return
        if decoding.samples > 1:
            show_samples(driver.samples(wanted, decoding.samples))
            return
        events = receipt_kept(driver, wanted, driver.begin(wanted), receipt)
        if as_json:
            print_json(events)
            return
        show(events)


def _answer_file(
    driver: Any, prompts: Path, out: Path, request: Any, settings: dict[str, Any], receipts: Path | None
) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from evalspan.orchestrator.files import read_prompts, run_file

    lines = read_prompts(prompts)
    settings |= {"identity": driver.evaluators.identity, "tokenizer": driver.vocabulary_digest}
    settings["grammar_engine"] = driver.grammar_engine
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(str(out), total=len(lines))
        known = run_file(
            driver,
            lines,
            lambda line: request(line.prompt),
            out,
            settings,
            lambda count: progress.update(task, completed=count),
            receipts=receipts,
        )
    resumed = f", {known} of them from an earlier run" if known else ""
    click.echo(f"{out}: {len(lines)} results{resumed}", err=True)


def print_json(events: Any) -> None:
    """One event a line; an interrupted generation still ends with `finished`."""
    from evalspan.orchestrator.events import Finished, Injected, Text, event_json

    text = ""
    try:
        for event in events:
            if isinstance(event, Text | Injected):
                text += event.text
            click.echo(event_json(event))
    except KeyboardInterrupt:
        click.echo(event_json(Finished("cancelled", text, 0, 0, 0)))
        raise


def show(events: Any) -> None:
    """The text as it comes on standard output, remarks on standard error."""
    from rich.console import Console

    from evalspan.orchestrator.cli.display import finish_line, show_stream

    seen = show_stream(Console(highlight=False), events)
    if remark := finish_line(seen):
        click.echo(f"evalspan: {remark}", err=True)
