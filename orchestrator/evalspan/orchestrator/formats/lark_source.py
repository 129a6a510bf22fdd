"""Reading llguidance's Lark dialect into lines of tokens, as far as rewriting it needs.

A statement is a line, with the lines after it that begin with `|`. What a token means is for the engine to say;
here it is only told apart.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal

from evalspan.orchestrator.errors import GrammarError

__all__ = ["Statement", "Token", "read_lark", "string_value"]

Kind = Literal["name", "terminal", "string", "regex", "reference", "special", "number", "operator"]

# Possessive in effect: no alternative can match where another has, so nothing is tried twice.
_TOKENS = re.compile(
    r"""
    (?P<space> [ \t\r]+ | //[^\n]* | \#[^\n]* )
  | (?P<string> "(?: [^"\\\n] | \\[^\n] )*" i? )
  | (?P<regex> /(?: [^/\\\n] | \\[^\n] )+/ [imslux]* )
  | (?P<reference> @ [A-Za-z_][A-Za-z0-9_-]* (?: \.[A-Za-z_]+ )? )
  | (?P<special> <[^<>\s]*> )
  | (?P<terminal> _? [A-Z][A-Za-z0-9_]* )
  | (?P<name> [a-z_][A-Za-z0-9_]* )
  | (?P<number> [0-9]+ )
  | (?P<operator> -> | \.\. | [%:|&~()\[\]{}*+?,.=!] )
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a grammar, and the line it stands on."""

    kind: Kind
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Statement:
    """A rule, a terminal or a directive: what it defines or does, and what follows its colon.

    For a directive the name is its word with the percent sign.
    """

    name: str
    line: int
    body: tuple[Token, ...]


def read_lark(text: str) -> list[Statement]:
    """The statements of a grammar.

    Raises:
        GrammarError: the text is no grammar of the dialect, or has a part that cannot be used here.
    """
    statements: list[Statement] = []
    for tokens in _lines(text):
        if tokens[0].text == "|" and statements:
            last = statements[-1]
            statements[-1] = Statement(last.name, last.line, (*last.body, *tokens))
        else:
            statements.append(_statement(tokens))
    return statements


def string_value(token: Token) -> str:
    """The text that a string token stands for.

    Raises:
        GrammarError: an escape in it is not one of the dialect's.
    """
    literal = re.sub(r"\\(\\|x([0-9A-Fa-f]{2}))", lambda m: f"\\u00{m[2]}" if m[2] else m[0], token.text.rstrip("i"))
    try:
        value: str = json.loads(literal)
    except ValueError:
        raise GrammarError(f"line {token.line}: {token.text} is no string of the dialect") from None
    return value


def _lines(text: str) -> list[list[Token]]:
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        tokens, position = [], 0
        while position < len(line):
            found = _TOKENS.match(line, position)
            if found is None:
                raise GrammarError(f"line {number}: {line[position : position + 20]!r} is no part of a Lark grammar")
            position = found.end()
            kind = found.lastgroup
            if kind != "space":
                tokens.append(Token(kind, found[0], number))  # type: ignore[arg-type]
        if tokens:
            lines.append(tokens)
    return lines


def _statement(tokens: list[Token]) -> Statement:
    line = tokens[0].line
    if tokens[0].text == "%" and len(tokens) > 1:
        return Statement(f"%{tokens[1].text}", line, tuple(tokens[2:]))
    if tokens[0].text in ("?", "!"):  # how a parse tree is shaped; there is none
        tokens = tokens[1:]
    if len(tokens) < 2 or tokens[0].kind not in ("name", "terminal"):
        raise GrammarError(f"line {line}: a statement is `name: …`, `NAME: …` or a directive")
    if tokens[1].text != ":":
        raise GrammarError(
            f"line {line}: {tokens[0].text!r} must be followed by a colon; attributes, parameters and priorities of a "
            "rule cannot be used here"
        )
    return Statement(tokens[0].text, line, tuple(tokens[2:]))
