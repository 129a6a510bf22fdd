"""Reports as files: written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from evalspan.orchestrator.errors import RequestError
from evalspan.orchestrator.files import write_whole

__all__ = ["json_file_option", "write_json", "write_text"]

json_file_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    metavar="FILE",
    help="Write the report as JSON; - prints it instead of the text.",
)


def write_json(report: Any, path: Path) -> None:
    """Write a report to a file, or print it where the file is `-`.

    Raises:
        click.UsageError: the file cannot be written.
    """
    text = json.dumps(report, ensure_ascii=False, allow_nan=False, indent=2)
    if str(path) == "-":
        click.echo(text)
        return
    write_text(text + "\n", path)


def write_text(text: str, path: Path) -> None:
    """Write a file.

    Raises:
        click.UsageError: the file cannot be written.
    """
    try:
        write_whole(path, text)
    except RequestError as error:
        raise click.UsageError(str(error)) from None
