"""Guests for the tests: WAT and a manifest made into a module."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import wasmtime

from evalspan.evaluators.module_files import ModuleFile, check_file
from evalspan.policies import Registry

MANIFEST: dict[str, Any] = {"abi": 1, "name": "guest", "spec": "guest/1", "request_bytes": 64}

ECHO = """
(module
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param $length i32) (result i64)
    (i32.store8 (i32.const 1023) (i32.const 0))
    (i64.or
      (i64.shl (i64.extend_i32_u (i32.add (local.get $length) (i32.const 1))) (i64.const 32))
      (i64.const 1023))))
"""
"""Answers its input. It has no options, so that the input begins at the request buffer."""


def leb(value: int) -> bytes:
    """An unsigned LEB128."""
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def custom(name: str, content: bytes) -> bytes:
    """A custom section."""
    body = leb(len(name)) + name.encode() + content
    return b"\0" + leb(len(body)) + body


def assemble(wat: str) -> bytes:
    """A module without a manifest."""
    return bytes(wasmtime.wat2wasm(wat))


def guest(wat: str = ECHO, **manifest: Any) -> bytes:
    """A module with the manifest of these tests, changed by `manifest`."""
    return assemble(wat) + custom("evalspan", json.dumps(MANIFEST | manifest).encode())


def audited(name: str, code: bytes) -> ModuleFile:
    """A module file that passes for one of evalspan's own, so that the fast path restores its memory."""
    file = check_file(name, code)
    return ModuleFile(name, code, file.digest, file.manifest, True, file.memory_pages)


def registry(folder: Path, modules: dict[str, bytes], rest: str = "", **policy: int) -> Registry:
    """A registry with these modules, written to `folder`, under the default policy changed by `policy`."""
    text = ["version = 1", "[policy.default]", *(f"{name} = {value}" for name, value in policy.items())]
    for name, code in modules.items():
        folder.joinpath(f"{name}.wasm").write_bytes(code)
        text += ["[[evaluator]]", f'name = "{name}"', f'module = "{name}.wasm"']
    return Registry.parse("\n".join([*text, rest]), folder=folder)


def digest(code: bytes) -> str:
    """SHA-256, in hex."""
    return hashlib.sha256(code).hexdigest()


__all__ = [
    "ECHO",
    "MANIFEST",
    "assemble",
    "audited",
    "custom",
    "digest",
    "guest",
    "leb",
    "registry",
]
