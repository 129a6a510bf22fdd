"""What inputs of a target are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evalspan.conformance.generators import GENERATORS, Chance
from evalspan.conformance.generators.library import GRAMMARS, Entry, dictionary, grammar
from evalspan.conformance.generators.notation import Grammar

__all__ = ["Vocabulary", "builtin_vocabulary"]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A grammar, tokens, known bombs, first inputs and sets of options; each may be empty but the last."""

    grammar: Grammar | None
    text: Callable[[Chance], str] | None
    """What makes inputs that mean something, beside the grammar."""
    fragments: Sequence[bytes]
    dictionary: Sequence[Entry]
    seeds: Sequence[bytes]
    options: Sequence[Mapping[str, int]]
    base: Mapping[str, int]
    """Options of every input, under those of its set."""


def builtin_vocabulary(
    name: str | None, *, base: Mapping[str, int] | None = None, options: Sequence[Mapping[str, int]] | None = None
) -> Vocabulary:
    """The vocabulary of a grammar that ships with evalspan; of no grammar, where `name` is none of them.

    `options` are sets of options; those of the operator's generator where it is None.
    """
    generator = GENERATORS.get(f"{name}/1")
    sets = options if options is not None else ({},) if generator is None else generator.options
    return Vocabulary(
        grammar=grammar(name) if name in GRAMMARS else None,
        text=None if generator is None else generator.text,
        fragments=_WORDS if generator is None else generator.fragments,
        dictionary=dictionary(name),
        seeds=(),
        options=sets,
        base={} if base is None else base,
    )


_WORDS = (
    *(
        b"0",
        b"1",
        b"-1",
        b"9999999999",
        b"1.5",
        b"1e9",
        b"a",
        b"abc",
        b"x",
        b"+",
        b"-",
        b"*",
        b"/",
        b"**",
        b"(",
        b")",
        b"[",
        b"]",
        b"{",
    ),
    *(
        b"}",
        b",",
        b".",
        b":",
        b";",
        b'"',
        b"'",
        b'"a"',
        b"=",
        b"==",
        b"<",
        b">",
        b"!",
        b"&",
        b"|",
        b"^",
        b"%",
        b"~",
        b"\\",
        b" ",
        b"true",
    ),
)
"""Tokens that most syntaxes have."""
