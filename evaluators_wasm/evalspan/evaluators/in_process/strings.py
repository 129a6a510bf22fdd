"""strings/1 in Python: characters as a reader sees them, as docs/operators/strings.md has it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from evalspan.evaluators.in_process.call_syntax import Call, parse_call
from evalspan.evaluators.in_process.faults import Fault, SyntaxFault, failure_at
from evalspan.evaluators.in_process.reference import OptionSpec
from evalspan.evaluators.in_process.string_functions import FUNCTIONS, Result, byte_length
from evalspan.evaluators.in_process.unicode_text import require_unicode
from evalspan.evaluators.outcome import Failure, Outcome, Value
from evalspan.policies.errors import ErrorCode

__all__ = ["OPTIONS", "SPEC", "evaluate"]

SPEC = "strings/1"
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

_SIGNATURES = MappingProxyType({name: function.signature for name, function in FUNCTIONS.items()})


def evaluate(data: bytes, options: Mapping[str, int]) -> Outcome:
    """The answer of strings/1 to the raw input `data`; options that are missing have their defaults.

    Raises EvaluatorUnavailable where the library `regex`, in a version with the tables of Unicode 17.0, is missing.
    """
    require_unicode()
    max_input_bytes = options.get("max_input_bytes", _MAX_INPUT_BYTES)
    if len(data) > max_input_bytes:
        message = f"the input has {len(data)} bytes, the limit is {max_input_bytes}"
        return Failure(ErrorCode.TOO_LONG, message, max_input_bytes)
    max_result_bytes = options.get("max_result_bytes", _MAX_RESULT_BYTES)
    try:
        call = parse_call(data, _SIGNATURES, options.get("max_depth", _MAX_DEPTH))
        result = _value(call, max(max_input_bytes, max_result_bytes))
    except SyntaxFault as fault:
        return failure_at(fault, data, fault.start, fault.stop)
    except _CallFault as fault:
        return failure_at(fault, data, fault.call.start, fault.call.stop)

    if isinstance(result, bool):
        text = "true" if result else "false"
    else:
        text = str(result)
    length = byte_length(text)
    if length > max_result_bytes:
        message = f"the result has {length} bytes, the limit is {max_result_bytes}"
        return Failure(ErrorCode.TOO_LARGE, message)
    return Value(text)


class _CallFault(Fault):
    """A fault of the function that `call` calls."""

    def __init__(self, fault: Fault, call: Call) -> None:
        super().__init__(fault.code, fault.message)
        self.call = call


def _value(call: Call, limit: int) -> Result:
    """The value of a call; no string that it makes has more than `limit` bytes. Raises _CallFault."""
    arguments = [_value(argument, limit) if isinstance(argument, Call) else argument for argument in call.arguments]
    function = FUNCTIONS[call.name]
    try:
        if function.lengthens:
            return function.compute(*arguments, limit=limit)
        return function.compute(*arguments)
    except Fault as fault:
        raise _CallFault(fault, call) from fault
