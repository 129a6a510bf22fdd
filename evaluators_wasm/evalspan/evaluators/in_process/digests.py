"""The checksums and digests of checksums/1: functions of bytes whose results have a fixed width.

They are those of zlib, binascii, hashlib and crccheck. crccheck takes a microsecond for each byte, so that it
makes tables here, one for each CRC when it is first used, and the bytes go through those.
"""

from __future__ import annotations

import hashlib
import zlib
from binascii import crc_hqx
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple

from evalspan.evaluators.errors import EvaluatorUnavailable

__all__ = ["DIGESTS", "Digest", "require_crccheck"]


class Digest(NamedTuple):
    """A function of bytes: its result has `width` hexadecimal digits, written by `compute`."""

    width: int
    compute: Callable[[bytes], str]


@cache
def require_crccheck() -> Any:
    """The CRCs of the library crccheck. Raises EvaluatorUnavailable where it is missing."""
    try:
        return import_module("crccheck.crc")
    except ImportError as error:
        reason = "the library crccheck is missing: pip install 'evalspan[reference]'"
        raise EvaluatorUnavailable("checksums", reason) from error


@cache
def _table(name: str) -> tuple[int, int, tuple[int, ...]]:
    """The initial state and the final XOR of a reflected CRC, and what each byte turns a state of zeros into.

    Since a CRC is linear, that is all it takes: a state and a byte give the table's entry of the byte and the
    state's lowest bits, XOR the rest of the state. The initial states in use are the same in both directions.
    """
    algorithm = getattr(require_crccheck(), name)
    final = algorithm.xor_output()
    return algorithm.initvalue(), final, tuple(algorithm.calc([byte], initvalue=0) ^ final for byte in range(256))


def _reflected(name: str, data: bytes) -> int:
    """The reflected CRC that crccheck calls `name`."""
    state, final, table = _table(name)
    for byte in data:
        state = state >> 8 ^ table[(state ^ byte) & 0xFF]
    return state ^ final


def _fnv1a(data: bytes, state: int, prime: int, mask: int) -> int:
    """FNV-1a from the offset basis `state`."""
    for byte in data:
        state = (state ^ byte) * prime & mask
    return state


# A Python may be built for FIPS 140, where MD5 and SHA-1 exist only for what is not security.
DIGESTS: Mapping[str, Digest] = MappingProxyType(
    {
        "adler32": Digest(8, lambda data: f"{zlib.adler32(data):08x}"),
        "crc16_arc": Digest(4, lambda data: f"{_reflected('Crc16Arc', data):04x}"),
        "crc16_ccitt_false": Digest(4, lambda data: f"{crc_hqx(data, 0xFFFF):04x}"),
        "crc16_modbus": Digest(4, lambda data: f"{_reflected('Crc16Modbus', data):04x}"),
        "crc16_xmodem": Digest(4, lambda data: f"{crc_hqx(data, 0):04x}"),
        "crc32": Digest(8, lambda data: f"{zlib.crc32(data):08x}"),
        "crc32c": Digest(8, lambda data: f"{_reflected('Crc32Iscsi', data):08x}"),
        "fnv1a32": Digest(8, lambda data: f"{_fnv1a(data, 0x811C9DC5, 0x01000193, 0xFFFFFFFF):08x}"),
        "fnv1a64": Digest(
            16, lambda data: f"{_fnv1a(data, 0xCBF29CE484222325, 0x100000001B3, 0xFFFFFFFFFFFFFFFF):016x}"
        ),
        "md5": Digest(32, lambda data: hashlib.md5(data, usedforsecurity=False).hexdigest()),
        "sha1": Digest(40, lambda data: hashlib.sha1(data, usedforsecurity=False).hexdigest()),
        "sha256": Digest(64, lambda data: hashlib.sha256(data, usedforsecurity=False).hexdigest()),
        "sha512": Digest(128, lambda data: hashlib.sha512(data, usedforsecurity=False).hexdigest()),
    }
)
"""The functions by name."""
