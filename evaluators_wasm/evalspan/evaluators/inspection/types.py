"""Types in a binary: read, marked where they need a feature that is off, and written as text."""

from __future__ import annotations

from dataclasses import dataclass

from evalspan.evaluators.binary import FormatError
from evalspan.evaluators.inspection.features import Uses
from evalspan.evaluators.inspection.reader import Reader

__all__ = ["Limits", "TypeReader", "function_text"]

_NUMBERS = {0x7F: "i32", 0x7E: "i64", 0x7D: "f32", 0x7C: "f64"}
_HEAP = {
    0x70: "func",
    0x6F: "extern",
    0x6E: "any",
    0x6D: "eq",
    0x6C: "i31",
    0x6B: "struct",
    0x6A: "array",
    0x69: "exn",
    0x74: "noexn",
    0x73: "nofunc",
    0x72: "noextern",
    0x71: "none",
    0x68: "cont",
    0x75: "nocont",
}
_HEAP_FEATURES = {
    "extern": "host_references",
    "exn": "exceptions",
    "noexn": "exceptions",
    "cont": "stack_switching",
    "nocont": "stack_switching",
}
"""Features of abstract heap types; all others but `func` are of `gc`."""

_V128, _REF_NULL, _REF = 0x7B, 0x63, 0x64
_FUNCTION, _STRUCT, _ARRAY, _CONTINUATION = 0x60, 0x5F, 0x5E, 0x5D
_RECURSIVE, _SUB, _SUB_FINAL = 0x4E, 0x50, 0x4F
_MAX_SHOWN = 16
"""Parameters that are written out: a type may have half a million."""

_PACKED = {0x78: "i8", 0x77: "i16"}


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes of a memory in pages, or of a table in elements."""

    minimum: int
    maximum: int | None
    shared: bool = False
    wide: bool = False
    """Whether its addresses have 64 bits."""
    page_bytes: int = 65_536

    def __str__(self) -> str:
        if self.maximum is None:
            return f"{self.minimum:,} or more"
        return f"{self.minimum:,}" if self.minimum == self.maximum else f"{self.minimum:,} to {self.maximum:,}"


def function_text(parameters: list[str], results: list[str]) -> str:
    """A function's type as docs/abi.md writes it."""
    if len(results) == 1:
        return f"({_listed(parameters)}) -> {results[0]}"
    return f"({_listed(parameters)}) -> ({_listed(results)})"


def _listed(types: list[str]) -> str:
    rest = len(types) - _MAX_SHOWN
    return ", ".join([*types[:_MAX_SHOWN], f"{rest} more"] if rest > 0 else types)


class TypeReader:
    """Reads types from `reader` and adds the features that they need to `uses`."""

    def __init__(self, reader: Reader, uses: Uses) -> None:
        self._reader = reader
        self._uses = uses

    def value(self) -> str:
        """A value type."""
        reader = self._reader
        at = reader.at
        byte = reader.byte()
        if byte in _NUMBERS:
            return _NUMBERS[byte]
        if byte == _V128:
            self._uses.add("simd", at)
            return "v128"
        if byte in (_REF, _REF_NULL):
            self._uses.add("function_references", at)
            return f"(ref {'null ' if byte == _REF_NULL else ''}{self.heap()})"
        reader.at = at
        return f"{self.heap()}ref"

    def heap(self) -> str:
        """A heap type."""
        at = self._reader.at
        number = self._reader.signed()
        if number >= 0:
            self._uses.add("function_references", at)
            return str(number)
        name = _HEAP.get(number & 0x7F) if number >= -64 else None
        if name is None:
            raise FormatError(f"the type at {at} is unknown")
        if name != "func":
            self._uses.add(_HEAP_FEATURES.get(name, "gc"), at)
        return name

    def values(self) -> list[str]:
        """A list of value types."""
        return [self.value() for _ in range(self._reader.number())]

    def limits(self, *, memory: bool) -> Limits:
        """The sizes of a memory or of a table."""
        reader, uses = self._reader, self._uses
        at = reader.at
        flags = reader.byte()
        if flags > 0x0F:
            raise FormatError(f"the limits at {at} are of no known form")
        minimum = reader.number()
        maximum = reader.number() if flags & 1 else None
        if flags & 2:
            uses.add("threads", at)
        if flags & 4:
            uses.add("memory64", at)
        page_bytes = 65_536
        if flags & 8:
            uses.add("custom_page_sizes", at)
            page_bytes = 1 << min(reader.number(), 16)
        return Limits(minimum, maximum, bool(flags & 2), bool(flags & 4), page_bytes if memory else 1)

    def table(self) -> tuple[str, Limits]:
        """A table's type: of its elements, and its sizes."""
        return self.value(), self.limits(memory=False)

    def variable(self) -> str:
        """A global's type."""
        content = self.value()
        return f"mut {content}" if self._reader.byte() else content

    def defined(self, types: list[str]) -> None:
        """One entry of the type section; what it defines is appended to `types` as text."""
        reader = self._reader
        at = reader.at
        form = reader.byte()
        if form == _RECURSIVE:
            self._uses.add("gc", at)
            for _ in range(reader.number()):
                self._one(types)
            return
        reader.at = at
        self._one(types)

    def _one(self, types: list[str]) -> None:
        reader = self._reader
        at = reader.at
        form = reader.byte()
        if form in (_SUB, _SUB_FINAL):
            self._uses.add("gc", at)
            for _ in range(reader.number()):
                reader.number()
            form = reader.byte()
        if form == _FUNCTION:
            parameters = self.values()
            types.append(function_text(parameters, self.values()))
        elif form == _STRUCT:
            self._uses.add("gc", at)
            for _ in range(reader.number()):
                self._field()
            types.append("struct")
        elif form == _ARRAY:
            self._uses.add("gc", at)
            self._field()
            types.append("array")
        elif form == _CONTINUATION:
            self._uses.add("stack_switching", at)
            reader.signed()
            types.append("continuation")
        else:
            raise FormatError(f"the type at {at} is of no known form")

    def _field(self) -> None:
        if self._reader.peek() in _PACKED:
            self._reader.byte()
        else:
            self.value()
        self._reader.byte()  # whether it is mutable
