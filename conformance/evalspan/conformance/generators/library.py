"""Grammars and dictionaries that ship with evalspan, and those of the user."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import tomli

from evalspan.conformance.generators.notation import Grammar, GrammarNotationError, parse

__all__ = ["GRAMMARS", "MAX_INPUT_BYTES", "dictionary", "fitted", "grammar", "user_grammar"]

GRAMMARS = ("arithmetic", "checksums", "dates", "expression", "strings")
"""The names of the grammars that ship with evalspan; `expression` is for evaluators of Python expressions."""

MAX_INPUT_BYTES = 16_384
"""The most bytes that an input has here, the ceiling of every policy's `max_input_bytes`."""

Entry = str | list[tuple[str, int]]


def grammar(name: str) -> Grammar:
    """A grammar that ships with evalspan. Raises KeyError where there is none."""
    if name not in GRAMMARS:
        raise KeyError(name)
    return parse(_resource("grammars", f"{name}.grammar"), f"{name}.grammar")


def user_grammar(path: Path) -> Grammar:
    """The grammar in a file.

    Raises:
        GrammarNotationError: it cannot be read, or is no grammar.
    """
    try:
        return parse(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise GrammarNotationError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise GrammarNotationError(f"{path}: is not UTF-8 at byte {error.start}") from None


def dictionary(name: str | None) -> tuple[Entry, ...]:
    """Known bombs and look-alikes: those of every syntax, and those of the grammar `name` where there are some."""
    names = ["common"] if name not in GRAMMARS else ["common", str(name)]
    entries: list[Entry] = []
    for each in names:
        for entry in tomli.loads(_resource("dictionaries", f"{each}.toml"))["entries"]:
            entries.append(entry if isinstance(entry, str) else [(unit, times) for unit, times in entry])
    return tuple(entries)


def fitted(entry: Entry, most: int) -> bytes:
    """The bytes of an entry: cut down in its repetitions to `most` bytes, those repeated alike."""
    if isinstance(entry, str):
        return entry.encode()
    pieces = [(unit.encode(), times) for unit, times in entry]
    size = sum(len(unit) * times for unit, times in pieces)
    fixed = sum(len(unit) * times for unit, times in pieces if times == 1)
    if size > most > fixed:
        scale = (most - fixed) / (size - fixed)
        pieces = [(unit, times if times == 1 else int(times * scale)) for unit, times in pieces]
    return b"".join(unit * times for unit, times in pieces)


def _resource(folder: str, name: str) -> str:
    return files("evalspan.conformance.generators").joinpath(folder).joinpath(name).read_text(encoding="utf-8")
