"""The syntax of checksums/1: one call whose arguments are string literals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import NamedTuple

from evalspan.evaluators.in_process.call_syntax import Scanner
from evalspan.evaluators.in_process.faults import SyntaxFault

__all__ = ["Call", "Literal", "parse"]

_LONGEST_MISSPELLING = 32  # characters; every name is shorter, and comparing takes time that grows with the length


class Literal(NamedTuple):
    """A string literal; its quotes are the first and the last of the characters `start` to `stop` of the input."""

    text: str
    start: int
    stop: int


class Call(NamedTuple):
    """A call; its name stands at the characters `start` to `stop` of the input."""

    name: str
    start: int
    stop: int
    literals: list[Literal]


def parse(scanner: Scanner, arities: Mapping[str, int]) -> Call:
    """The call that the input is; `arities` has the number of arguments of each name. Raises SyntaxFault."""
    scanner.skip_space()
    start = scanner.index
    name = scanner.name()
    if name is None:
        raise scanner.misplaced("a call of a function was expected")
    stop = scanner.index
    arity = arities.get(name)
    if arity is None:
        raise scanner.fault(_unknown_name(name, arities), start, stop)
    scanner.skip_space()
    if not scanner.eat("("):
        raise scanner.unexpected("a function's arguments stand in parentheses")
    literals = [_literal(scanner)]
    for _ in range(arity - 1):
        if not scanner.eat(","):
            raise scanner.unexpected(f"a comma was expected: the function takes {arity} arguments")
        literals.append(_literal(scanner))
    if not scanner.eat(")"):
        taken = "1 argument" if arity == 1 else f"{arity} arguments"
        raise scanner.unexpected(f"a closing parenthesis was expected: the function takes {taken}")
    scanner.finish()
    return Call(name, start, stop, literals)


def _literal(scanner: Scanner) -> Literal:
    """The next literal; the white space around it is passed."""
    scanner.skip_space()
    start = scanner.index
    if scanner.peek() not in ('"', "'"):
        raise _no_literal(scanner)
    text = scanner.string()
    stop = scanner.index
    scanner.skip_space()
    return Literal(text, start, stop)


def _no_literal(scanner: Scanner) -> SyntaxFault:
    """The fault of what stands in the place of a literal."""
    message = "an argument is a string in quotes"
    start = scanner.index
    if scanner.name() is not None:
        return scanner.fault(message, start, scanner.index)
    return scanner.misplaced(message)


def _unknown_name(name: str, known: Iterable[str]) -> str:
    nearest = get_close_matches(name, known, 1) if len(name) <= _LONGEST_MISSPELLING else []
    return f"unknown name; is {nearest[0]} meant?" if nearest else "unknown name"
