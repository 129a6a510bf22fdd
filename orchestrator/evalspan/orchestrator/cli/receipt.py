"""`evalspan receipt`: verify receipts, and show what they say; and keeping those of the commands that generate."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalspan.orchestrator.cli.options import json_option, registry_option

if TYPE_CHECKING:
    from evalspan.orchestrator.backend import StepEngine, Tokenizer
    from evalspan.orchestrator.driver import Driver, Request
    from evalspan.orchestrator.events import Event
    from evalspan.orchestrator.receipts import Report

__all__ = ["check_receipt", "receipt", "receipt_kept", "receipt_option"]

_SUFFIXES = (".json", ".csv")
_FILE = click.Path(path_type=Path)

receipt_option = click.option(
    "--receipt",
    type=_FILE,
    metavar="FILE",
    help="Write how it came about, for `receipt verify`: *.json or *.csv; with --prompts a folder, one file a prompt.",
)


@click.group()
def receipt() -> None:
    """Verify the receipts that `run --receipt` writes, and show them."""


@receipt.command()
@click.argument("files", type=_FILE, nargs=-1, required=True, metavar="FILE...")
@registry_option
@click.option("--backend", default="llama_cpp", show_default=True, help="See `evalspan plugins`.")
@click.option("--model", metavar="FILE", help="Model of the backend, as `run` took it. Never read out of the receipt.")
@click.option("--context", type=click.IntRange(min=1), metavar="TOKENS", help="Size of the model's context.")
@click.option("--threads", type=click.IntRange(min=1), help="CPU threads of the backend; all cores by default.")
@click.option(
    "--logits/--no-logits",
    default=True,
    show_default=True,
    help="Run the model again and compare how each token was drawn; else its ledger is only read for contradictions.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    metavar="LOGITS",
    help="How far the model's logits may be apart; 0.001 by default. Batches and other machines round differently.",
)
@json_option
def verify(
    files: tuple[Path, ...],
    registry_path: Path | None,
    logits: bool,
    tolerance: float | None,
    as_json: bool,
    **where: Any,
) -> int:
    """Rebuild every FILE from its inputs and compare; exits with 0 only if all of it is equal.

    The registry and the model are those that you name. What is wrong is printed with its place, one problem a line.
    """
    import json

    from evalspan.orchestrator import receipts
    from evalspan.policies import Registry

    # All are read first: a file that is no receipt is known before the model is loaded.
    read = [(file, receipts.read_receipt(file)) for file in files]
    registry = Registry.load(registry_path)
    held = True
    with ExitStack() as stack:
        tokenizer, engine = stack.enter_context(_opened(logits=logits, **where))
        most = receipts.TOLERANCE if tolerance is None else tolerance
        verifier = stack.enter_context(receipts.Verifier(tokenizer, registry, engine=engine, tolerance=most))
        for file, one in read:
            report = verifier.verify(one)
            held = held and report.holds
            if as_json:
                click.echo(json.dumps(_facts(file, report)))
            elif report.holds:
                click.echo(f"{file}: equal ({_looked_at(report)})")
            else:
                for problem in report.problems:
                    click.echo(f"{file}: {' '.join(str(problem).split())}")
    return 0 if held else 1


@receipt.command()
@click.argument("file", type=_FILE)
@json_option
def show(file: Path, as_json: bool) -> None:
    """Print FILE for people: what was asked, the text with what was forced in it, its values, its identities.

    Nothing is verified.
    """
    from evalspan.orchestrator import receipts

    one = receipts.read_receipt(file)
    if as_json:
        click.echo(one.json_text())
        return
    from evalspan.orchestrator.receipts.display import show_receipt

    show_receipt(one)


@contextmanager
def _opened(
    *, backend: str, model: str | None, context: int | None, threads: int | None, logits: bool
) -> Iterator[tuple[Tokenizer, StepEngine | None]]:
    """The tokenizer of a model, and its engine where the model is to run again and its engine shows logits."""
    from evalspan.orchestrator.backend import BackendOptions, StepEngine
    from evalspan.orchestrator.plugins import backend_class

    options = BackendOptions(model=model, context_tokens=context, threads=threads)
    chosen = backend_class(backend)
    open_tokenizer = getattr(chosen, "open_tokenizer", None)
    if not logits and open_tokenizer is not None:
        with open_tokenizer(options) as tokenizer:
            yield tokenizer, None
        return
    opened = chosen(options)
    try:
        yield opened.tokenizer, opened.engine if logits and isinstance(opened.engine, StepEngine) else None
    finally:
        opened.shutdown()


def _looked_at(report: Report) -> str:
    output = report.receipt.output
    evaluations = sum(event["event"] in ("evaluated", "error") for event in output.events)
    counts = f"{output.sampled_tokens} sampled and {output.forced_tokens} forced tokens, {evaluations} evaluations"
    if report.model == "confirmed":
        model = f"the model gives these logits and draws, at most {report.largest_difference:.2g} apart"
    elif report.model == "consistent":
        model = "the model did not run: the ledger does not contradict itself, the sampling is not confirmed"
    else:
        model = "the engine shows no logits: the sampling is not confirmed"
    return f"{counts}; {model}"


def _facts(file: Path, report: Report) -> dict[str, Any]:
    return {
        "file": str(file),
        "equal": report.holds,
        "problems": [{"path": problem.path, "message": problem.message} for problem in report.problems],
        "model": report.model,
        "largest_difference": report.largest_difference,
    }


def check_receipt(path: Path, *, folder: bool = False, several: bool = False) -> None:
    """Whether a receipt can be written there; `folder` where there is a file of prompts.

    Raises:
        UsageError: it cannot.
    """
    if several:
        raise click.UsageError("--receipt is of one output: leave --n, --beams and --samples away")
    if folder and path.exists() and not path.is_dir():
        raise click.UsageError(f"--receipt {path}: with --prompts it is a folder")
    if not folder and path.suffix not in _SUFFIXES:
        raise click.UsageError(f"--receipt {path}: the file is named *.json or *.csv")
    if not path.resolve().parent.is_dir():
        raise click.UsageError(f"--receipt {path}: there is no folder for it")


def receipt_kept(
    driver: Driver, request: Request, events: Generator[Event, None, None], path: Path | None
) -> Generator[Event, None, None]:
    """The events as they come, without those that are asked for by the receipt alone, which is written at their end."""
    from evalspan.orchestrator.events import Recorded, Step
    from evalspan.orchestrator.receipts import receipt_of, write_receipt

    seen: list[Event] = []
    with closing(events):
        for event in events:
            seen.append(event)
            if path is None or not isinstance(event, Recorded | Step):
                yield event
    if path is not None:
        write_receipt(receipt_of(driver, request, seen), path)
