"""Regular languages over characters, as expressions.

Surrogates are no characters: UTF-8 cannot spell them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = [
    "ALL",
    "ANY_TEXT",
    "EMPTY",
    "Both",
    "Chars",
    "Complement",
    "Concat",
    "Either",
    "Ranges",
    "Regular",
    "Repeat",
    "Respelt",
    "Without",
    "character_ranges",
    "common_ranges",
    "inverted",
    "literal",
    "literal_text",
]

Ranges = tuple[tuple[int, int], ...]
"""Code points, as sorted ranges with both ends, none touching another."""


_LAST = 0x10FFFF
_FIRST_SURROGATE, _LAST_SURROGATE = 0xD800, 0xDFFF


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of these."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Concat:
    """The items in order; none is the empty text."""

    items: tuple[Regular, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """One of the items; none is no text at all."""

    items: tuple[Regular, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The item from `least` to `most` times; without end where `most` is None."""

    item: Regular
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Both:
    """What is in every item."""

    items: tuple[Regular, ...]


@dataclass(frozen=True, slots=True)
class Complement:
    """What is not in the item."""

    item: Regular


@dataclass(frozen=True, slots=True)
class Without:
    """The texts that hold none of the strings. Where `at_end` is set, one may stand at the very end."""

    strings: tuple[str, ...]
    at_end: bool = False


@dataclass(frozen=True, slots=True)
class Respelt:
    """The texts of the item with some characters spelt otherwise; those not in `plain` nor in `spelt` cannot be."""

    item: Regular
    plain: Ranges
    spelt: tuple[tuple[str, str], ...]


Regular = Chars | Concat | Either | Repeat | Both | Complement | Without | Respelt
"""A regular language."""


def inverted(ranges: Ranges) -> Ranges:
    """Every other character."""
    out, low = [], 0
    for first, last in character_ranges([*ranges, (_FIRST_SURROGATE, _LAST_SURROGATE)]):
        if low < first:
            out.append((low, first - 1))
        low = last + 1
    if low <= _LAST:
        out.append((low, _LAST))
    return tuple(out)


def character_ranges(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """The ranges sorted and joined where they touch."""
    out: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if out and low <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return tuple(out)


def common_ranges(first: Ranges, second: Ranges) -> Ranges:
    """The characters that are in both."""
    out, i, j = [], 0, 0
    while i < len(first) and j < len(second):
        low, high = max(first[i][0], second[j][0]), min(first[i][1], second[j][1])
        if low <= high:
            out.append((low, high))
        if first[i][1] < second[j][1]:
            i += 1
        else:
            j += 1
    return tuple(out)


EMPTY = Concat(())
ALL = Chars(inverted(()))
ANY_TEXT = Repeat(ALL, 0, None)


def literal(text: str) -> Regular:
    """This text and no other."""
    return Concat(tuple(Chars(((ord(char), ord(char)),)) for char in text))


def literal_text(item: Regular) -> str | None:
    """The one text of an expression that is a literal, else None."""
    if isinstance(item, Chars):
        ((low, high), *more) = item.ranges or ((0, 1),)
        return chr(low) if low == high and not more else None
    if isinstance(item, Concat):
        texts = [literal_text(each) for each in item.items]
        return "".join(text for text in texts if text is not None) if None not in texts else None
    return literal_text(item.items[0]) if isinstance(item, Either) and len(item.items) == 1 else None
