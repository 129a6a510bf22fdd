"""`evalspan evaluate`: ask an evaluator directly."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalspan.orchestrator.cli.options import json_option, registry_option, runtime_option

if TYPE_CHECKING:
    from evalspan.evaluators import Outcome

__all__ = ["evaluate"]


# An expression may begin with a minus; unknown options are therefore arguments here.
@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.argument("expression", required=False)
@click.option(
    "--jsonl",
    "source",
    type=click.Path(allow_dash=True, path_type=Path),
    metavar="FILE|-",
    help='Evaluate each line {"input": "…"}, answering each in order.',
)
@runtime_option
@registry_option
@json_option
def evaluate(
    name: str,
    expression: str | None,
    source: Path | None,
    runtime: Any,
    registry_path: Path | None,
    as_json: bool,
) -> int:
    """Evaluate EXPRESSION with the evaluator NAME, or every line of a JSONL file.

    A value is printed as it is; an error goes to standard error and the exit status is 1. JSON answers are
    {"value": …, "exact": …, "fuel": …} or {"error": {"code": …, "message": …, "offset": …}}.
    """
    from evalspan.evaluators import Evaluators, Failure
    from evalspan.policies import Registry

    if (expression is None) == (source is None):
        raise click.UsageError("give either an EXPRESSION or --jsonl FILE")
    with Evaluators(Registry.load(registry_path), runtime=runtime) as evaluators:
        evaluators.describe(name)
        if source is not None:
            for data in _inputs(source):
                click.echo(json.dumps(_answer(evaluators.evaluate(name, data)), ensure_ascii=False))
            return 0
        assert expression is not None  # noqa: S101  checked above, for the type checker
        outcome = evaluators.evaluate(name, os.fsencode(expression))
    failed = isinstance(outcome, Failure)
    if as_json:
        click.echo(json.dumps(_answer(outcome), ensure_ascii=False))
    elif isinstance(outcome, Failure):
        click.echo(f"evalspan: {outcome.code} at byte {outcome.offset}: {outcome.message}", err=True)
    else:
        click.echo(outcome.text)
    return 1 if failed else 0


def _answer(outcome: Outcome) -> dict[str, Any]:
    from evalspan.evaluators import Failure

    if isinstance(outcome, Failure):
        return {"error": {"code": str(outcome.code), "message": outcome.message, "offset": outcome.offset}}
    return {"value": outcome.text, "exact": outcome.exact, "fuel": outcome.fuel}


def _inputs(source: Path) -> Iterator[bytes]:
    """The input of each line, as bytes; a lone surrogate in JSON becomes bytes that are not UTF-8."""
    from evalspan.orchestrator.errors import RequestError

    if str(source) == "-":
        lines: Any = sys.stdin.buffer
    else:
        try:
            lines = source.open("rb")
        except OSError as error:
            raise RequestError(f"{source}: cannot be read: {error.strerror}") from None
    with lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
                text = record["input"]
                yield text.encode("utf-8", "surrogatepass")
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                raise RequestError(f'{source}: line {number} must be a JSON object with a string "input"') from None
