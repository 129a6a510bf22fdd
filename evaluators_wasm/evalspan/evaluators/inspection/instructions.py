"""Instructions: passed one by one, for the features that they need.

Nothing is validated: the engine does that. What is unknown here ends the reading of a function, whose length is
known from elsewhere.
"""

from __future__ import annotations

from evalspan.evaluators.binary import FormatError
from evalspan.evaluators.inspection.features import Uses
from evalspan.evaluators.inspection.reader import Reader
from evalspan.evaluators.inspection.types import TypeReader

__all__ = ["pass_expression"]

# What stands behind an opcode: so many numbers, or
_MEMORY_ARGUMENT, _BLOCK, _FLOAT32, _FLOAT64, _BRANCH_TABLE, _TYPES, _TRY_TABLE = range(-1, -8, -1)
_SHAPES: dict[int, int] = {
    **dict.fromkeys([0x00, 0x01, 0x05, 0x0A, 0x0B, 0x0F, 0x19, 0x1A, 0x1B], 0),
    **dict.fromkeys([0x02, 0x03, 0x04, 0x06], _BLOCK),
    **dict.fromkeys([0x07, 0x08, 0x09, 0x0C, 0x0D, 0x10, 0x12, 0x14, 0x15, 0x18], 1),
    0x0E: _BRANCH_TABLE,
    0x11: 2,
    0x13: 2,
    0x1C: _TYPES,
    0x1F: _TRY_TABLE,
    **dict.fromkeys(range(0x20, 0x27), 1),
    **dict.fromkeys(range(0x28, 0x3F), _MEMORY_ARGUMENT),
    **dict.fromkeys([0x3F, 0x40, 0x41, 0x42], 1),
    0x43: _FLOAT32,
    0x44: _FLOAT64,
    **dict.fromkeys(range(0x45, 0xC5), 0),
    0xD1: 0,
    0xD2: 1,
    0xD3: 0,
    0xD4: 0,
    0xD5: 1,
    0xD6: 1,
}
"""By opcode."""

_FEATURES: dict[int, str] = {
    **dict.fromkeys([0x06, 0x07, 0x08, 0x09, 0x0A, 0x18, 0x19, 0x1F], "exceptions"),
    **dict.fromkeys([0x12, 0x13], "tail_call"),
    **dict.fromkeys([0x14, 0x15, 0xD4, 0xD5, 0xD6], "function_references"),
    0xD3: "gc",
    **dict.fromkeys(range(0xE0, 0xE7), "stack_switching"),
}
"""By opcode, of those that are off."""

_OPENING = frozenset({0x02, 0x03, 0x04, 0x06, 0x1F})
_CLOSING = frozenset({0x0B, 0x18})
_REF_NULL = 0xD0
_GC, _MORE, _VECTORS, _ATOMICS = 0xFB, 0xFC, 0xFD, 0xFE
"""Prefixes: a number behind them says which instruction it is."""

_GC_NUMBERS = (1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 2, 1, 1, 1, 1, 0, 1, 2, 2, 2, 1, 1, 1, 1, 4, 4, 0, 0, 0, 0, 0)
_MORE_NUMBERS = (0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1)
_WIDE_ARITHMETIC = range(19, 23)
_FENCE, _LAST_ATOMIC = 3, 0x4E
_MEMORY_INDEX = 0x40
"""Bit of an access's alignment which says that a memory is named."""


def pass_expression(reader: Reader, uses: Uses) -> None:
    """Pass instructions up to the `end` that closes them, adding the features that they need to `uses`.

    Raises:
        FormatError: the bytes end before, or an instruction is unknown.
    """
    depth = 1
    while depth:
        at = reader.at
        opcode = reader.byte()
        feature = _FEATURES.get(opcode)
        if feature is not None:
            uses.add(feature, at)
        shape = _SHAPES.get(opcode)
        if shape is None:
            _pass_other(opcode, at, reader, uses)
        elif shape > 0:
            for _ in range(shape):
                reader.number()
        elif shape:
            _pass_shape(shape, reader, uses)
        if opcode in _OPENING:
            depth += 1
        elif opcode in _CLOSING:
            depth -= 1


def _pass_shape(shape: int, reader: Reader, uses: Uses) -> None:
    if shape == _MEMORY_ARGUMENT:
        _pass_memory_argument(reader, uses)
    elif shape == _BLOCK:
        _pass_block_type(reader, uses)
    elif shape == _FLOAT32:
        reader.skip(4)
    elif shape == _FLOAT64:
        reader.skip(8)
    elif shape == _BRANCH_TABLE:
        for _ in range(reader.number() + 1):
            reader.number()
    elif shape == _TYPES:
        TypeReader(reader, uses).values()
    else:
        _pass_block_type(reader, uses)
        for _ in range(reader.number()):
            if reader.byte() < 2:  # with a tag
                reader.number()
            reader.number()


def _pass_memory_argument(reader: Reader, uses: Uses) -> None:
    at = reader.at
    if reader.number() & _MEMORY_INDEX:
        uses.add("multi_memory", at)
        reader.number()
    reader.number()


def _pass_block_type(reader: Reader, uses: Uses) -> None:
    at = reader.at
    number = reader.signed()
    if number < 0 and number != -64:  # neither the index of a type nor the empty one
        reader.at = at
        TypeReader(reader, uses).value()


def _pass_other(opcode: int, at: int, reader: Reader, uses: Uses) -> None:
    """Pass what stands behind a prefix or before a heap type."""
    if opcode == _REF_NULL:
        TypeReader(reader, uses).heap()
        return
    if opcode not in (_GC, _MORE, _VECTORS, _ATOMICS):
        raise FormatError(f"the instruction 0x{opcode:02x} at {at} is unknown")
    which = reader.number()
    if opcode == _VECTORS:
        uses.add("relaxed_simd" if which >= 0x100 else "simd", at)
        _pass_vector(which, reader, uses)
        return
    if opcode == _ATOMICS and which <= _LAST_ATOMIC:
        uses.add("threads", at)
        if which == _FENCE:
            reader.skip(1)
        else:
            _pass_memory_argument(reader, uses)
        return
    numbers = None
    if opcode == _GC:
        uses.add("gc", at)
        numbers = _GC_NUMBERS[which] if which < len(_GC_NUMBERS) else None
    elif opcode == _MORE:
        if which in _WIDE_ARITHMETIC:
            uses.add("wide_arithmetic", at)
            numbers = 0
        else:
            numbers = _MORE_NUMBERS[which] if which < len(_MORE_NUMBERS) else None
    if numbers is None:
        raise FormatError(f"the instruction 0x{opcode:02x} {which} at {at} is unknown")
    for _ in range(numbers):
        reader.number()


def _pass_vector(which: int, reader: Reader, uses: Uses) -> None:
    if which <= 11 or which in (92, 93):  # loads and stores
        _pass_memory_argument(reader, uses)
    elif which in (12, 13):  # a constant, a shuffle
        reader.skip(16)
    elif 21 <= which <= 34:  # of one lane
        reader.skip(1)
    elif 84 <= which <= 91:  # loads and stores of one lane
        _pass_memory_argument(reader, uses)
        reader.skip(1)
