"""Compiled modules, kept so that neither the next thread nor the next process compiles them again."""

from __future__ import annotations

import hashlib
import platform
import sys
import threading
from importlib.metadata import version

import wasmtime

from evalspan.evaluators.engine import CONFIGURATION
from evalspan.evaluators.module_cache import ModuleCache, default_folder
from evalspan.evaluators.module_files import ModuleFile
from evalspan.evaluators.validation import GuestModule, compile_module, validated

__all__ = ["Artefacts"]


class Artefacts:
    """Compiled modules of one process, and of those before it where there is a cache. Safe to share between threads.

    wasmtime trusts what it deserializes: these bytes come from its own compiler, in this process or through a
    cache that only this user can write.
    """

    def __init__(self, inherited: Artefacts | None = None, cache: ModuleCache | None = None) -> None:
        self._lock = threading.Lock()
        self._compiled: dict[str, bytes] = {}
        self._cache = cache or ModuleCache(default_folder())
        if inherited is not None:  # those of the process before a fork, whose lock may be held for ever
            self._compiled.update(inherited._compiled)

    def compile(self, engine: wasmtime.Engine, kind: str, file: ModuleFile) -> GuestModule:
        """The module in `engine`, compiled where no engine of this kind has compiled it before.

        `kind` names whatever the engine's configuration has beside `engine.new_config`'s constants.

        Raises:
            ModuleRefused: as `compile_module`.
        """
        key = _key(kind, file)
        with self._lock:
            compiled = self._compiled.get(key) or self._cache.get(key)
            if compiled is not None:
                try:
                    module = wasmtime.Module.deserialize(engine, compiled)
                except wasmtime.WasmtimeError:
                    pass  # of a machine with other features, say
                else:
                    self._compiled[key] = compiled
                    return validated(file, module)
            guest = compile_module(engine, file)
            compiled = self._compiled[key] = bytes(guest.module.serialize())
            self._cache.put(key, compiled)
            return guest


def _key(kind: str, file: ModuleFile) -> str:
    """Whatever the compiled code depends on, as the name of a file."""
    made_of = (version("wasmtime"), sys.platform, platform.machine(), CONFIGURATION, kind, file.digest)
    return hashlib.sha256("\n".join(made_of).encode()).hexdigest()
