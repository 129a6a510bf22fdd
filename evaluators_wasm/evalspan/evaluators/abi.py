"""ABI 1 on the host's side: request bytes out, response bytes in, every bound checked (docs/abi.md)."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from evalspan.evaluators.outcome import Failure, Outcome, Value
from evalspan.policies import ErrorCode

__all__ = ["EVALUATE", "HEAP", "MEMORY", "REQUEST", "heap_exhausted", "option_words", "read_response"]

MEMORY = "memory"
REQUEST = "evalspan_request"
EVALUATE = "evalspan_evaluate"
HEAP = "evalspan_heap"
"""Names of the exports; the last is optional."""

_EXACT, _ROUNDED, _ERROR = 0, 1, 2
_ERROR_HEAD = struct.Struct("<BBIB")
_MAX_MESSAGE_BYTES = 200
_MAX_PIECE_BYTES = 32
_CODES = {
    1: ErrorCode.SYNTAX,
    2: ErrorCode.DOMAIN,
    3: ErrorCode.DIVISION_BY_ZERO,
    4: ErrorCode.RANGE,
    5: ErrorCode.TOO_LONG,
    6: ErrorCode.TOO_DEEP,
    7: ErrorCode.TOO_LARGE,
    8: ErrorCode.UNSUPPORTED,
}


def option_words(values: Sequence[int]) -> bytes:
    """The options as the request's head: u32 each, little-endian, in the manifest's order."""
    return struct.pack(f"<{len(values)}I", *values)


def heap_exhausted(memory: memoryview, address: int) -> bool:
    """Whether the guest reports, in the second word at `evalspan_heap`, that an allocation was refused."""
    return address + 8 <= len(memory) and any(memory[address + 4 : address + 8])


def read_response(memory: memoryview, packed: int, input_bytes: int, max_text: int, fuel: int) -> Outcome:
    """The outcome that a guest's answer means.

    `packed` is what `evalspan_evaluate` returned (length << 32 | address, of any sign), `memory` the whole
    linear memory, `input_bytes` the length of the input, `max_text` the most bytes a value may have; a longer
    one is refused before it is copied. Whatever breaks the layout is `internal`.
    """
    address = packed & 0xFFFF_FFFF
    length = (packed >> 32) & 0xFFFF_FFFF
    end = address + length
    if length == 0 or end > len(memory):
        return _broken(f"response of {length} bytes at {address}, memory has {len(memory)}", fuel)
    kind = memory[address]
    if kind <= _ROUNDED:
        if length - 1 > max_text:
            reason = f"the text has {length - 1} bytes, the limit is {max_text}"
            return Failure(ErrorCode.REFUSED, reason, fuel=fuel)
        try:
            return Value(str(memory[address + 1 : end], "utf-8"), kind == _EXACT, fuel)
        except UnicodeDecodeError:
            return Failure(ErrorCode.REFUSED, "the text is not valid UTF-8", fuel=fuel)
    if kind != _ERROR:
        return _broken(f"kind of response {kind}", fuel)
    if not _ERROR_HEAD.size <= length <= _ERROR_HEAD.size + _MAX_MESSAGE_BYTES:
        return _broken(f"error response of {length} bytes", fuel)
    _, number, offset, piece = _ERROR_HEAD.unpack_from(memory, address)
    code = _CODES.get(number)
    if code is None:
        return _broken(f"error code {number}", fuel)
    if piece > _MAX_PIECE_BYTES or offset + piece > input_bytes:
        return _broken(f"error at bytes {offset} to {offset + piece} of {input_bytes}", fuel)
    try:
        message = str(memory[address + _ERROR_HEAD.size : end], "utf-8")
    except UnicodeDecodeError:
        return _broken("error message that is not UTF-8", fuel)
    return Failure(code, message, offset, piece, fuel)


def _broken(what: str, fuel: int) -> Failure:
    return Failure(ErrorCode.INTERNAL, f"the evaluator broke the ABI: {what}", fuel=fuel)
