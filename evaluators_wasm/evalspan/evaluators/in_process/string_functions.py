"""The functions of strings/1 on values that have the types of their signatures.

Functions that can lengthen their arguments take `limit`, the most bytes of UTF-8 that a string may have. All raise
Fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from evalspan.evaluators.in_process.call_syntax import Signature
from evalspan.evaluators.in_process.faults import Fault
from evalspan.evaluators.in_process.unicode_text import clusters, is_plain, lower, trim, upper, words
from evalspan.policies.errors import ErrorCode

__all__ = ["FUNCTIONS", "Function", "Result", "byte_length"]

Result = str | int | bool
"""What a function gives."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function: what it takes, and how it is computed."""

    signature: Signature
    compute: Callable[..., Result]
    lengthens: bool = False
    """Whether `compute` takes `limit`."""


def byte_length(text: str) -> int:
    """Bytes of `text` in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def _require_fit(length: int, limit: int) -> None:
    if length > limit:
        raise Fault(ErrorCode.TOO_LARGE, f"the string would have more than {limit} bytes")


def _fitting(text: str, limit: int) -> str:
    _require_fit(byte_length(text), limit)
    return text


def _as_characters(*texts: str) -> tuple[list[str], dict[int, str]]:
    """The texts with one character for each cluster, the same for the same, and what each stands for.

    Searching in these finds what is made of whole clusters, and nothing else.
    """
    codes: dict[str, int] = {}
    coded = ["".join([chr(codes.setdefault(one, len(codes))) for one in clusters(text)]) for text in texts]
    return coded, {code: one for one, code in codes.items()}


def _searchable(s: str, t: str) -> tuple[str, str]:
    """The two as `_as_characters` has them."""
    if is_plain(s) and is_plain(t):
        return s, t
    (haystack, needle), _ = _as_characters(s, t)
    return haystack, needle


def _require_needle(t: str) -> None:
    if not t:
        raise Fault(ErrorCode.DOMAIN, "the string to look for is empty")


def _pick(items: Sequence[str], n: int, what: str) -> str:
    """Item `n` from 1, or from the end where it is negative."""
    if n == 0 or not -len(items) <= n <= len(items):
        raise Fault(ErrorCode.DOMAIN, f"there are {len(items)} {what}, counted from 1, or from the end from -1")
    return items[n - 1] if n > 0 else items[n]


def _count(s: str, t: str) -> int:
    _require_needle(t)
    haystack, needle = _searchable(s, t)
    return haystack.count(needle)


def _find(s: str, t: str) -> int:
    _require_needle(t)
    haystack, needle = _searchable(s, t)
    return haystack.find(needle)


def _contains(s: str, t: str) -> bool:
    haystack, needle = _searchable(s, t)
    return needle in haystack


def _starts_with(s: str, t: str) -> bool:
    haystack, needle = _searchable(s, t)
    return haystack.startswith(needle)


def _ends_with(s: str, t: str) -> bool:
    haystack, needle = _searchable(s, t)
    return haystack.endswith(needle)


def _is_palindrome(s: str) -> bool:
    parts = clusters(s)
    return parts == parts[::-1]


def _substr(s: str, i: int, j: int | None = None) -> str:
    return "".join(clusters(s)[i:j])


def _replace(s: str, t: str, u: str, *, limit: int) -> str:
    times = _count(s, t)
    _require_fit(byte_length(s) + times * (byte_length(u) - byte_length(t)), limit)
    if is_plain(s) and is_plain(t):
        return s.replace(t, u)
    (haystack, needle), meanings = _as_characters(s, t)
    mark = len(meanings)
    return haystack.replace(needle, chr(mark)).translate({**meanings, mark: u})


def _repeat(s: str, n: int, *, limit: int) -> str:
    if n < 0:
        raise Fault(ErrorCode.DOMAIN, "a string cannot be repeated a negative number of times")
    _require_fit(byte_length(s) * n, limit)
    return s * n if s else s


def _concat(*parts: str, limit: int) -> str:
    _require_fit(sum(map(byte_length, parts)), limit)
    return "".join(parts)


def _padding(s: str, n: int, c: str, limit: int) -> str:
    if n < 0:
        raise Fault(ErrorCode.DOMAIN, "a string cannot be padded to a negative length")
    if len(clusters(c)) != 1:
        raise Fault(ErrorCode.DOMAIN, "the padding is one character as a reader sees it")
    times = max(n - len(clusters(s)), 0)
    _require_fit(byte_length(s) + times * byte_length(c), limit)
    return c * times


def _pad_left(s: str, n: int, c: str = " ", *, limit: int) -> str:
    return _padding(s, n, c, limit) + s


def _pad_right(s: str, n: int, c: str = " ", *, limit: int) -> str:
    return s + _padding(s, n, c, limit)


_S = Signature((str,), str, 1)
_S_TO_INT = Signature((str,), int, 1)
_SS_TO_INT = Signature((str, str), int, 2)
_SS_TO_BOOL = Signature((str, str), bool, 2)
_SN = Signature((str, int), str, 2)
_PAD = Signature((str, int, str), str, 2)

FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        "bytes": Function(_S_TO_INT, byte_length),
        "codepoints": Function(_S_TO_INT, len),
        "concat": Function(Signature((str,), str, 1, repeats=True), _concat, lengthens=True),
        "contains": Function(_SS_TO_BOOL, _contains),
        "count": Function(_SS_TO_INT, _count),
        "ends_with": Function(_SS_TO_BOOL, _ends_with),
        "equals": Function(_SS_TO_BOOL, lambda s, t: bool(s == t)),
        "find": Function(_SS_TO_INT, _find),
        "is_palindrome": Function(Signature((str,), bool, 1), _is_palindrome),
        "len": Function(_S_TO_INT, lambda s: len(clusters(s))),
        "lower": Function(_S, lambda s, limit: _fitting(lower(s), limit), lengthens=True),
        "nth": Function(_SN, lambda s, n: _pick(clusters(s), n, "characters")),
        "pad_left": Function(_PAD, _pad_left, lengthens=True),
        "pad_right": Function(_PAD, _pad_right, lengthens=True),
        "repeat": Function(_SN, _repeat, lengthens=True),
        "replace": Function(Signature((str, str, str), str, 3), _replace, lengthens=True),
        "reverse": Function(_S, lambda s: "".join(clusters(s)[::-1])),
        "sort": Function(_S, lambda s: "".join(sorted(clusters(s)))),
        "starts_with": Function(_SS_TO_BOOL, _starts_with),
        "substr": Function(Signature((str, int, int), str, 2), _substr),
        "trim": Function(_S, trim),
        "unique": Function(_S, lambda s: "".join(dict.fromkeys(clusters(s)))),
        "upper": Function(_S, lambda s, limit: _fitting(upper(s), limit), lengthens=True),
        "word": Function(_SN, lambda s, n: _pick(words(s), n, "words")),
        "words": Function(_S_TO_INT, lambda s: len(words(s))),
    }
)
"""The functions by name."""
