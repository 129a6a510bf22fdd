"""Text as Unicode 17.0 sees it: grapheme clusters, words and case.

The interpreter and the library `regex` each follow a version of Unicode of their own, and operators one that never
moves. `require_unicode` tells whether these two can give the answers of 17.0; call it before anything else here.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from evalspan.evaluators.errors import EvaluatorUnavailable
from evalspan.evaluators.in_process.case_additions import LOWERCASE, UPPERCASE

__all__ = ["clusters", "is_plain", "lower", "require_unicode", "trim", "upper", "words"]

_INTERPRETERS = frozenset({"14.0.0", "15.0.0", "15.1.0", "16.0.0", "17.0.0"})
"""The versions of Unicode from whose case mappings `case_additions` leads to those of 17.0."""

_ADDED_IN_17 = "\u1acf"  # COMBINING DOUBLE CARON
_ADDED_IN_18 = "\u0558"  # a modifier letter of Armenian

_WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""Unicode's White_Space. `str.isspace` and `str.split` take four control characters more."""

_TO_SPACE = str.maketrans(dict.fromkeys(_WHITE_SPACE, " "))
_TO_UPPER = str.maketrans(LOWERCASE, UPPERCASE)
_TO_LOWER = str.maketrans(UPPERCASE, LOWERCASE)


class _Patterns(NamedTuple):
    clusters: Callable[[str], list[str]]
    without_case_ignorable: Callable[[str], str]
    final_sigmas: Callable[[str], list[str]]


@cache
def require_unicode() -> None:
    """Raises EvaluatorUnavailable where `regex` is missing, or it or the interpreter cannot answer for 17.0."""
    _patterns()
    if unicodedata.unidata_version not in _INTERPRETERS:
        reason = f"Unicode 17.0 is needed and this Python's case mappings are of {unicodedata.unidata_version}"
        raise EvaluatorUnavailable("strings", reason)


@cache
def _patterns() -> _Patterns:
    try:
        regex: Any = import_module("regex")
    except ImportError as error:
        reason = "the library regex is missing: pip install 'evalspan[reference]'"
        raise EvaluatorUnavailable("strings", reason) from error
    unassigned = regex.compile(r"\p{Cn}")
    if unassigned.match(_ADDED_IN_17) or not unassigned.match(_ADDED_IN_18):
        reason = f"regex {regex.__version__} is not of Unicode 17.0: pip install 'evalspan[reference]'"
        raise EvaluatorUnavailable("strings", reason)
    ignorable = regex.compile(r"\p{Case_Ignorable}+")
    return _Patterns(
        clusters=regex.compile(r"\X").findall,
        without_case_ignorable=lambda text: str(ignorable.sub("", text)),
        final_sigmas=regex.compile(r"(?<=\p{Cased})(Σ)(?!\p{Cased})|Σ").findall,
    )


def is_plain(text: str) -> bool:
    """Whether it is plain without tables that each character of `text` is a cluster of its own."""
    return text.isascii() and "\r\n" not in text


def clusters(text: str) -> Sequence[str]:
    """The extended grapheme clusters of `text`; `text` itself where it is plain."""
    return text if is_plain(text) else _patterns().clusters(text)


def words(text: str) -> list[str]:
    """The longest runs of characters that are not White_Space."""
    return [word for word in text.translate(_TO_SPACE).split(" ") if word]


def trim(text: str) -> str:
    """`text` without the White_Space at its ends."""
    return text.strip(_WHITE_SPACE)


def upper(text: str) -> str:
    """The full default uppercase."""
    if text.isascii():
        return text.upper()
    return text.translate(_TO_UPPER).upper()


def lower(text: str) -> str:
    """The full default lowercase, final sigmas included."""
    if text.isascii():
        return text.lower()
    if "Σ" in text:
        text = _lower_sigmas(text)
    return text.translate(_TO_LOWER).lower()


def _lower_sigmas(text: str) -> str:
    """`text` with its capital sigmas in lowercase.

    One is final where, characters that are Case_Ignorable left out, a Cased one stands before it and none after it
    (The Unicode Standard 17.0, table 3-17).
    """
    patterns = _patterns()
    first, *rest = text.split("Σ")
    finals = patterns.final_sigmas(patterns.without_case_ignorable(text))
    return first + "".join(("ς" if final else "σ") + part for final, part in zip(finals, rest, strict=True))
