"""The syntax of arithmetic/1: from bytes to the steps of an evaluation, in the order they are taken."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from evalspan.evaluators.in_process.faults import SyntaxFault
from evalspan.policies.errors import ErrorCode

__all__ = ["CALL", "LITERAL", "MAX_ARGUMENTS", "NEGATE", "Step", "parse"]

Step = tuple[str, int, int, int]
"""`(kind, start, stop, count)`: a kind below or a binary operator in its first spelling, the bytes of the
input that it stands at, and the number of operands it takes. Steps are in postfix order."""

LITERAL = "literal"
CALL = "call"
NEGATE = "negate"

_MANY = 16_384  # more arguments than the longest input can hold

MAX_ARGUMENTS: Mapping[bytes, int] = MappingProxyType(
    {
        b"abs": 1,
        b"ceil": 1,
        b"factorial": 1,
        b"floor": 1,
        b"gcd": _MANY,
        b"lcm": _MANY,
        b"max": _MANY,
        b"mean": _MANY,
        b"min": _MANY,
        b"round": 2,
        b"round_even": 2,
        b"sqrt": 1,
        b"sum": _MANY,
        b"trunc": 1,
    }
)
"""The functions by name, with the largest number of arguments; the least is 1 for all of them."""

_BINDING: Mapping[str, int] = MappingProxyType({"+": 1, "-": 1, "*": 2, "/": 2, "//": 2, "%": 2})

_DIGITS = frozenset(b"0123456789")
_NAME_START = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")
_NAME = _NAME_START | _DIGITS
_WORD = _NAME | frozenset(b".")
_SPACE = frozenset(b" \t\r\n")
_PUNCTUATION: Mapping[int, str] = MappingProxyType({code: chr(code) for code in b"+-*/%^(),"})
_ALIASES: tuple[tuple[bytes, str], ...] = (
    ("×".encode(), "*"),
    ("·".encode(), "*"),
    ("÷".encode(), "/"),
    ("−".encode(), "-"),
)

_Token = tuple[str, int, int]  # kind, start, stop
_NAME_TOKEN = "name"  # noqa: S105 - a kind of token, no password
_BAD = "bad"
_END = "end"


def parse(data: bytes, max_depth: int) -> list[Step]:
    """The steps that evaluate `data`. Raises SyntaxFault, `syntax` or `too_deep`, whichever comes first."""
    return _Parser(data, max_depth).steps


def _tokenize(data: bytes) -> list[_Token]:
    """The tokens of `data`. The last is `end`, or `bad` where bytes begin no token: the rest is moot."""
    tokens: list[_Token] = []
    append = tokens.append
    index, end = 0, len(data)
    while index < end:
        code = data[index]
        if code in _SPACE:
            index += 1
            continue
        start = index
        index += 1
        if code in _DIGITS or code == 0x2E:
            index = _word_end(data, index)
            word = data[start:index]
            if not (_is_integer(word) or _is_literal(word)):
                append((_BAD, start, index))
                return tokens
            append((LITERAL, start, index))
        elif code in _PUNCTUATION:
            kind = _PUNCTUATION[code]
            if kind in "*/" and index < end and data[index] == code:
                index += 1
                kind += kind
            append(("**" if kind == "^" else kind, start, index))
        elif code in _NAME_START:
            while index < end and data[index] in _NAME:
                index += 1
            append((_NAME_TOKEN, start, index))
        else:
            for alias, kind in _ALIASES:
                if data.startswith(alias, start):
                    index = start + len(alias)
                    append((kind, start, index))
                    break
            else:
                append((_BAD, start, _character_end(data, start)))
                return tokens
    append((_END, end, end))
    return tokens


def _word_end(data: bytes, index: int) -> int:
    """Where the numeric word ends that has begun before `index`."""
    end = len(data)
    signed = False
    while index < end:
        if data[index] in _WORD:
            index += 1
        elif (
            not signed
            and data[index] in b"+-"
            and data[index - 1] in b"eE"
            and index + 1 < end
            and data[index + 1] in _DIGITS
        ):
            signed = True  # an exponent has one sign
            index += 2
        else:
            break
    return index


def _is_integer(word: bytes) -> bool:
    """Whether `word` is an integer without an exponent, the common case."""
    return word.isdigit() and (word[0] != 0x30 or len(word) == 1)


def _is_literal(word: bytes) -> bool:
    """Whether a numeric word is a literal of the grammar."""
    mantissa, mark, exponent = word.replace(b"E", b"e").partition(b"e")
    if mark and not (exponent[1:] if exponent[:1] in (b"+", b"-") else exponent).isdigit():
        return False
    whole, point, fraction = mantissa.partition(b".")
    if point and not fraction.isdigit():
        return False
    return _is_integer(whole) if whole else bool(point)


def _character_end(data: bytes, start: int) -> int:
    """Where the character at `start` ends, or `start` itself where the bytes there are not UTF-8."""
    for stop in range(start + 1, min(start + 4, len(data)) + 1):  # UTF-8 has at most 4 bytes a character
        try:
            data[start:stop].decode()
        except UnicodeDecodeError:
            continue
        return stop
    return start


class _Parser:
    """Recursive descent over the tokens, by binding strength; depth is bounded before it recurses."""

    __slots__ = ("_data", "_depth", "_index", "_max_depth", "_tokens", "steps")

    def __init__(self, data: bytes, max_depth: int) -> None:
        self._data = data
        self._tokens = _tokenize(data)
        self._index = 0
        self._depth = 0
        self._max_depth = max_depth
        self.steps: list[Step] = []
        self._sum()
        if self._tokens[self._index][0] != _END:
            raise self._unexpected()

    def _sum(self, strength: int = 0) -> None:
        """A chain of binary operators that bind more strongly than `strength`."""
        self._unary()
        while True:
            kind, start, stop = self._tokens[self._index]
            binding = _BINDING.get(kind, 0)
            if binding <= strength:
                return
            self._index += 1
            self._sum(binding)
            self.steps.append((kind, start, stop, 2))

    def _unary(self) -> None:
        token = kind, start, stop = self._tokens[self._index]
        if kind == LITERAL:
            self._index += 1
            self.steps.append((LITERAL, start, stop, 0))
        elif kind == "(":
            self._enter(token)
            self._sum()
            self._close()
        elif kind == _NAME_TOKEN:
            self._call(token)
        elif kind == "-" or kind == "+":
            self._enter(token)
            self._unary()
            self._depth -= 1
            if kind == "-":
                self.steps.append((NEGATE, start, stop, 1))
            return  # the operand has taken a power, if there is one
        else:
            raise self._unexpected()

        token = kind, start, stop = self._tokens[self._index]
        if kind == "**":
            self._enter(token)
            self._unary()
            self._depth -= 1
            self.steps.append(("**", start, stop, 2))

    def _call(self, name: _Token) -> None:
        _, start, stop = name
        most = MAX_ARGUMENTS.get(self._data[start:stop])
        if most is None:
            raise SyntaxFault(ErrorCode.SYNTAX, _UNKNOWN_NAME, start, stop)
        self._enter(name)
        if self._tokens[self._index][0] != "(":
            raise self._unexpected("a function's arguments stand in parentheses")
        self._index += 1
        self._sum()
        count = 1
        while self._tokens[self._index][0] == ",":
            if count == most:
                raise self._unexpected("too many arguments for the function")
            self._index += 1
            self._sum()
            count += 1
        self._close()
        self.steps.append((CALL, start, stop, count))

    def _enter(self, token: _Token) -> None:
        """Passes the token that opens a construct."""
        if self._depth == self._max_depth:
            message = f"nested more than {self._max_depth} deep"
            raise SyntaxFault(ErrorCode.TOO_DEEP, message, token[1], token[2])
        self._depth += 1
        self._index += 1

    def _close(self) -> None:
        if self._tokens[self._index][0] != ")":
            raise self._unexpected()
        self._index += 1
        self._depth -= 1

    def _unexpected(self, message: str = "") -> SyntaxFault:
        """The fault of the token that nothing valid can have at this place."""
        kind, start, stop = self._tokens[self._index]
        if kind == _BAD:
            message = _objection(self._data[start:stop])
        elif kind == _END:
            message = "the input ends where an operand or a closing parenthesis is missing"
        elif not message:
            message = "an operator was expected" if self._after_operand() else "an operand was expected"
        return SyntaxFault(ErrorCode.SYNTAX, message, start, stop)

    def _after_operand(self) -> bool:
        return self._index > 0 and self._tokens[self._index - 1][0] in (LITERAL, ")")


_UNKNOWN_NAME = "unknown name; the functions are " + " ".join(sorted(name.decode() for name in MAX_ARGUMENTS))


def _objection(word: bytes) -> str:
    """What is wrong with bytes that are no token, and how to write what was probably meant."""
    if not word:
        return "the input is not UTF-8"
    if word[0] not in _WORD:
        return "a character that has no meaning here; digits are 0 to 9 and operators + - * / // % **"
    if b"_" in word:
        return "write a number without separators"
    if word.endswith(b".") or word.startswith(b"..") or word.count(b".") > 1:
        return "a number has one decimal point, and digits after it"
    if word[:1] == b"0" and word[1:].isdigit():
        return "write a number without leading zeros"
    if word[:2].lower() in (b"0x", b"0b", b"0o"):
        return "write a number in decimal"
    return "not a number; multiplication is written with *"
