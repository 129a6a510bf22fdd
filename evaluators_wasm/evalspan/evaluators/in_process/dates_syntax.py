"""The syntax of dates/1: from bytes to the steps of an evaluation, in the order they are taken."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from evalspan.evaluators.in_process.calendar_functions import FUNCTIONS, SAME, Parameter
from evalspan.evaluators.in_process.calendar_operators import (
    ANY,
    COMPARISONS,
    DATE,
    DATETIME,
    DURATION,
    INTEGER,
    TIME,
    TIMED,
    Operation,
    binary,
    unary,
)
from evalspan.evaluators.in_process.calendar_values import (
    UNITS,
    Quantity,
    Value,
    clock_literal,
    date_literal,
    duration_literal,
    integer_literal,
    iso_duration_literal,
    moment_literal,
)
from evalspan.evaluators.in_process.call_syntax import Scanner
from evalspan.evaluators.in_process.dates_tokens import (
    BAD,
    DECIMAL,
    END,
    ISO_DURATION,
    NAME,
    QUOTE,
    WEEK,
    ZONE,
    Token,
    token_at,
)
from evalspan.evaluators.in_process.faults import Fault, SyntaxFault
from evalspan.policies.errors import ErrorCode

__all__ = ["Step", "parse"]


class Step(NamedTuple):
    """An operation, the number of operands it takes, and the characters of the input that it stands at.

    Steps are in postfix order.
    """

    operation: Operation
    operands: int
    start: int
    stop: int


_RANKS: Mapping[str, int] = MappingProxyType(
    {name: rank for rank, unit in enumerate(UNITS) for name in (unit, unit[:-1])}
)
_HOURS = UNITS.index("hours")
_SECONDS = UNITS.index("seconds")
_CLOCKLESS = ("today", "now")
_LITERALS: Mapping[str, Callable[[re.Match[str]], Value]] = MappingProxyType(
    {DATE: date_literal, TIME: clock_literal, DATETIME: moment_literal}
)


def parse(scanner: Scanner, max_depth: int) -> list[Step]:
    """The steps that evaluate the input. Raises SyntaxFault, `syntax` or `too_deep`, whichever comes first."""
    return _Parser(scanner, max_depth).steps


def _unsupported(*operands: Value, message: str) -> Value:
    raise Fault(ErrorCode.UNSUPPORTED, message)


_NO_CLOCK = partial(_unsupported, message="there is no clock; write the date, such as 2024-02-29")
_NO_ZONES = partial(_unsupported, message="there is no database of time zones; write an offset such as +02:00")
_NO_WEEKS = partial(_unsupported, message="write the date; iso_week(d) gives the week of a date")


class _Parser:
    """Recursive descent; depth is bounded before it recurses. Its methods return the type of what they pass."""

    __slots__ = ("_depth", "_max_depth", "_scanner", "_token", "steps")

    def __init__(self, scanner: Scanner, max_depth: int) -> None:
        self._scanner = scanner
        self._token = token_at(scanner)
        self._depth = 0
        self._max_depth = max_depth
        self.steps: list[Step] = []
        self._comparison()
        if self._token.kind != END:
            raise self._unexpected("an operator or the end was expected")

    def _comparison(self) -> str:
        left = self._sum()
        token = self._token
        if token.kind not in COMPARISONS:
            return left
        self._advance()
        return self._binary(token, left, self._sum())

    def _sum(self) -> str:
        left = self._unary()
        while self._token.kind in ("+", "-"):
            token = self._token
            self._advance()
            left = self._binary(token, left, self._unary())
        return left

    def _binary(self, token: Token, left: str, right: str) -> str:
        operation, result = binary(token.kind, left, right)
        self._step(operation, 2, token)
        return result

    def _unary(self) -> str:
        token = self._token
        if token.kind not in ("+", "-"):
            return self._atom()
        self._enter(token)
        operand = self._unary()
        self._depth -= 1
        operation, result = unary(token.kind, operand)
        self._step(operation, 1, token)
        return result

    def _atom(self) -> str:
        token = self._token
        kind, found = token.kind, token.found
        if kind in (INTEGER, DECIMAL):
            return self._number()
        if found is not None and kind in _LITERALS:
            self._advance()
            self._step(partial(_LITERALS[kind], found), 0, token)
            if kind != DATE and self._token.kind == ZONE:
                self._step(_NO_ZONES, 1, self._token)
                self._advance()
                return ANY
            return kind
        if found is not None and kind == ISO_DURATION:
            self._advance()
            self._step(partial(iso_duration_literal, found), 0, token)
            return TIMED if "T" in found.group() else DURATION
        if kind in (WEEK, ZONE):
            self._advance()
            self._step(_NO_WEEKS if kind == WEEK else _NO_ZONES, 0, token)
            return ANY
        if kind == "(":
            self._enter(token)
            inner = self._comparison()
            self._close()
            return inner
        if kind == NAME:
            return self._named(token)
        raise self._unexpected("a date, a time, a duration, an integer or a call was expected")

    def _number(self) -> str:
        """An integer, or a duration in words."""
        first = last = self._token
        quantities: list[Quantity] = []
        rank = -1
        while rank < _SECONDS and self._token.kind in (INTEGER, DECIMAL):
            number = self._token
            self._advance()
            unit = _RANKS.get(self._text(self._token), -1) if self._token.kind == NAME else -1
            if not quantities and unit < 0 and number.kind == INTEGER:
                self._step(partial(integer_literal, self._text(number)), 0, number)
                return INTEGER
            if unit <= rank:
                raise self._unexpected("a unit, smaller than the one before, was expected")
            if number.kind == DECIMAL and unit != _SECONDS:
                raise self._unexpected("only seconds have a fraction; write 1 hour 30 minutes")
            whole, _, fraction = self._text(number).partition(".")
            quantities.append((UNITS[unit], whole, fraction))
            rank, last = unit, self._token
            self._advance()
        self.steps.append(Step(partial(duration_literal, quantities), 0, first.start, last.stop))
        return TIMED if rank >= _HOURS else DURATION

    def _named(self, token: Token) -> str:
        """What begins with a name: a call, or a name that has no answer."""
        name = self._text(token)
        if name in _CLOCKLESS:
            self._advance()
            self._step(_NO_CLOCK, 0, token)
            if self._token.kind == "(":
                self._advance()
                if self._token.kind != ")":
                    raise self._unexpected("a closing parenthesis was expected")
                self._advance()
            return ANY
        signature = FUNCTIONS.get(name)
        if signature is None:
            raise self._unexpected("unknown name; a unit follows a number, and a weekday stands in quotes")
        self._enter(token)
        if self._token.kind != "(":
            raise self._unexpected("a function's arguments stand in parentheses")
        first = ANY
        for position, parameter in enumerate(signature.parameters):
            if position and self._token.kind != ",":
                raise self._unexpected("a comma and another argument were expected")
            self._advance()  # the parenthesis or the comma
            argument = self._argument(parameter)
            if not position:
                first = argument
        self._close()
        self._step(signature.operation, len(signature.parameters), token)
        return first if signature.result == SAME else signature.result

    def _argument(self, parameter: Parameter) -> str:
        token = self._token
        if not isinstance(parameter, frozenset):
            wanted = "a string in quotes was expected"
            if token.kind == QUOTE:
                self._string(parameter)
                return ANY
            parameter = frozenset()
        else:
            wanted = f"{' or '.join(sorted(parameter))} was expected"
        argument = self._sum()
        if argument != ANY and argument not in parameter:
            raise self._scanner.fault(wanted, token.start, token.stop)
        return argument

    def _string(self, read: Operation) -> None:
        scanner, start = self._scanner, self._token.start
        scanner.index = start
        text = scanner.string()
        self.steps.append(Step(partial(read, text), 0, start, scanner.index))
        self._advance()

    def _step(self, operation: Operation, operands: int, token: Token) -> None:
        self.steps.append(Step(operation, operands, token.start, token.stop))

    def _text(self, token: Token) -> str:
        return self._scanner.text[token.start : token.stop]

    def _advance(self) -> None:
        self._token = token_at(self._scanner)

    def _enter(self, token: Token) -> None:
        """Passes the token that opens a construct."""
        if self._depth == self._max_depth:
            message = f"nested more than {self._max_depth} deep"
            raise self._scanner.fault(message, token.start, token.stop, ErrorCode.TOO_DEEP)
        self._depth += 1
        self._advance()

    def _close(self) -> None:
        if self._token.kind != ")":
            raise self._unexpected("a closing parenthesis was expected")
        self._depth -= 1
        self._advance()

    def _unexpected(self, message: str) -> SyntaxFault:
        """The fault of the token, which nothing valid can have at this place."""
        token, scanner = self._token, self._scanner
        if token.kind == BAD and token.stop == token.start:
            scanner.index = token.start
            return scanner.unexpected(message)
        if token.kind == BAD:
            message = (
                "write dates 2024-02-29, times 04:20:30, datetimes 2024-02-29T04:20:30+02:00, durations P1Y2M3DT4H"
            )
        elif token.kind == END:
            message = "the input ends too early"
        return scanner.fault(message, token.start, token.stop)
