"""arithmetic/1 in Python: exact rational arithmetic, as docs/operators/arithmetic.md has it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from evalspan.evaluators.in_process.arithmetic_syntax import CALL, LITERAL, NEGATE, parse
from evalspan.evaluators.in_process.faults import Fault, SyntaxFault, failure_at
from evalspan.evaluators.in_process.rational import BINARY, FUNCTIONS, Rational, Scope, literal
from evalspan.evaluators.in_process.rational_text import render
from evalspan.evaluators.in_process.reference import OptionSpec
from evalspan.evaluators.outcome import Failure, Outcome, Value
from evalspan.policies.errors import ErrorCode

__all__ = ["OPTIONS", "SPEC", "evaluate"]

SPEC = "arithmetic/1"
"""The specification that this module answers for."""

_MAX_INPUT_BYTES = 512
_MAX_DEPTH = 32
_MAX_RESULT_BYTES = 1024
_MAX_DIGITS = 1024
_PRECISION = 15

OPTIONS: Mapping[str, OptionSpec] = MappingProxyType(
    {
        "max_input_bytes": OptionSpec(_MAX_INPUT_BYTES, 1, 16_384),
        "max_depth": OptionSpec(_MAX_DEPTH, 1, 64),
        "max_result_bytes": OptionSpec(_MAX_RESULT_BYTES, 1, 16_384),
        "max_digits": OptionSpec(_MAX_DIGITS, 1, 1024),
        "precision": OptionSpec(_PRECISION, 1, 34),
    }
)
"""The options, with the defaults and ranges of the specification."""


def evaluate(data: bytes, options: Mapping[str, int]) -> Outcome:
    """The answer of arithmetic/1 to the raw input `data`; options that are missing have their defaults."""
    max_input_bytes = options.get("max_input_bytes", _MAX_INPUT_BYTES)
    if len(data) > max_input_bytes:
        message = f"the input has {len(data)} bytes, the limit is {max_input_bytes}"
        return Failure(ErrorCode.TOO_LONG, message, max_input_bytes)
    try:
        steps = parse(data, options.get("max_depth", _MAX_DEPTH))
    except SyntaxFault as fault:
        return failure_at(fault, data, fault.start, fault.stop)

    scope = Scope(options.get("max_digits", _MAX_DIGITS))
    bound = scope.bound
    stack: list[Rational] = []
    for kind, start, stop, count in steps:
        try:
            if kind == LITERAL:
                value = literal(data[start:stop], scope)
            elif kind == NEGATE:
                value = -stack.pop()
            elif kind == CALL:
                arguments = stack[-count:]
                del stack[-count:]
                value = FUNCTIONS[data[start:stop]](arguments, scope)
            else:
                right = stack.pop()
                value = BINARY[kind](stack.pop(), right, scope)
            if not (-bound < value.numerator < bound and value.denominator < bound):
                raise scope.too_large()
        except Fault as fault:
            return failure_at(fault, data, start, stop)
        stack.append(value)

    text, equal = render(stack.pop(), scope.rounded, options.get("precision", _PRECISION))
    max_result_bytes = options.get("max_result_bytes", _MAX_RESULT_BYTES)
    if len(text) > max_result_bytes:
        message = f"the result has {len(text)} bytes, the limit is {max_result_bytes}"
        return Failure(ErrorCode.TOO_LARGE, message)
    return Value(text, equal)
