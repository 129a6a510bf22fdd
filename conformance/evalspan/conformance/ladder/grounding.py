"""Whether the values of an output are found in the text that they were taken from."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from evalspan.conformance.ladder.calendar_dates import as_date, dates_in
from evalspan.conformance.ladder.consistency import Path, leaves
from evalspan.conformance.ladder.numerals import numbers_in

__all__ = ["Source", "normalized"]


def normalized(text: str) -> str:
    """The text in NFKC, case folded, with one space for all white space."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())


class Source:
    """A source text, read once: its numbers and dates by value, and its words."""

    def __init__(self, text: str) -> None:
        self._text = normalized(text)
        self._numbers = numbers_in(self._text)
        self._dates = dates_in(self._text)

    def missing(self, value: Any, computed: frozenset[Path], expressions: frozenset[Path]) -> str | None:
        """The pointer of the first value that is not found, None where all are.

        What is at a path of `computed` is not looked for; of the texts at `expressions` only the numbers are. Truth
        values and nulls are no words of a text, and an empty string is in every text.
        """
        for path, leaf in leaves(value):
            if path in computed or leaf is None or isinstance(leaf, bool):
                continue
            if path in expressions and isinstance(leaf, str):
                held = all(number in self._numbers for number in _operands(leaf))
            else:
                held = self._holds(leaf)
            if not held:
                return "/" + "/".join(map(str, path))
        return None

    def _holds(self, leaf: str | Decimal) -> bool:
        if isinstance(leaf, Decimal):
            return leaf in self._numbers
        text = normalized(leaf)
        day = as_date(text)
        if day is not None and day in self._dates:
            return True
        numbers = numbers_in(text)
        if numbers and not any(char.isalpha() for char in text) and numbers <= self._numbers and day is None:
            return True
        return any(True for _ in self._places(text))

    def _places(self, text: str) -> Iterator[int]:
        """Where the text stands in the source as words of its own: `art` is not in `party`."""
        at = self._text.find(text)
        while at >= 0:
            before, after = self._text[at - 1 : at] if at else "", self._text[at + len(text) :][:1]
            if not (before.isalnum() and text[:1].isalnum()) and not (after.isalnum() and text[-1:].isalnum()):
                yield at
            at = self._text.find(text, at + 1)


def _operands(expression: str) -> frozenset[Decimal]:
    """The numbers of an expression; a minus in it is an operator."""
    spaced = normalized(expression)
    for operator in "-\N{MINUS SIGN}":
        spaced = spaced.replace(operator, f" {operator} ")
    return numbers_in(spaced)
