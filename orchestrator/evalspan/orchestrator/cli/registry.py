"""`evalspan registry`: check a registry file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evalspan.orchestrator.cli.options import json_option

__all__ = ["registry"]


@click.group()
def registry() -> None:
    """Work with registries of evaluators and spans."""


@registry.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@json_option
def check(file: Path | None, as_json: bool) -> int:
    """Check FILE, or the registry that ships: keys, tags, limits, patterns, modules, worked examples.

    Prints what is wrong, one problem a line, and exits with 1 if there is anything.
    """
    import json

    from evalspan.evaluators import EvaluatorError, Evaluators
    from evalspan.orchestrator.errors import GrammarError, RequestError
    from evalspan.orchestrator.grammar import Marks
    from evalspan.orchestrator.sentences import FreeText
    from evalspan.orchestrator.teaching import lesson
    from evalspan.policies import Registry, RegistryError

    source = str(file or "default registry")
    problems: tuple[tuple[str, str], ...] = ()
    facts: dict[str, Any] = {}
    try:
        loaded = Registry.load(file)
        with Evaluators(loaded) as evaluators:
            evaluators.open()
            lesson(loaded, evaluators)
            FreeText().compile(loaded, Marks(0))
            facts = {
                "evaluators": [entry.name for entry in loaded.evaluators],
                "spans": [rule.name for rule in loaded.spans],
                "identity": evaluators.identity,
            }
    except RegistryError as error:
        problems = error.problems
    except (EvaluatorError, GrammarError, RequestError) as error:
        problems = (("", str(error)),)
    if as_json:
        listed = [{"key": key, "message": message} for key, message in problems]
        click.echo(json.dumps({"ok": not problems, "source": source, "problems": listed, **facts}))
    elif problems:
        for key, message in problems:
            click.echo(f"{source}: {key + ': ' if key else ''}{' '.join(message.split())}", err=True)
    else:
        click.echo(
            f"{source}: ok, {len(facts['evaluators'])} evaluators, {len(facts['spans'])} spans, "
            f"identity {facts['identity']}"
        )
    return 1 if problems else 0
