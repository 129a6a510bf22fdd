"""Modules made byte by byte, and modules changed in places: what recipes of host targets say.

A recipe is text, a statement a line, so that it can be mutated and made shorter like any other input, and stands for a
module that is far longer than an input. What cannot be read as a statement is passed over.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from importlib.resources import files

__all__ = ["Guest", "custom", "leb", "module_bytes", "read_guest", "section"]

MANIFEST = {"abi": 1, "name": "guest", "spec": "guest/1", "request_bytes": 64}
_MAGIC = b"\0asm\x01\0\0\0"
_I32, _I64 = b"\x7f", b"\x7e"
_PAGE = 65_536


def leb(value: int) -> bytes:
    """An unsigned LEB128."""
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])


def _signed(value: int) -> bytes:
    """A signed LEB128."""
    encoded = bytearray()
    while True:
        byte = value & 0x7F
        value >>= 7
        if value in (0, -1) and (value < 0) == bool(byte & 0x40):
            return bytes([*encoded, byte])
        encoded.append(byte | 0x80)


def section(number: int, content: bytes) -> bytes:
    """A section of a module."""
    return bytes([number]) + leb(len(content)) + content


def custom(name: str, content: bytes) -> bytes:
    """A custom section."""
    return section(0, leb(len(name)) + name.encode() + content)


@dataclass
class Guest:
    """A module that answers what it is told to."""

    answer: int = 0
    """What `evalspan_evaluate` returns, as 64 bits."""
    adds_length: bool = False
    """Whether the length of the input is added to the length that it returns."""
    request: int = 1024
    heap: int | None = None
    pages: int = 1
    most: int | None = None
    grows: int = 0
    """Pages that it asks for first."""
    spins: bool = False
    traps: bool = False
    segments: list[tuple[int, bytes]] = field(default_factory=list)
    manifest: bytes = json.dumps(MANIFEST).encode()
    inputs: list[bytes] = field(default_factory=list)

    def code(self) -> bytes:
        """The module."""
        exports = [(b"memory", 2, 0), (b"evalspan_evaluate", 0, 0), (b"evalspan_request", 3, 0)]
        numbers = [self.request]
        if self.heap is not None:
            exports.append((b"evalspan_heap", 3, 1))
            numbers.append(self.heap)
        limits = b"\0" + leb(self.pages) if self.most is None else b"\1" + leb(self.pages) + leb(self.most)
        body = self._body()
        return b"".join(
            (
                _MAGIC,
                section(1, b"\x01\x60\x01" + _I32 + b"\x01" + _I64),
                section(3, b"\x01\x00"),
                section(5, b"\x01" + limits),
                section(6, leb(len(numbers)) + b"".join(b"\x7f\0\x41" + _signed(_i32(n)) + b"\x0b" for n in numbers)),
                section(7, leb(len(exports)) + b"".join(leb(len(n)) + n + bytes([k, i]) for n, k, i in exports)),
                section(10, b"\x01" + leb(len(body)) + body),
                section(11, leb(len(self.segments)) + b"".join(_segment(*each) for each in self.segments)),
                custom("evalspan", self.manifest),
            )
        )

    def _body(self) -> bytes:
        body = b"\0"
        if self.grows:
            body += b"\x41" + _signed(self.grows) + b"\x40\0\x1a"  # i32.const, memory.grow, drop
        if self.spins:
            body += b"\x03\x40\x0c\0\x0b"  # loop, br 0, end
        if self.traps:
            body += b"\0"  # unreachable
        body += b"\x42" + _signed(_i64(self.answer))
        if self.adds_length:
            body += b"\x20\0\xad\x42\x20\x86\x7c"  # local.get 0, extend, i64.const 32, shl, add
        return body + b"\x0b"


def _segment(address: int, data: bytes) -> bytes:
    return b"\0\x41" + _signed(_i32(address)) + b"\x0b" + leb(len(data)) + data


def _i32(value: int) -> int:
    value &= 0xFFFF_FFFF
    return value - (1 << 32) if value >> 31 else value


def _i64(value: int) -> int:
    value &= 0xFFFF_FFFF_FFFF_FFFF
    return value - (1 << 64) if value >> 63 else value


def read_guest(recipe: bytes) -> Guest:
    """The guest that a recipe describes. Statements, each with its values::

    answer ADDRESS LENGTH    length    request ADDRESS    heap ADDRESS    pages LEAST MOST    grow PAGES
    at ADDRESS HEX           spin      trap               manifest JSON   input HEX
    """
    guest = Guest()
    for line in recipe.split(b"\n"):
        word, _, rest = line.partition(b" ")
        numbers = _numbers(rest)
        match word, numbers:
            case b"answer", [address, length, *_]:
                guest.answer = length << 32 | address & 0xFFFF_FFFF
            case b"length", _:
                guest.adds_length = True
            case b"request", [address, *_]:
                guest.request = address
            case b"heap", [address, *_]:
                guest.heap = address
            case b"pages", [least]:
                guest.pages = least & 0xFFFF_FFFF
            case b"pages", [least, most, *_]:
                guest.pages, guest.most = least & 0xFFFF_FFFF, most & 0xFFFF_FFFF
            case b"grow", [pages, *_]:
                guest.grows = _i32(pages)
            case b"at", [address, *_]:
                guest.segments.append((address, _hex(rest.partition(b" ")[2])))
            case b"spin", _:
                guest.spins = True
            case b"trap", _:
                guest.traps = True
            case b"manifest", _:
                guest.manifest = rest
            case b"input", _:
                guest.inputs.append(_hex(rest))
    return guest


def module_bytes(recipe: bytes) -> bytes:
    """The module that a recipe describes, or the bytes themselves where they begin as a module does. Statements::

        base NAME         one of the modules that ship with evalspan, or `tiny`
        put AT HEX        other bytes there           cut AT COUNT     bytes taken out
        insert AT HEX     bytes put between           double AT COUNT  bytes there twice
        manifest JSON     another manifest            custom NAME HEX  a custom section more
        section N HEX     a section more              end AT           the file ends there

    A place is a number of bytes; one past the end is taken modulo the length.
    """
    if recipe[:4] == _MAGIC[:4]:
        return recipe
    code = bytearray(Guest(answer=1 << 32 | 8).code())
    for line in recipe.split(b"\n"):
        word, _, rest = line.partition(b" ")
        numbers = _numbers(rest)
        at = numbers[0] % (len(code) + 1) if numbers else 0
        data = _hex(rest.partition(b" ")[2])
        match word, numbers:
            case b"base", _:
                code = bytearray(_base(rest))
            case b"put", [_, *_]:
                code[at : at + len(data)] = data
            case b"insert", [_, *_]:
                code[at:at] = data
            case b"cut", [_, count, *_]:
                del code[at : at + count % 4096]
            case b"double", [_, count, *_]:
                code[at:at] = code[at : at + count % 4096]
            case b"end", [_, *_]:
                del code[at:]
            case b"section", [number, *_]:
                code += section(number & 255, data)
            case b"custom", _:
                name = rest.partition(b" ")[0]
                code += section(0, leb(len(name)) + name + data)
            case b"manifest", _:
                code = bytearray(_without_manifest(bytes(code)) + custom("evalspan", rest))
    return bytes(code)


def _base(name: bytes) -> bytes:
    shipped = {b"arithmetic", b"checksums", b"dates", b"strings"}
    if name not in shipped:
        return Guest(answer=1 << 32 | 8).code()
    return files("evalspan.evaluators").joinpath("modules", f"{name.decode()}.wasm").read_bytes()


def _without_manifest(code: bytes) -> bytes:
    """The module up to its manifest, which is the last section of all that are used here."""
    at = code.rfind(b"\x08evalspan{")
    return code if at < 0 else code[: code.rfind(b"\0", 0, at)]


def _numbers(rest: bytes) -> list[int]:
    found = []
    for word in rest.split(b" ")[:3]:
        digits = word.removeprefix(b"-")
        if not (digits.isdigit() and len(digits) < 20):
            break
        found.append(int(word))
    return found


def _hex(word: bytes) -> bytes:
    try:
        return bytes.fromhex(word.decode("ascii"))
    except ValueError:
        return word
