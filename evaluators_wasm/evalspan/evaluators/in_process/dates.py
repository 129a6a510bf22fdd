"""dates/1 in Python: proleptic Gregorian calendar arithmetic, as docs/operators/dates.md has it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from evalspan.evaluators.in_process.calendar_text import render
from evalspan.evaluators.in_process.calendar_values import Value as CalendarValue
from evalspan.evaluators.in_process.call_syntax import Scanner
from evalspan.evaluators.in_process.dates_syntax import parse
from evalspan.evaluators.in_process.faults import Fault, SyntaxFault, failure_at
from evalspan.evaluators.in_process.reference import OptionSpec
from evalspan.evaluators.outcome import Failure, Outcome, Value
from evalspan.policies.errors import ErrorCode

__all__ = ["OPTIONS", "SPEC", "evaluate"]

SPEC = "dates/1"
"""The specification that this module answers for."""

_MAX_INPUT_BYTES = 512
_MAX_DEPTH = 32
_MAX_RESULT_BYTES = 1024

OPTIONS: Mapping[str, OptionSpec] = MappingProxyType(
    {
        "max_input_bytes": OptionSpec(_MAX_INPUT_BYTES, 1, 16384),
        "max_depth": OptionSpec(_MAX_DEPTH, 1, 64),
        "max_result_bytes": OptionSpec(_MAX_RESULT_BYTES, 1, 16384),
    }
)
"""The options, with the defaults and ranges of the specification."""


def evaluate(data: bytes, options: Mapping[str, int]) -> Outcome:
    """The answer of dates/1 to the raw input `data`; options that are missing have their defaults."""
    max_input_bytes = options.get("max_input_bytes", _MAX_INPUT_BYTES)
    if len(data) > max_input_bytes:
        message = f"the input has {len(data)} bytes, the limit is {max_input_bytes}"
        return Failure(ErrorCode.TOO_LONG, message, max_input_bytes)
    scanner = Scanner(data)
    try:
        steps = parse(scanner, options.get("max_depth", _MAX_DEPTH))
    except SyntaxFault as fault:
        return failure_at(fault, data, fault.start, fault.stop)

    stack: list[CalendarValue] = []
    for operation, operands, start, stop in steps:
        first = len(stack) - operands
        try:
            value = operation(*stack[first:])
        except Fault as fault:
            return failure_at(fault, data, scanner.offset(start), scanner.offset(stop))
        del stack[first:]
        stack.append(value)

    text = render(stack.pop())
    max_result_bytes = options.get("max_result_bytes", _MAX_RESULT_BYTES)
    if len(text) > max_result_bytes:
        message = f"the result has {len(text)} bytes, the limit is {max_result_bytes}"
        return Failure(ErrorCode.TOO_LARGE, message)
    return Value(text)
