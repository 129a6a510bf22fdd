"""What inputs of host targets are made of: first inputs, words and bombs as data, and grammars of what is read."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import tomli

from evalspan.conformance.fuzz.vocabulary import Vocabulary, builtin_vocabulary
from evalspan.conformance.generators.library import MAX_INPUT_BYTES
from evalspan.conformance.generators.notation import Grammar, parse

__all__ = ["first_seed", "host_vocabulary"]


def host_vocabulary(name: str) -> Vocabulary:
    """The vocabulary of the subject `name`."""
    table = _table(name)
    entries = [each if isinstance(each, str) else [(unit, times) for unit, times in each] for each in table["bombs"]]
    common = builtin_vocabulary(None)
    return Vocabulary(
        grammar=_grammar(name),
        text=None,
        fragments=[word.encode() for word in table["fragments"]],
        dictionary=[*common.dictionary, *entries],
        seeds=[seed[:MAX_INPUT_BYTES] for seed in _seeds(name, table)],
        options=({},),
        base={},
    )


def first_seed(name: str) -> bytes:
    """A good input of the subject `name`."""
    return _seeds(name, _table(name))[0]


def _seeds(name: str, table: dict[str, Any]) -> list[bytes]:
    seeds = [seed.encode() for seed in table["seeds"]]
    if name in ("receipt", "receipt-csv"):
        from evalspan.conformance.fuzz.host.subjects.receipts import receipt_seeds

        return [*receipt_seeds(name), *seeds]
    return seeds


def _table(name: str) -> dict[str, Any]:
    return tomli.loads(files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))


def _grammar(name: str) -> Grammar | None:
    source = files(__name__).joinpath(f"{name}.grammar")
    return parse(source.read_text(encoding="utf-8"), f"{name}.grammar") if source.is_file() else None
