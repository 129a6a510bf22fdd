"""The outline of a WebAssembly binary: its sections, with every length checked.

Only what is wanted before a module is compiled is read here: its custom sections, whether it has a start
function, how large its functions are, and how much memory and how many table elements it begins with. Whether
the contents are valid is the engine's to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = [
    "CODE",
    "CUSTOM",
    "MAX_SECTIONS",
    "MEMORY_SECTION",
    "START",
    "TABLE",
    "FormatError",
    "Section",
    "body_sizes",
    "minimums",
    "sections",
]

MAX_SECTIONS = 256
"""Compilers write about 20; the bound keeps a file of empty sections from costing a second."""

_MAGIC = b"\0asm"
_CORE_VERSION = b"\x01\0\0\0"
_COMPONENT_LAYER = b"\x01\0"


class FormatError(ValueError):
    """Bytes that are no core module; the text says why and where."""


@dataclass(frozen=True, slots=True)
class Section:
    """One section: its number, the name of a custom one (else ''), and where its content lies in the file."""

    number: int
    name: str
    start: int
    end: int


CUSTOM, TABLE, MEMORY_SECTION, START, CODE = 0, 4, 5, 8, 10
"""Section numbers of the core specification."""


def sections(module: bytes) -> Iterator[Section]:
    """The sections of `module`, in file order.

    Raises:
        FormatError: the bytes are no core module, a length passes the end, or there are too many sections.
    """
    if module[:4] != _MAGIC:
        raise FormatError("does not begin with the WebAssembly magic number")
    if module[4:8] != _CORE_VERSION:
        if module[6:8] == _COMPONENT_LAYER:
            raise FormatError("is a component, not a core module")
        raise FormatError(f"has version {module[4:8].hex() or 'none'}, not 1")
    at, count, size = 8, 0, len(module)
    while at < size:
        count += 1
        if count > MAX_SECTIONS:
            raise FormatError(f"has more than {MAX_SECTIONS} sections")
        number = module[at]
        length, start = _unsigned(module, at + 1, size)
        end = start + length
        if end > size:
            raise FormatError(f"section {number} at byte {at} passes the end of the file")
        name = ""
        if number == CUSTOM:
            name_length, name_start = _unsigned(module, start, end)
            start = name_start + name_length
            if start > end:
                raise FormatError(f"the name of the custom section at byte {at} passes its end")
            try:
                name = module[name_start:start].decode()
            except UnicodeDecodeError:
                raise FormatError(f"the name of the custom section at byte {at} is not UTF-8") from None
        yield Section(number, name, start, end)
        at = end


def minimums(module: bytes, section: Section) -> list[int]:
    """What each table or memory of a section begins with, in elements or pages.

    Shapes of proposals that are off end the list early: the engine refuses them.

    Raises:
        FormatError: the section is cut short.
    """
    count, at = _unsigned(module, section.start, section.end)
    found: list[int] = []
    while len(found) < count and at < section.end:
        if section.number == TABLE:
            at += 1  # the element type: one byte, but for those of proposals that are off
        if at >= section.end or module[at] > 1:
            break
        bounded = module[at] == 1
        minimum, at = _unsigned(module, at + 1, section.end)
        if bounded:
            _, at = _unsigned(module, at, section.end)
        found.append(minimum)
    return found


def body_sizes(module: bytes, section: Section) -> Iterator[int]:
    """The bytes of each function body of the code section.

    Raises:
        FormatError: a body passes the section's end.
    """
    count, at = _unsigned(module, section.start, section.end)
    for _ in range(count):
        size, at = _unsigned(module, at, section.end)
        at += size
        if at > section.end:
            raise FormatError("a function body passes the end of the code section")
        yield size


def _unsigned(module: bytes, at: int, end: int) -> tuple[int, int]:
    """A u32 in LEB128 and the position after it."""
    value = 0
    for i in range(5):
        if at + i >= end:
            raise FormatError(f"a length at byte {at} passes the end")
        byte = module[at + i]
        value |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            if value > 0xFFFF_FFFF:
                break
            return value, at + i + 1
    raise FormatError(f"a length at byte {at} does not fit 32 bits")
