"""The syntax of calls: names, integers, string literals and argument lists, from bytes to a tree.

Positions inside a `Scanner` are indices of characters; whatever leaves this module counts bytes of the raw input.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

from evalspan.evaluators.in_process.faults import SyntaxFault
from evalspan.policies.errors import ErrorCode

__all__ = ["Argument", "Call", "Scanner", "Signature", "parse_call"]

# Every quantifier is possessive and every alternative starts with characters of its own: no step is taken back.
_SPACES = " \t\r\n"
_SPACE = re.compile(f"[{_SPACES}]*+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+")
_DIGITS = re.compile(r"[0-9]++")
_INTEGER_START = re.compile(r"-[0-9]*+|[0-9]++")
_HEX = re.compile(r"[0-9A-Fa-f]{4}")

# What ends a run of plain characters in a literal: a quote, a backslash, a control character (general category Cc), or
# the surrogate that stands for a byte that is not UTF-8.
_SPECIAL = re.compile("[\"'\\\\\x00-\x1f\x7f-\x9f\udc80-\udcff]")

_ESCAPES: Mapping[str, str] = MappingProxyType(
    {
        '"': '"',
        "'": "'",
        "\\": "\\",
        "/": "/",
        "b": "\b",
        "f": "\f",
        "n": "\n",
        "r": "\r",
        "t": "\t",
    }
)

_LONGEST_MISSPELLING = 32  # characters; every name is shorter, and comparing takes time that grows with the length
_EXACT_DIGITS = 640  # what every setting of the interpreter's limit on integer conversion allows


class Scanner:
    """Reads the tokens of a raw input from left to right."""

    __slots__ = ("_data", "_single", "index", "text")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.text = data.decode("utf-8", "surrogateescape")
        """The input; a byte that belongs to no well-formed sequence is a surrogate, which UTF-8 cannot spell."""
        self.index = 0
        """Of the next character."""
        self._single = len(self.text) == len(data)  # every character is one byte

    def offset(self, index: int) -> int:
        """The byte of the input at which the character at `index` begins."""
        return index if self._single else len(self.text[:index].encode("utf-8", "surrogateescape"))

    def peek(self) -> str:
        """The next character, or an empty string at the end."""
        return self.text[self.index : self.index + 1]

    def skip_space(self) -> None:
        """Passes white space."""
        if self.text[self.index : self.index + 1] not in _SPACES:  # the common case, without a pattern
            return
        found = _SPACE.match(self.text, self.index)
        assert found is not None  # noqa: S101 - the pattern matches the empty string
        self.index = found.end()

    def eat(self, token: str) -> bool:
        """Passes `token` if it is next, without white space before it; whether it was."""
        found = self.text.startswith(token, self.index)
        if found:
            self.index += len(token)
        return found

    def name(self) -> str | None:
        """A name if one is next: an ASCII letter or `_`, then ASCII letters, digits and `_`."""
        return self._match(_NAME)

    def integer(self) -> int | None:
        """An integer literal if one is next, a `-` right before its digits included.

        One of more than 640 digits is read as the power of ten, or its negative, that has 641: no operator
        has a use for the difference. Raises SyntaxFault at a leading zero.
        """
        start = self.index
        negative = self.eat("-")
        digits_at = self.index
        digits = self._match(_DIGITS)
        if digits is None:
            self.index = start
            return None
        if len(digits) > 1 and digits[0] == "0":
            raise self.fault("write an integer without leading zeros", digits_at, self.index)
        value = int(digits) if len(digits) <= _EXACT_DIGITS else 10**_EXACT_DIGITS
        return -value if negative else value

    def string(self) -> str:
        r"""A string literal, its quote being next: in `"…"` or `'…'`, with JSON's escapes and `\'`.

        Raises SyntaxFault: at the backslash of a bad escape or a lone surrogate, at a control character or a
        byte that is not UTF-8, at the end of the input where the closing quote is missing.
        """
        text, quote = self.text, self.text[self.index]
        start = self.index + 1
        pieces: list[str] = []
        at = start
        while (found := _SPECIAL.search(text, at)) is not None:
            special, at = found.group(), found.start()
            if special == quote:
                self.index = at + 1
                pieces.append(text[start:at])
                return "".join(pieces)
            if special == "\\":
                pieces.append(text[start:at])
                character, at = self._escape(at)
                pieces.append(character)
                start = at
            elif special in "\"'":
                at += 1
            else:
                self.index = at
                raise self.unexpected()
        self.index = len(text)
        raise self.unexpected("the string literal has no closing quote")

    def finish(self) -> None:
        """Raises SyntaxFault unless only white space is left."""
        self.skip_space()
        if self.index < len(self.text):
            raise self.unexpected("the input goes on after its end")

    def fault(self, message: str, start: int, stop: int, code: ErrorCode = ErrorCode.SYNTAX) -> SyntaxFault:
        """The fault about the characters from `start` to `stop`."""
        return SyntaxFault(code, message, self.offset(start), self.offset(stop))

    def unexpected(self, message: str = "") -> SyntaxFault:
        """The fault of the next character; `message` says what would be right where the character does not."""
        character = self.peek()
        if not character:
            return self.fault(message or "the input ends too early", self.index, self.index)
        if "\udc80" <= character <= "\udcff":
            return self.fault("the input is not UTF-8", self.index, self.index)
        if _SPECIAL.match(character) and character not in "\"'\\":
            message = "control characters are not allowed; in a string literal write an escape"
        elif character.isspace() and not character.isascii():
            message = "white space is space, tab, CR and LF"
        elif character.isnumeric() and not character.isascii():
            message = "digits are 0 to 9"
        return self.fault(message or "unexpected character", self.index, self.index + 1)

    def misplaced(self, message: str) -> SyntaxFault:
        """The fault of the next literal, however it goes on, or else of the next character."""
        start, quote = self.index, self.peek()
        literal = _INTEGER_START.match(self.text, start)
        if literal is not None:
            return self.fault(message, start, literal.end())
        if quote in ('"', "'"):
            stop = self.text.find(quote, start + 1) + 1
            return self.fault(message, start, stop or len(self.text))
        return self.unexpected(message)

    def _match(self, pattern: re.Pattern[str]) -> str | None:
        found = pattern.match(self.text, self.index)
        if found is None:
            return None
        self.index = found.end()
        return found.group()

    def _escape(self, at: int) -> tuple[str, int]:
        """The character that the escape at `at` stands for, and where it ends."""
        text = self.text
        letter = text[at + 1 : at + 2]
        if letter in _ESCAPES:
            return _ESCAPES[letter], at + 2
        if not letter:
            self.index = len(text)
            raise self.unexpected("the string literal has no closing quote")
        if letter != "u":
            raise self.fault("unknown escape; write \\\\ for a backslash", at, at + 1)
        unit = self._code_unit(at)
        if unit is None:
            raise self.fault("\\u takes four hexadecimal digits", at, at + 2)
        if 0xD800 <= unit <= 0xDBFF:  # a high surrogate: its low one must follow
            low = self._code_unit(at + 6)
            if low is not None and 0xDC00 <= low <= 0xDFFF:
                return chr(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)), at + 12
        if 0xD800 <= unit <= 0xDFFF:
            raise self.fault("a lone surrogate is no character", at, at + 6)
        return chr(unit), at + 6

    def _code_unit(self, at: int) -> int | None:
        """The number in `\\uXXXX` at `at`, None where that does not stand there."""
        digits = _HEX.match(self.text, at + 2) if self.text.startswith("\\u", at) else None
        return None if digits is None else int(digits.group(), 16)


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes and gives. The types are `str`, `int` and `bool`."""

    parameters: tuple[type, ...]
    """The types of the arguments, in order."""
    result: type
    required: int
    """The least number of arguments."""
    repeats: bool = False
    """Whether the last parameter takes any number of arguments."""

    def parameter(self, position: int) -> type | None:
        """The type of the argument at `position`, None where there may be none."""
        if position < len(self.parameters):
            return self.parameters[position]
        return self.parameters[-1] if self.repeats else None


