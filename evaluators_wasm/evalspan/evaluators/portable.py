"""The sandbox through wasmtime's public Python API: a fresh store and instance for each evaluation.

Slow, and the plainest form of what the fast path must do: the same tests hold for both.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any, cast

import wasmtime

from evalspan.evaluators.abi import (
    EVALUATE,
    HEAP,
    MEMORY,
    REQUEST,
    heap_exhausted,
    option_words,
    read_response,
)
from evalspan.evaluators.engine import new_config, release_engines
from evalspan.evaluators.epochs import EpochClock, ticks
from evalspan.evaluators.errors import ModuleRefused
from evalspan.evaluators.guest import MAX_TABLE_ELEMENTS, MAX_TABLES, PAGE_BYTES, START_FUEL
from evalspan.evaluators.module_files import ModuleFile
from evalspan.evaluators.outcome import Outcome
from evalspan.evaluators.runtime import Run
from evalspan.evaluators.traps import OUT_OF_FUEL, failure_of_trap, innermost
from evalspan.evaluators.validation import GuestModule, check_memory, compile_module
from evalspan.policies import Limits

__all__ = ["PortableSandbox"]


class PortableSandbox:
    """An engine, and the modules that it has compiled. For one thread."""

    def __init__(self, max_stack_bytes: int, limits: Limits, clock: EpochClock) -> None:
        self._engine = wasmtime.Engine(new_config(max_stack_bytes, limits.memory_pages * PAGE_BYTES))
        self._limits = limits
        self._clock = clock
        clock.add(self._engine)
        # A thread that ends lets go of its sandbox without closing it.
        self._release = weakref.finalize(self, release_engines, clock, {"portable": self._engine})
        self._release.atexit = False
        self._modules: dict[str, GuestModule] = {}

    def load(self, file: ModuleFile) -> None:
        """Compile and validate a module.

        Raises:
            ModuleRefused: as `compile_module`.
        """
        if file.name not in self._modules:
            check_memory(file, self._limits)
            self._modules[file.name] = compile_module(self._engine, file)

    def bind(self, file: ModuleFile, limits: Limits, options: Sequence[int]) -> Run:
        """What evaluates the module under `limits`.

        Raises:
            ModuleRefused: it fails validation, or cannot start under these limits.
        """
        check_memory(file, limits)
        self.load(file)
        guest = _Guest(self._engine, self._clock, self._modules[file.name], limits, options)
        guest.probe()
        return guest.run

    def close(self) -> None:
        """Free the modules and the engine."""
        for compiled in self._modules.values():
            compiled.module.close()
        self._modules.clear()
        self._release()


class _Guest:
    def __init__(
        self,
        engine: wasmtime.Engine,
        clock: EpochClock,
        module: GuestModule,
        limits: Limits,
        options: Sequence[int],
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._module = module
        self._most_pages = module.most_pages(limits)
        self._limits = limits
        self._head = option_words(options)
        self._ticks = ticks(limits.deadline_ms)

    def probe(self) -> None:
        """Instantiate once, so that a module that cannot start is refused when it is loaded."""
        try:
            with self._store() as store:
                exports = wasmtime.Instance(store, self._module.module, []).exports(store)
                size = cast(wasmtime.Memory, exports[MEMORY]).data_len(store)
                request = _address(store, exports, REQUEST)
        except (wasmtime.WasmtimeError, wasmtime.Trap) as error:
            raise ModuleRefused(self._module.file.name, "instantiate", innermost(str(error))) from None
        self._module.check_request(request, size)

    def run(self, data: bytes) -> Outcome:
        """Evaluate `data`."""
        limits, clock = self._limits, self._clock
        with self._store() as store:
            exports = wasmtime.Instance(store, self._module.module, []).exports(store)
            memory = cast(wasmtime.Memory, exports[MEMORY])
            memory.write(store, self._head + data, _address(store, exports, REQUEST))
            store.set_fuel(limits.fuel + 1)
            clock.active = True
            if clock.resting:
                clock.wake()
            code: int | None = None
            try:
                packed = cast(wasmtime.Func, exports[EVALUATE])(store, len(data))
            except wasmtime.Trap as trap:
                packed, code = None, _trap_code(trap)
            except wasmtime.WasmtimeError:
                packed = None
            left = store.get_fuel()
            fuel = limits.fuel + 1 - left
            view = memoryview(memory.get_buffer_ptr(store)).cast("B")
            if not left:
                packed, code = None, OUT_OF_FUEL
            if packed is not None:
                return read_response(view, packed, len(data), limits.max_result_bytes, fuel)
            pages = memory.size(store)
            exhausted = pages > self._module.file.memory_pages and pages >= self._most_pages
            if self._module.reports_heap:
                exhausted |= heap_exhausted(view, _address(store, exports, HEAP))
            return failure_of_trap(code, limits, fuel, memory_exhausted=exhausted)

    def _store(self) -> wasmtime.Store:
        store = wasmtime.Store(self._engine)
        store.set_limits(
            memory_size=self._limits.memory_pages * PAGE_BYTES,
            table_elements=MAX_TABLE_ELEMENTS,
            instances=1,
            tables=MAX_TABLES,
            memories=1,
        )
        store.set_fuel(START_FUEL)
        store.set_epoch_deadline(self._ticks)
        return store


def _address(store: wasmtime.Store, exports: Mapping[str, Any], name: str) -> int:
    return int(exports[name].value(store)) & 0xFFFF_FFFF


def _trap_code(trap: wasmtime.Trap) -> int | None:
    try:
        code = trap.trap_code
    except ValueError:  # a code that this release's enumeration does not list
        return None
    return None if code is None else int(code.value)
