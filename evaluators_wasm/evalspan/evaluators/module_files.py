"""Module files: read once, measured, digested and outlined, before any engine sees them."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import threading
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from evalspan.evaluators.binary import (
    CODE,
    MEMORY_SECTION,
    START,
    TABLE,
    FormatError,
    Section,
    body_sizes,
    minimums,
    sections,
)
from evalspan.evaluators.errors import EvaluatorUnavailable, ModuleRefused
from evalspan.evaluators.guest import MAX_TABLE_ELEMENTS, MAX_TABLES
from evalspan.evaluators.manifest import Manifest, ManifestError, read_manifest
from evalspan.policies import EvaluatorEntry, Registry

__all__ = ["MAX_MODULE_BYTES", "ModuleFile", "ModuleFiles", "check_file", "read_module_bytes"]

MAX_MODULE_BYTES = 16 * 1024 * 1024
"""A small Rust module that is not stripped has 5 MB, most of it debug sections, which cost nothing to load."""

# Compiling cannot be interrupted, and takes time that grows faster than a function does. With these bounds the
# worst module that we could think of (functions of nothing but loops) takes 15 s, an ordinary one 1 s.
_MAX_CODE_BYTES = 512 * 1024
_MAX_BODY_BYTES = 64 * 1024
_MAX_FUNCTIONS = 10_000


@dataclass(frozen=True, slots=True)
class ModuleFile:
    """A module whose file is in order. `audited` modules ship with evalspan and have the digest it knows."""

    name: str
    code: bytes
    digest: str
    manifest: Manifest
    audited: bool
    memory_pages: int = 0
    """Pages of memory that it starts with."""


def check_file(name: str, code: bytes, *, pin: str | None = None, audited: bool = False) -> ModuleFile:
    """Check what can be known of a module's bytes without an engine.

    Raises:
        ModuleRefused: with the checks `size`, `digest`, `format`, `start`, `tables` and `manifest`.
    """
    if len(code) > MAX_MODULE_BYTES:
        raise ModuleRefused(name, "size", f"has more than {MAX_MODULE_BYTES} bytes")
    digest = hashlib.sha256(code).hexdigest()
    if pin is not None and pin != digest:
        raise ModuleRefused(name, "digest", f"has SHA-256 {digest}, the registry pins {pin}")
    try:
        pages = _check_outline(name, code)
    except FormatError as error:
        raise ModuleRefused(name, "format", str(error)) from None
    try:
        manifest = read_manifest(code)
    except ManifestError as error:
        raise ModuleRefused(name, "manifest", str(error)) from None
    return ModuleFile(name, code, digest, manifest, audited, pages)


def _check_outline(name: str, code: bytes) -> int:
    """Check the sections of a module, and answer the pages of memory that it starts with."""
    pages = 0
    tables: list[int] = []
    for section in list(sections(code)):  # all of them: a malformed file is refused as such
        if section.number == START:
            raise ModuleRefused(name, "start", "has a start function; nothing may run before an evaluation")
        if section.number == TABLE:
            tables += minimums(code, section)
        elif section.number == MEMORY_SECTION:
            pages = max([pages, *minimums(code, section)])
        elif section.number == CODE:
            _check_code(name, code, section)
    if len(tables) > MAX_TABLES:
        raise ModuleRefused(name, "tables", f"has {len(tables)} tables, the limit is {MAX_TABLES}")
    longest = max(tables, default=0)
    if longest > MAX_TABLE_ELEMENTS:
        raise ModuleRefused(name, "tables", f"has a table of {longest} elements, the limit is {MAX_TABLE_ELEMENTS}")
    return pages


def _check_code(name: str, code: bytes, section: Section) -> None:
    size = section.end - section.start
    if size > _MAX_CODE_BYTES:
        raise ModuleRefused(name, "size", f"has {size} bytes of code, the limit is {_MAX_CODE_BYTES}")
    for index, body in enumerate(body_sizes(code, section)):
        if body > _MAX_BODY_BYTES:
            raise ModuleRefused(name, "size", f"has a function of {body} bytes, the limit is {_MAX_BODY_BYTES}")
        if index == _MAX_FUNCTIONS:
            raise ModuleRefused(name, "size", f"has more than {_MAX_FUNCTIONS} functions")


class ModuleFiles:
    """The module files of a registry, each read once. Safe to share between threads."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._lock = threading.Lock()
        self._files: dict[str, ModuleFile] = {}

    def get(self, entry: EvaluatorEntry) -> ModuleFile:
        """The checked file of an evaluator.

        Raises:
            ModuleRefused: it cannot be read, or fails a check.
            EvaluatorUnavailable: a built-in whose module is not installed.
        """
        with self._lock:
            file = self._files.get(entry.name)
            if file is None:
                file = self._files[entry.name] = self._read(entry)
            return file

    def _read(self, entry: EvaluatorEntry) -> ModuleFile:
        if entry.builtin is not None:
            return _read_builtin(entry, entry.builtin)
        path = self._registry.module_path(entry)
        return check_file(entry.name, read_module_bytes(entry.name, path), pin=entry.sha256)


def read_module_bytes(name: str, path: Path) -> bytes:
    """The bytes of a regular file that is not over the limit: a pipe or a device would block, or never end.

    Raises:
        ModuleRefused: with the checks `file` and `size`.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:  # noqa: PTH123 - what was opened is what is checked
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise ModuleRefused(name, "file", f"{path} is no regular file")
            if status.st_size > MAX_MODULE_BYTES:
                raise ModuleRefused(name, "size", f"has {status.st_size} bytes, the limit is {MAX_MODULE_BYTES}")
            return file.read(MAX_MODULE_BYTES + 1)
    except OSError as error:
        raise ModuleRefused(name, "file", f"{path} cannot be read: {error.strerror}") from None


def _read_builtin(entry: EvaluatorEntry, spec: str) -> ModuleFile:
    """The module of a specification, which must be the one that this release was made with."""
    folder = resources.files("evalspan.evaluators").joinpath("modules")
    base = spec.partition("/")[0]
    try:
        released = json.loads(folder.joinpath("modules.json").read_text("utf-8"))["modules"][base]
        code = folder.joinpath(released["file"]).read_bytes()
    except (OSError, KeyError, ValueError):
        raise EvaluatorUnavailable(
            entry.name, f"the module of {spec} is not installed: the package is incomplete"
        ) from None
    file = check_file(entry.name, code, pin=entry.sha256, audited=True)
    if file.digest != released["sha256"]:
        reason = f"has SHA-256 {file.digest}, this release of evalspan was made with {released['sha256']}"
        raise ModuleRefused(entry.name, "digest", reason)
    if file.manifest.spec != spec:
        raise ModuleRefused(entry.name, "manifest", f"is of {file.manifest.spec}, not of {spec}")
    return file
