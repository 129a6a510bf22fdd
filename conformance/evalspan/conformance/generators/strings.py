"""Calls of strings/1: typed, nested, over texts in which clusters, words and case are hard to tell."""

from __future__ import annotations

from collections.abc import Mapping

from evalspan.conformance.generators.chance import Chance
from evalspan.conformance.generators.literals import literal
from evalspan.conformance.generators.texts import characters

__all__ = ["FRAGMENTS", "OPTIONS", "text"]

OPTIONS: tuple[Mapping[str, int], ...] = (
    {},
    {},
    {"max_depth": 2},
    {"max_input_bytes": 48, "max_result_bytes": 6},
    {"max_input_bytes": 256, "max_result_bytes": 24, "max_depth": 4},
    {"max_input_bytes": 16_384, "max_depth": 64, "max_result_bytes": 16_384},
)
"""Sets of options: the defaults, tight ones, and the widest."""

_SEARCHES = ("count", "find", "contains", "starts_with", "ends_with", "equals")
_TESTS = ("is_palindrome", "contains", "starts_with", "ends_with", "equals")
_COUNTS = ("len", "codepoints", "bytes", "words")
_MAPS = ("upper", "lower", "trim", "reverse", "sort", "unique")
_TEXTS = (*_MAPS, *_MAPS, "substr", "nth", "word", "replace", "repeat", "concat", "pad_left", "pad_right")
_INTEGERS = (*_COUNTS, "count", "find")
_OUTER = (*_TEXTS, *_INTEGERS, *_TESTS)
_FAR = ("99999999999999999999", "-99999999999999999999", "10000000000", "-1", "0", "9223372036854775808", "-0", "1025")
_SMALL = ('"a"', '"\\n"', "'é'", '""', '"ab"', "'\\u0301'")
_LIMITS = (6, 24, 48, 256, 512, 1024, 16_384)
"""Short strings, and numbers of bytes at which a set of options says that a string or a result is too large."""

FRAGMENTS = (
    *(name.encode() for name in sorted({*_OUTER, "Len", "strlen", "is", "substr(", "nth("})),
    *(b"(", b")", b",", b'"', b"'", b'"a"', b'""', b"'b'", b", ", b"upper(", b'"),', b"len(", b'concat("e",'),
    *(b"1", b"-1", b"0", b"01", b"-", b"+1", b"1.5", b"99999999999999999999", b"true", b"e\xcc\x81", b"\xe2\x80\x8d"),
    *(b"\\n", b"\\u0301", b"\\ud83d\\ude00", b"\\u00e9", b"\\/", b"\\'", b"\\a"),
)
"""Tokens, right and wrong."""


def text(chance: Chance) -> str:
    """One call."""
    if chance.random() < 0.02:
        return _deep(chance)
    if chance.random() < 0.001:
        return _long(chance)
    return _call(chance, chance.pick(_OUTER), chance.size(6))


def _call(chance: Chance, name: str, size: int) -> str:
    """A call with about `size` calls in it."""
    size -= 1
    first = ""
    if name in _SEARCHES or name == "replace":
        first, needle = _haystack(chance, size)
        arguments = [first, needle]
        if name == "replace":
            arguments.append(_text(chance, size // 2))
    elif name == "concat":
        arguments = [_text(chance, size // 2) for _ in range(chance.size(4))]
    else:
        arguments = [_text(chance, size)]
    if name in ("repeat", "pad_left", "pad_right") and chance.one_in(10):
        arguments = [chance.pick(_SMALL), str(chance.pick(_LIMITS) + chance.between(-1, 1))]
    elif name == "repeat":
        arguments.append(_count(chance, size // 2, 9))
    elif name in ("pad_left", "pad_right"):
        arguments.append(_count(chance, size // 2, 24))
        if chance.random() < 0.6:
            arguments.append(_text(chance, 0, 1) if chance.random() < 0.8 else _text(chance, size // 2, 2))
    elif name in ("nth", "word"):
        arguments.append(_index(chance, size // 2))
    elif name == "substr":
        arguments.append(_index(chance, size // 2))
        if chance.random() < 0.6:
            arguments.append(_index(chance, size // 2))
    if chance.one_in(40):
        arguments.append(chance.pick(('"a"', "1", 'len("a")', 'upper("a")', 'equals("a","a")', "")))
    if chance.one_in(80):
        name = chance.pick(("Len", "strlen", "len ", "length", "title"))
    comma = chance.pick((",", ", ", ", ", "\t,\n"))
    return f"{name}({comma.join(arguments)})"


def _text(chance: Chance, size: int, length: int = 14) -> str:
    """An argument that is a string, of up to `length` code points where it is a literal."""
    if size > 0 and chance.random() < 0.7:
        return _call(chance, chance.pick(_TEXTS), size)
    if chance.one_in(60):
        return chance.pick(("1", 'len("a")', 'contains("a","a")'))
    if chance.one_in(20):
        length *= 12
    return literal(chance, characters(chance, chance.below(length + 1)))


def _haystack(chance: Chance, size: int) -> tuple[str, str]:
    """Two strings, of which the second is often a part of the first."""
    if size > 0 and chance.random() < 0.5:
        return _text(chance, size), _text(chance, size // 3, 2)
    whole = characters(chance, chance.below(20))
    kind = chance.random()
    start = chance.below(len(whole) + 1)
    part = whole[start : start + chance.size(4)] if kind < 0.8 else characters(chance, chance.below(3))
    if chance.one_in(8):
        part, whole = whole, part
    elif kind < 0.1:
        part = whole[:start]
    elif kind < 0.2:
        part = whole[start:]
    elif kind < 0.3:
        whole += part * chance.size(3)
    return literal(chance, whole), literal(chance, part)


def _index(chance: Chance, size: int) -> str:
    if size > 0 and chance.random() < 0.3:
        return _call(chance, chance.pick(_INTEGERS), size)
    return str(chance.between(-6, 8)) if chance.random() < 0.85 else chance.pick(_FAR)


def _count(chance: Chance, size: int, most: int) -> str:
    if size > 0 and chance.random() < 0.3:
        return _call(chance, chance.pick(_INTEGERS), size)
    return str(chance.below(most)) if chance.random() < 0.8 else chance.pick(_FAR)


def _deep(chance: Chance) -> str:
    """Nested about as deep as the limits."""
    depth = chance.pick((1, 2, 3, 31, 32, 33, 63, 64, 65))
    name = chance.pick((*_MAPS, "concat"))
    inner = chance.pick(_INTEGERS[:4]) if chance.one_in(4) else name
    start = chance.pick((inner, inner, "nope", "equals"))
    argument = literal(chance, characters(chance, chance.below(9)))
    return f"{name}(" * (depth - 1) + f"{start}({argument})" + ")" * (depth - 1)


def _long(chance: Chance) -> str:
    """Close to the most bytes that an input may have."""
    most = chance.pick((500, 16_000))
    units = [characters(chance, chance.size(8)) for _ in range(2)]
    whole = (units[0] + units[1]) * 4
    whole = "".join(one for one in whole if one.isprintable() and one not in "\"'\\") or "a"
    whole *= most // len(whole.encode())
    name = chance.pick((*_MAPS, *_COUNTS, "is_palindrome"))
    other = literal(chance, units[0][:2])
    searches = (f'count("{whole}", {other})', f'find("{whole}", {other})', f'replace("{whole}", {other}, "")')
    return chance.pick((f'{name}("{whole}")', *searches))
