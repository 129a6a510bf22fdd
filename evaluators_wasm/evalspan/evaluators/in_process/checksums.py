"""checksums/1 in Python: checksums, digests and check digits, as docs/operators/checksums.md has it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from evalspan.evaluators.in_process.call_syntax import Scanner
from evalspan.evaluators.in_process.check_digits import CHECK_DIGITS, WrongForm, require_stdnum
from evalspan.evaluators.in_process.checksums_syntax import Call, Literal, parse
from evalspan.evaluators.in_process.digests import DIGESTS, require_crccheck
from evalspan.evaluators.in_process.faults import Fault, SyntaxFault, failure_at
from evalspan.evaluators.in_process.reference import OptionSpec
from evalspan.evaluators.outcome import Failure, Outcome, Value
from evalspan.policies.errors import ErrorCode

__all__ = ["OPTIONS", "SPEC", "evaluate"]

SPEC = "checksums/1"
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
"""The options, with the defaults and ranges of the specification. `max_depth` is never reached: calls do not nest."""

_FAMILIES = ("crc8", "crc16")
_UNSUPPORTED = "a family of CRCs; use crc16_arc, crc16_modbus, crc16_ccitt_false, crc16_xmodem, crc32 or crc32c"

_ARITIES: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys((*_FAMILIES, *DIGESTS), 1),
        **{name: len(function.parameters) for name, function in CHECK_DIGITS.items()},
    }
)


def evaluate(data: bytes, options: Mapping[str, int]) -> Outcome:
    """The answer of checksums/1 to the raw input `data`; options that are missing have their defaults.

    Raises EvaluatorUnavailable where crccheck or python-stdnum is missing.
    """
    require_crccheck()
    require_stdnum()
    max_input_bytes = options.get("max_input_bytes", _MAX_INPUT_BYTES)
    if len(data) > max_input_bytes:
        message = f"the input has {len(data)} bytes, the limit is {max_input_bytes}"
        return Failure(ErrorCode.TOO_LONG, message, max_input_bytes)
    max_result_bytes = options.get("max_result_bytes", _MAX_RESULT_BYTES)
    scanner = Scanner(data)
    try:
        call = parse(scanner, _ARITIES)
        digest = DIGESTS.get(call.name)
        if digest is not None:
            if digest.width > max_result_bytes:
                return _too_large(digest.width, max_result_bytes)
            return Value(digest.compute(call.literals[0].text.encode()))
        text = _check_digits(call, scanner)
    except SyntaxFault as fault:
        return failure_at(fault, data, fault.start, fault.stop)
    if len(text) > max_result_bytes:
        return _too_large(len(text), max_result_bytes)
    return Value(text)


def _check_digits(call: Call, scanner: Scanner) -> str:
    """The result of a function of check digits. Raises SyntaxFault, of any code."""
    if call.name in _FAMILIES:
        raise scanner.fault(_UNSUPPORTED, call.start, call.stop, ErrorCode.UNSUPPORTED)
    function = CHECK_DIGITS[call.name]
    arguments = []
    for parameter, literal in zip(function.parameters, call.literals, strict=True):
        try:
            arguments.append(parameter.read(literal.text))
        except WrongForm as fault:
            if function.is_test:
                return "false"
            raise _at(literal, fault, scanner) from fault
        except Fault as fault:
            raise _at(literal, fault, scanner) from fault
    result = function.compute(*arguments)
    if isinstance(result, bool):
        return "true" if result else "false"
    return result


def _at(literal: Literal, fault: Fault, scanner: Scanner) -> SyntaxFault:
    return scanner.fault(fault.message, literal.start, literal.stop, fault.code)


def _too_large(length: int, limit: int) -> Failure:
    return Failure(ErrorCode.TOO_LARGE, f"the result has {length} bytes, the limit is {limit}")
