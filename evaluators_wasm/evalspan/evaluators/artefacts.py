"""Compiled modules, kept as bytes so that each thread after the first need not compile again."""

from __future__ import annotations

import threading

import wasmtime

from evalspan.evaluators.module_files import ModuleFile
from evalspan.evaluators.validation import GuestModule, compile_module, validated

__all__ = ["Artefacts"]


class Artefacts:
    """Compiled modules of one process. Safe to share between threads.

    wasmtime trusts what it deserializes, as native code: these bytes come from its own compiler and never leave
    the process.
    """

    def __init__(self, inherited: Artefacts | None = None) -> None:
        self._lock = threading.Lock()
        self._compiled: dict[tuple[str, str, bool], bytes] = {}
        if inherited is not None:  # those of the process before a fork, whose lock may be held for ever
            self._compiled.update(inherited._compiled)

    def compile(self, engine: wasmtime.Engine, kind: str, file: ModuleFile) -> GuestModule:
        """The module in `engine`, compiled where no engine of the same kind has compiled it before.

        Raises:
            ModuleRefused: as `compile_module`.
        """
        key = (file.digest, kind, file.audited)
        with self._lock:
            compiled = self._compiled.get(key)
            if compiled is None:
                guest = compile_module(engine, file)
                self._compiled[key] = bytes(guest.module.serialize())
                return guest
        return validated(file, wasmtime.Module.deserialize(engine, compiled))
