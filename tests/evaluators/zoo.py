"""The zoo as data: the cases of zoo/zoo.toml and the binaries that WAT cannot say."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli
from evaluators.guests import MANIFEST, assemble, custom, leb

ZOO = Path(__file__).parent / "zoo"


@dataclass(frozen=True)
class Case:
    """One module and its verdict; the keys are those of zoo.toml."""

    id: str
    comment: str
    file: str = ""
    binary: str = ""
    manifest: str | None = None
    input: str = "x"
    refused: str = ""
    value: str | None = None
    error: str = ""
    says: str = ""
    silent: str = ""
    pages: int = 16
    fuel: int = 1_000_000
    max_result_bytes: int = 1024

    def code(self) -> bytes:
        """The module's bytes."""
        if self.binary:
            return BINARIES[self.binary](plain())
        wat = ZOO.joinpath(self.file or f"{self.id}.wat").read_text("utf-8")
        code = assemble(wat)
        manifest = json.dumps(MANIFEST) if self.manifest is None else self.manifest
        return code + custom("evalspan", manifest.encode()) if manifest else code


def cases() -> list[Case]:
    """Every case, in the order of the file."""
    table: dict[str, Any] = tomli.loads(ZOO.joinpath("zoo.toml").read_text("utf-8"))
    return [Case(**case) for case in table["module"]]


def plain() -> bytes:
    """The module without a fault."""
    return assemble(ZOO.joinpath("plain.wat").read_text("utf-8")) + custom("evalspan", json.dumps(MANIFEST).encode())


def section(number: int, content: bytes) -> bytes:
    """A section that is not custom."""
    return bytes([number]) + leb(len(content)) + content


HEADER = b"\0asm\x01\0\0\0"
_MANIFEST_SECTION = custom("evalspan", json.dumps(MANIFEST).encode())
_EMPTY_TYPE = section(1, b"\x01\x60\0\0")
_ONE_FUNCTION = section(3, b"\x01\0")


def _whole(*parts: bytes) -> bytes:
    return HEADER + b"".join(parts) + _MANIFEST_SECTION


def _other_manifest(good: bytes, text: bytes) -> bytes:
    return good[: -len(_MANIFEST_SECTION)] + custom("evalspan", text)


BINARIES: dict[str, Callable[[bytes], bytes]] = {
    "two_manifests": lambda good: good + _MANIFEST_SECTION,
    "manifest_not_utf8": lambda good: _other_manifest(good, b'{"abi": "\xff"}'),
    "manifest_nested": lambda good: _other_manifest(good, b"[" * 8000 + b"]" * 8000),
    "manifest_huge": lambda good: _other_manifest(good, b" " * 1_000_000),
    "empty": lambda _: b"",
    "text": lambda _: b"(module)",
    "version_2": lambda good: b"\0asm\x02\0\0\0" + good[8:],
    "cut_header": lambda good: good[:6],
    "cut_section": lambda good: good[:-1],
    "length_overflow": lambda _: HEADER + b"\x01\xff\xff\xff\xff\xff\x7f",
    "section_past_the_end": lambda _: HEADER + b"\x01" + leb(2**31) + b"\0",
    "name_past_the_end": lambda _: HEADER + b"\0\x02\x7fx",
    "many_sections": lambda good: good + custom("x", b"") * 100_000,
    "large_file": lambda _: bytes(17_000_000),
    "large_code": lambda _: _whole(section(10, b"\x01" + leb(2**20) + bytes(2**20))),
    "large_function": lambda _: _whole(section(10, b"\x01" + leb(2**17) + bytes(2**17))),
    "long_function": lambda _: _whole(section(10, b"\x01" + leb(2**17) + bytes(10))),
    "many_functions": lambda _: _whole(section(10, leb(30_000) + b"\x02\0\x0b" * 30_000)),
    "many_segments": lambda _: _whole(
        section(5, b"\x01\0\x01"), section(11, leb(200_000) + b"\0\x41\0\x0b\0" * 200_000)
    ),
    "trailing_garbage": lambda good: good + b"\x0a",
    "out_of_order": lambda _: _whole(_ONE_FUNCTION, _EMPTY_TYPE, section(10, b"\x01\x02\0\x0b")),
    "wrong_code": lambda _: _whole(_EMPTY_TYPE, _ONE_FUNCTION, section(10, b"\x01\x01\0")),
}
"""By the name in `binary`: what makes the bytes, out of those of the plain module."""
