"""The numbers in a text, by value, however their digits are grouped.

`1,234.50`, `1.234,50`, `1 234.50` and `1'234.5` are one value or nearly. Where a spelling has two readings, such as
`1.234`, both count: what is looked for is whether a value can be found at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

__all__ = ["numbers_in"]

_SEPARATORS = ".,'\N{RIGHT SINGLE QUOTATION MARK}_ "
_MINUS = "-\N{MINUS SIGN}"
_LONGEST = 400  # characters of one number, above which it is no figure of a text but a list


def numbers_in(text: str) -> frozenset[Decimal]:
    """Every reading of every number in a text that is normalized to NFKC.

    A minus counts where it stands directly before a number and after no letter or digit: `10-20` is a range.
    """
    found: set[Decimal] = set()
    at = 0
    while at < len(text):
        if not _digit(text, at):
            at += 1
            continue
        start, end = at, _run(text, at)
        exponent, at = _exponent(text, end)
        minus = bool(start) and text[start - 1] in _MINUS and not text[start - 2 : start - 1].isalnum()
        for reading, first in _readings(text[start:end]):
            try:
                found.add(Decimal(("-" if minus and first else "") + reading + exponent))
            except InvalidOperation:
                continue  # an exponent out of all range: no value of any output is one
    return frozenset(found)


def _run(text: str, at: int) -> int:
    """The end of the digits that stand together from here, single separators between them."""
    while _digit(text, at) or (text[at : at + 1] in _SEPARATORS and _digit(text, at + 1)):
        at += 1
    return at


def _digit(text: str, at: int) -> bool:
    char = text[at : at + 1]
    return char.isascii() and char.isdigit()


def _exponent(text: str, end: int) -> tuple[str, int]:
    """The exponent that follows, as in `1e3`; none where it is the beginning of a word."""
    at = end + 1
    if text[end : end + 1] not in ("e", "E"):
        return "", end
    if text[at : at + 1] in ("+", "-"):
        at += 1
    digits = at
    while _digit(text, at):
        at += 1
    if at == digits or text[at : at + 1].isalpha():
        return "", end
    return "e" + text[end + 1 : at], at


def _readings(run: str) -> Iterator[tuple[str, bool]]:
    """The numbers that a run of digits and separators may be, each with whether it begins the run.

    What is no number as a whole is as many as it has parts.
    """
    if len(run) > _LONGEST:
        return
    separators = [char for char in run if char in _SEPARATORS]
    whole = list(_whole(run, separators))
    for reading in whole:
        yield reading, True
    # A space may group digits or stand between two numbers.
    if " " in separators:
        for index, part in enumerate(run.split(" ")):
            for reading, first in _readings(part):
                yield reading, first and not index
    elif not whole:
        parts = "".join(char if char not in _SEPARATORS else " " for char in run).split()
        for index, part in enumerate(parts):
            yield part, not index


def _whole(run: str, separators: list[str]) -> Iterator[str]:
    if not separators:
        yield run
        return
    last = separators[-1]
    head, _, tail = run.rpartition(last)
    if last in ".," and separators.count(last) == 1:
        grouping = set(separators[:-1])
        if not grouping or (len(grouping) == 1 and _grouped(head, grouping.pop())):
            yield "".join(char for char in head if char not in _SEPARATORS) + "." + tail
    if len(set(separators)) == 1 and _grouped(run, last):
        yield run.replace(last, "")


def _grouped(run: str, separator: str) -> bool:
    """Whether the digits stand in groups of three."""
    first, *rest = run.split(separator)
    return 1 <= len(first) <= 3 and all(len(group) == 3 for group in rest)