@dataclass(frozen=True, slots=True)
class Call:
    """A call; its name stands at the bytes `start` to `stop` of the input."""

    name: str
    start: int
    stop: int
    arguments: tuple[Argument, ...]


Argument = Call | str | int
"""A call or a literal."""


def parse_call(data: bytes, signatures: Mapping[str, Signature], max_depth: int) -> Call:
    """The call that `data` is, its arguments checked for number and type.

    A literal has depth 0 and a call adds 1. Raises SyntaxFault, `syntax` or `too_deep`, whichever comes first.
    """
    parser = _Parser(Scanner(data), signatures, max_depth)
    parser.scanner.skip_space()
    call = parser.call(None, 0)
    parser.scanner.finish()
    return call


class _Parser:
    """Recursive descent; depth is bounded before it recurses."""

    __slots__ = ("_max_depth", "_signatures", "scanner")

    def __init__(self, scanner: Scanner, signatures: Mapping[str, Signature], max_depth: int) -> None:
        self.scanner = scanner
        self._signatures = signatures
        self._max_depth = max_depth

    def call(self, wanted: type | None, depth: int) -> Call:
        """A call inside `depth` others that gives a value of the type `wanted`, None for any."""
        scanner = self.scanner
        start = scanner.index
        name = scanner.name()
        if name is None:
            raise scanner.misplaced("a call of a function was expected")
        stop = scanner.index
        signature = self._signatures.get(name)
        if signature is None:
            raise scanner.fault(_unknown_name(name, self._signatures), start, stop)
        if wanted is not None and signature.result is not wanted:
            raise scanner.fault(_wrong_type(wanted), start, stop)
        if depth == self._max_depth:
            message = f"calls nest more than {depth} deep"
            raise scanner.fault(message, start, stop, ErrorCode.TOO_DEEP)
        scanner.skip_space()
        if not scanner.eat("("):
            raise scanner.unexpected("a function's arguments stand in parentheses")
        arguments = self._arguments(signature, depth + 1)
        return Call(name, scanner.offset(start), scanner.offset(stop), arguments)

    def _arguments(self, signature: Signature, depth: int) -> tuple[Argument, ...]:
        """The arguments up to the closing parenthesis, the opening one being passed."""
        scanner = self.scanner
        arguments: list[Argument] = []
        scanner.skip_space()
        if not signature.required and scanner.eat(")"):
            return ()
        wanted = signature.parameter(0)
        while wanted is not None:
            arguments.append(self._argument(wanted, depth))
            scanner.skip_space()
            following = scanner.peek()
            if following == ")" and len(arguments) >= signature.required:
                scanner.index += 1
                return tuple(arguments)
            if following == ")":
                raise scanner.unexpected("too few arguments for the function")
            if following != ",":
                raise scanner.unexpected("a comma or a closing parenthesis was expected")
            wanted = signature.parameter(len(arguments))
            if wanted is not None:
                scanner.index += 1
                scanner.skip_space()
        raise scanner.unexpected("too many arguments for the function")

    def _argument(self, wanted: type, depth: int) -> Argument:
        scanner = self.scanner
        character = scanner.peek()
        if character in ('"', "'"):
            if wanted is not str:
                raise scanner.misplaced(_wrong_type(wanted))
            return scanner.string()
        if character == "-" or (character in "0123456789" and character):
            if wanted is not int:
                raise scanner.misplaced(_wrong_type(wanted))
            value = scanner.integer()
            if value is None:
                raise scanner.unexpected("digits were expected after the sign")
            return value
        if _NAME.match(character):
            return self.call(wanted, depth)
        raise scanner.unexpected(_wrong_type(wanted))


def _unknown_name(name: str, known: Iterable[str]) -> str:
    """The message about `name`, with the function that was probably meant."""
    nearest = get_close_matches(name, known, 1) if len(name) <= _LONGEST_MISSPELLING else []
    return f"unknown name; is {nearest[0]} meant?" if nearest else "unknown name"


def _wrong_type(wanted: type) -> str:
    return "a string in quotes was expected" if wanted is str else "an integer was expected"
