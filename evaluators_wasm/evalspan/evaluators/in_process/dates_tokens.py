"""The tokens of dates/1: words that start with a digit, ISO durations, names, zones and operators."""

from __future__ import annotations

import re
from typing import NamedTuple

from evalspan.evaluators.in_process.call_syntax import Scanner

__all__ = [
    "BAD",
    "DATE",
    "DATETIME",
    "DECIMAL",
    "END",
    "INTEGER",
    "ISO_DURATION",
    "NAME",
    "QUOTE",
    "TIME",
    "WEEK",
    "ZONE",
    "Token",
    "token_at",
]

INTEGER = "integer"
DECIMAL = "decimal"
DATE = "date"
TIME = "time"
DATETIME = "datetime"
WEEK = "week"
ISO_DURATION = "ISO duration"
NAME = "name"
ZONE = "zone"
QUOTE = "quote"
BAD = "bad"
END = "end"


class Token(NamedTuple):
    """A token at the characters `start` to `stop`. `kind` is one of the above, or an operator as it is spelled."""

    kind: str
    start: int
    stop: int
    found: re.Match[str] | None = None
    """Of a literal: its parts."""


# No step of these patterns is taken back: quantifiers of runs are possessive, and what follows a run cannot begin
# inside it.
_TAIL = "[A-Za-z0-9_:.]*+"
_NUMERIC_WORD = re.compile(
    rf"""[0-9]++
    (?> (?:-[0-9]++){{1,2}}+ (?> T{_TAIL} (?:[+-](?=[0-9][0-9]:){_TAIL})?+ | {_TAIL} )
      | -W(?=[0-9]){_TAIL} (?:-(?=[0-9]){_TAIL})?+
      | {_TAIL} )""",
    re.VERBOSE,
)
_ISO_WORD = re.compile(r"PT?[0-9][A-Za-z0-9_.]*+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+")
_ZONE = re.compile(
    r"""(?:UTC|UT|GMT|BST|IST|WET|WEST|CET|CEST|EET|EEST|MSK|SGT|HKT|JST|KST|AEST|AEDT|NZST|NZDT
         |EST|EDT|CST|CDT|MST|MDT|PST|PDT|AKST|AKDT|HST)(?![A-Za-z0-9_])
    | (?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Brazil|Canada|Chile|Etc|Europe|Indian
         |Mexico|Pacific|US)(?:/[A-Za-z0-9_][A-Za-z0-9_+-]*+)++""",
    re.VERBOSE,
)
_OPERATOR = re.compile(r"[-+(),]|[<>]=?|==")

_WHOLE = "0|[1-9][0-9]*+"
_CLOCK = r"([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?"
_DAY = "([0-9]{4,}+)-([0-9]{2})-([0-9]{2})"
_LITERALS = (
    (INTEGER, re.compile(_WHOLE)),
    (DATE, re.compile(_DAY)),
    (DATETIME, re.compile(rf"{_DAY}T{_CLOCK}(Z|[+-][0-9]{{2}}:[0-9]{{2}})?")),
    (TIME, re.compile(_CLOCK)),
    (DECIMAL, re.compile(rf"({_WHOLE})\.([0-9]{{1,9}})")),
    (WEEK, re.compile(r"[0-9]{4}(?:-W[0-9]{2}(?:-[0-9])?|W[0-9]{2,3})")),
)
_ISO_LITERAL = re.compile(
    rf"""P(?: (?P<weeks>{_WHOLE})W
    | (?=[0-9T]) (?:(?P<years>{_WHOLE})Y)?+ (?:(?P<months>{_WHOLE})M)?+ (?:(?P<days>{_WHOLE})D)?+
      (?:T(?=[0-9]) (?:(?P<hours>{_WHOLE})H)?+ (?:(?P<minutes>{_WHOLE})M)?+
         (?:(?P<seconds>{_WHOLE})(?:\.(?P<fraction>[0-9]{{1,9}}))?S)?+ )?+ )""",
    re.VERBOSE,
)


def token_at(scanner: Scanner) -> Token:
    """The token after the white space at `scanner.index`, which moves to its end; to its start for END and BAD."""
    scanner.skip_space()
    text, start = scanner.text, scanner.index
    character = text[start : start + 1]
    if character in "0123456789" and character:
        token = _numeric(text, start)
    elif found := _OPERATOR.match(text, start):
        token = Token(found.group(), start, found.end())
    elif found := _ISO_WORD.match(text, start):
        literal = _ISO_LITERAL.fullmatch(text, start, found.end())
        token = Token(ISO_DURATION if literal else BAD, start, found.end(), literal)
    elif found := _ZONE.match(text, start):
        token = Token(ZONE, start, found.end())
    elif found := _NAME.match(text, start):
        token = Token(NAME, start, found.end())
    elif character in ('"', "'"):
        token = Token(QUOTE, start, start + 1)
    else:
        return Token(BAD if character else END, start, start)
    scanner.index = token.stop
    return token


def _numeric(text: str, start: int) -> Token:
    """The token that starts with the digit at `start`."""
    word = _NUMERIC_WORD.match(text, start)
    assert word is not None  # noqa: S101 - every digit matches
    stop = word.end()
    for kind, pattern in _LITERALS:
        if found := pattern.fullmatch(text, start, stop):
            return Token(kind, start, stop, found)
    return Token(BAD, start, stop)
