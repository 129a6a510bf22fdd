"""The options of `evalspan run` that give a grammar: each reads its file and makes one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from evalspan.orchestrator.grammar import Grammar

__all__ = ["chosen_grammar", "grammar_options"]

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

_MAX_FILE_BYTES = 4 * 1024 * 1024  # far beyond any grammar that an engine takes
_FILE = click.Path(path_type=Path, dir_okay=False)


def grammar_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options, at most one of which may be given."""
    for option in reversed(
        (
            click.option(
                "--grammar", "lark_file", type=_FILE, metavar="FILE", help="Lark, with @span and @span.result."
            ),
            click.option("--gbnf", "gbnf_file", type=_FILE, metavar="FILE", help="llama.cpp's GBNF."),
            click.option(
                "--structural-tag",
                "structural_file",
                type=_FILE,
                metavar="FILE",
                help="XGrammar's structural tag in JSON, with evaluated_tag and result_ref.",
            ),
            click.option(
                "--schema", "schema_file", type=_FILE, metavar="FILE", help="JSON Schema, with x-evalspan values."
            ),
            click.option("--regex", "pattern", metavar="PATTERN", help="The whole output matches it."),
        )
    ):
        command = option(command)
    return command


def chosen_grammar(values: dict[str, Any], others: Mapping[str, bool]) -> Grammar | None:
    """The grammar of the option that was given; the values of `grammar_options` are taken out of `values`.

    `others` says of further options that fix the output whether they were given too.

    Raises:
        UsageError: more than one of all was given.
        BadParameter: the file cannot be read.
        GrammarError: what it holds is no grammar.
    """
    given = {name: values.pop(name) for name in _MAKERS}
    chosen = [name for name, value in given.items() if value is not None]
    names = [_MAKERS[name][0] for name in chosen] + [name for name, is_given in others.items() if is_given]
    if len(names) > 1:
        raise click.UsageError(f"{' and '.join(names)} exclude each other: the output has one grammar")
    if not chosen:
        return None
    return _MAKERS[chosen[0]][1](given[chosen[0]])


def lark_grammar(file: Path) -> Grammar:
    """The grammar of `--grammar FILE`."""
    from evalspan.orchestrator.formats import LarkText

    return LarkText(_read(file, "--grammar"))


def gbnf_grammar(file: Path) -> Grammar:
    """The grammar of `--gbnf FILE`."""
    from evalspan.orchestrator.formats import Gbnf

    return Gbnf(_read(file, "--gbnf"))


def structural_grammar(file: Path) -> Grammar:
    """The grammar of `--structural-tag FILE`."""
    from evalspan.orchestrator.formats import StructuralTag

    return StructuralTag(_read(file, "--structural-tag"))


def schema_grammar(file: Path) -> Grammar:
    """The grammar of `--schema FILE`."""
    from evalspan.orchestrator.json import JsonSchema

    return JsonSchema.parse(_read(file, "--schema"))


def regex_grammar(pattern: str) -> Grammar:
    """The grammar of `--regex PATTERN`."""
    from evalspan.orchestrator.formats import Regex

    return Regex(pattern)


_MAKERS: Mapping[str, tuple[str, Callable[[Any], Grammar]]] = {
    "lark_file": ("--grammar", lark_grammar),
    "gbnf_file": ("--gbnf", gbnf_grammar),
    "structural_file": ("--structural-tag", structural_grammar),
    "schema_file": ("--schema", schema_grammar),
    "pattern": ("--regex", regex_grammar),
}


def _read(file: Path, option: str) -> str:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise click.BadParameter(f"{file} cannot be read: {error.strerror}", param_hint=option) from None
    if len(data) > _MAX_FILE_BYTES:
        raise click.BadParameter(f"{file} has {len(data)} bytes, the limit is {_MAX_FILE_BYTES}", param_hint=option)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise click.BadParameter(f"{file} is not UTF-8 at byte {error.start}", param_hint=option) from None
