"""Compiled modules on disk, so that a new process need not compile: 0.4 ms where compiling takes 100.

What wasmtime deserializes it runs as native code, and a damaged file may pass its own checks. So the folder and
the files must belong to this user and be writable by no other, and each file begins with its SHA-256. Whoever can
write there as this user could change evalspan itself.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from pathlib import Path

__all__ = ["ModuleCache", "default_folder"]

_DIGEST_BYTES = 32
_MAX_BYTES = 32 * 1024 * 1024
"""No module of the largest size allowed compiles to more."""
_MAX_FILES = 256
"""A file is 0.4 MB, as a rule; where there are this many, the oldest go."""


def default_folder() -> Path | None:
    """EVALSPAN_CACHE, where it is set (`off`: no cache), else `evalspan/modules` in the user's cache folder."""
    chosen = os.environ.get("EVALSPAN_CACHE")
    if chosen is not None:
        return None if chosen in ("", "off") else Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    if base and Path(base).is_absolute():
        return Path(base) / "evalspan" / "modules"
    try:
        return Path.home() / ".cache" / "evalspan" / "modules"
    except RuntimeError:  # no home is known
        return None


class ModuleCache:
    """Files of compiled modules in one folder. Whatever goes wrong is a miss: the caller compiles."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def get(self, key: str) -> bytes | None:
        """The bytes put under `key`, or None."""
        if self._folder is None:
            return None
        try:
            if not _is_private(self._folder.lstat(), stat.S_IFDIR):
                return None
            descriptor = os.open(self._folder / key, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            with open(descriptor, "rb") as file:  # noqa: PTH123 - what was opened is what is checked
                if not _is_private(os.fstat(descriptor), stat.S_IFREG):
                    return None
                content = file.read(_MAX_BYTES + 1)
        except OSError:
            return None
        compiled = content[_DIGEST_BYTES:]
        if len(content) > _MAX_BYTES or hashlib.sha256(compiled).digest() != content[:_DIGEST_BYTES]:
            return None
        return compiled

    def put(self, key: str, compiled: bytes) -> None:
        """Keep `compiled` under `key`, in one step: another process sees all of it or nothing."""
        folder = self._folder
        if folder is None or len(compiled) + _DIGEST_BYTES > _MAX_BYTES:
            return
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_private(folder.lstat(), stat.S_IFDIR):
                return
            descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=".")  # with mode 0600
        except OSError:
            return
        try:
            with open(descriptor, "wb") as file:  # noqa: PTH123 - mkstemp opened it
                file.write(hashlib.sha256(compiled).digest() + compiled)
            Path(temporary).replace(folder / key)
            _drop_oldest(folder)
        except OSError:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()


def _is_private(status: os.stat_result, kind: int) -> bool:
    others_write = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_IFMT(status.st_mode) == kind and status.st_uid == os.geteuid() and not others_write


def _drop_oldest(folder: Path) -> None:
    files = sorted(folder.iterdir(), key=lambda file: file.lstat().st_mtime)
    for file in files[:-_MAX_FILES]:
        file.unlink(missing_ok=True)
