"""The dates in a text, by day, however they are written: ISO 8601, with points or slashes, with English months.

`01/02/2024` has two readings and both count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import groupby

__all__ = ["as_date", "dates_in"]

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_ORDINALS = ("st", "nd", "rd", "th")


@dataclass(frozen=True, slots=True)
class _Word:
    """Digits or letters that stand together, and what stands between them and the next."""

    text: str
    after: str


def dates_in(text: str) -> frozenset[date]:
    """Every reading of every date in a text that is normalized to NFKC and case folded."""
    return frozenset(day for _, day in _found(_words(text)))


def as_date(text: str) -> date | None:
    """The day that a text is, where it is nothing else and has one reading."""
    words = _words(text.strip())
    days = {day for size, day in _found(words) if size == len(words)}
    return days.pop() if len(days) == 1 else None


def _words(text: str) -> list[_Word]:
    parts = ["".join(chars) for _, chars in groupby(text, _sort)]
    words: list[_Word] = []
    for part in parts:
        if _sort(part[0]) != "other":
            words.append(_Word(part, ""))
        elif words:
            words[-1] = _Word(words[-1].text, part)
    # 31st is a number and an ending.
    joined: list[_Word] = []
    for word in words:
        if word.text in _ORDINALS and joined and joined[-1].text.isdigit() and not joined[-1].after:
            joined[-1] = _Word(joined[-1].text, word.after)
        else:
            joined.append(word)
    return joined


def _sort(char: str) -> str:
    return "digit" if char.isascii() and char.isdigit() else "letter" if char.isalpha() else "other"


def _found(words: list[_Word]) -> Iterator[tuple[int, date]]:
    """Each reading of three words in a row, with the number of all words that it may stand for."""
    for first, second, third in zip(words, words[1:], words[2:], strict=False):
        for year, month, day in _readings(first, second, third):
            if 1 <= month <= 12 and 1 <= day <= 31 and 1 <= year <= 9999:
                try:
                    yield 3, date(year, month, day)
                except ValueError:
                    continue  # the 31st of a month that has none


def _readings(first: _Word, second: _Word, third: _Word) -> Iterator[tuple[int, int, int]]:
    one, two, three = (word.text for word in (first, second, third))
    between = (first.after, second.after)
    month = _month(two)
    if one.isdigit() and month and _year(three) and _near(between):
        yield int(three), month, int(one[:4])
    month = _month(one)
    if month and two.isdigit() and _year(three) and _near(between):
        yield int(three), month, int(two[:4])
    if not (one.isdigit() and two.isdigit() and three.isdigit()) or between[0] != between[1]:
        return
    if _year(one) and between[0] in ("-", "/", ".") and len(two) <= 2 and len(three) <= 2:
        yield int(one), int(two), int(three)
    elif _year(three) and between[0] in ("-", "/", ".") and len(one) <= 2 and len(two) <= 2:
        yield int(three), int(two), int(one)
        if between[0] == "/":
            yield int(three), int(one), int(two)


def _near(between: tuple[str, str]) -> bool:
    return all(part.strip() in ("", ",", ".", "-", ".,") and len(part) <= 3 for part in between)


def _year(text: str) -> bool:
    return text.isdigit() and len(text) == 4


def _month(text: str) -> int:
    """The number of a month by its name, or by three letters and more of it; 0 for anything else."""
    if len(text) < 3:
        return 0
    return next((number for number, name in enumerate(_MONTHS, 1) if name.startswith(text)), 0)
