"""The sandbox through wasmtime's C API: audited modules restored in place, all others fresh from a pool."""

from __future__ import annotations

import ctypes
import mmap
import weakref
from collections.abc import Sequence

import wasmtime

from evalspan.evaluators.artefacts import Artefacts
from evalspan.evaluators.capi import CApi, pooled
from evalspan.evaluators.engine import new_config, release_engines
from evalspan.evaluators.epochs import EpochClock
from evalspan.evaluators.frames import Frame
from evalspan.evaluators.fresh import FreshGuest
from evalspan.evaluators.guest import MAX_TABLE_ELEMENTS, MAX_TABLES, PAGE_BYTES
from evalspan.evaluators.module_files import ModuleFile
from evalspan.evaluators.restored import RestoredGuest
from evalspan.evaluators.runtime import Run
from evalspan.evaluators.validation import GuestModule, check_memory
from evalspan.policies import Limits

__all__ = ["FastSandbox"]

_SLOTS = 4
"""One instance is alive at a time; the others are for an interrupt in the instant between its making and its name."""


class FastSandbox:
    """Engines, and the modules that they have compiled. For one thread."""

    def __init__(self, max_stack_bytes: int, limits: Limits, clock: EpochClock, artefacts: Artefacts) -> None:
        self._stack = max_stack_bytes
        self._limits = limits
        self._memory_bytes = limits.memory_pages * PAGE_BYTES
        self._clock = clock
        self._artefacts = artefacts
        self._frame = Frame(CApi())
        self._engines: dict[str, wasmtime.Engine] = {}
        self._modules: dict[str, GuestModule] = {}
        self._guests: weakref.WeakSet[FreshGuest | RestoredGuest] = weakref.WeakSet()
        # A thread that ends lets go of its sandbox without closing it.
        self._release = weakref.finalize(self, release_engines, clock, self._engines)
        self._release.atexit = False

    def load(self, file: ModuleFile) -> GuestModule:
        """Compile and validate a module.

        Raises:
            ModuleRefused: as `compile_module`.
        """
        module = self._modules.get(file.name)
        if module is None:
            check_memory(file, self._limits)
            kind = "restored" if file.audited else "fresh"
            module = self._artefacts.compile(self._engine(kind), f"{kind} {self._memory_bytes}", file)
            self._modules[file.name] = module
        return module

    def bind(self, file: ModuleFile, limits: Limits, options: Sequence[int]) -> Run:
        """What evaluates the module under `limits`.

        Raises:
            ModuleRefused: it fails validation, or cannot start under these limits.
        """
        module = self.load(file)
        guest: FreshGuest | RestoredGuest
        if file.audited and module.reports_heap:
            engine = self._engine("restored")
            guest = RestoredGuest(engine, module, limits, options, self._frame, self._clock)
        else:
            engine = self._engine("restored" if file.audited else "fresh")
            guest = FreshGuest(_address(engine), module, limits, options, self._frame, self._clock)
        self._guests.add(guest)
        return guest.run

    def close(self) -> None:
        """Free the instances, modules and engines."""
        for guest in list(self._guests):
            guest.close()
        for module in self._modules.values():
            module.module.close()
        self._modules.clear()
        self._release()

    def _engine(self, kind: str) -> wasmtime.Engine:
        engine = self._engines.get(kind)
        if engine is None:
            config = new_config(self._stack, self._memory_bytes)
            if kind == "fresh" and _can_map(_SLOTS * self._memory_bytes):
                pooled(config, self._memory_bytes, MAX_TABLES, MAX_TABLE_ELEMENTS, _SLOTS)
            engine = self._engines[kind] = wasmtime.Engine(config)
            self._clock.add(engine)
        return engine


def _address(engine: wasmtime.Engine) -> int:
    return ctypes.cast(engine.ptr(), ctypes.c_void_p).value or 0


def _can_map(size: int) -> bool:
    """Whether the address space for a pool is there: wasmtime ends the process where it is not."""
    try:
        mmap.mmap(-1, 2 * size, prot=mmap.PROT_READ).close()  # twice: the pool has its own tables beside
    except (OSError, ValueError):
        return False
    return True
