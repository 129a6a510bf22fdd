"""Any module on the fast path: a new store and instance from the pool for each evaluation."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from evalspan.evaluators.abi import EVALUATE, HEAP, MEMORY, REQUEST, heap_exhausted, option_words, read_response
from evalspan.evaluators.capi import EXTERN_BYTES
from evalspan.evaluators.epochs import EpochClock, ticks
from evalspan.evaluators.errors import ModuleRefused
from evalspan.evaluators.frames import Frame, StartError
from evalspan.evaluators.guest import MAX_TABLE_ELEMENTS, MAX_TABLES, PAGE_BYTES, START_FUEL
from evalspan.evaluators.outcome import Failure, Outcome
from evalspan.evaluators.traps import OUT_OF_FUEL, failure_of_trap
from evalspan.evaluators.validation import GuestModule, check_memory
from evalspan.policies import ErrorCode, Limits

__all__ = ["FreshGuest"]

_EVALUATE, _MEMORY, _REQUEST, _HEAP = (name.encode() for name in (EVALUATE, MEMORY, REQUEST, HEAP))


class FreshGuest:
    """Evaluates with a module under one set of limits. For one thread."""

    def __init__(
        self,
        engine: int,
        module: GuestModule,
        limits: Limits,
        options: Sequence[int],
        frame: Frame,
        clock: EpochClock,
    ) -> None:
        self._engine = engine
        self._module = module
        self._limits = limits
        self._frame = frame
        self._clock = clock
        self._head = option_words(options)
        self._ticks = ticks(limits.deadline_ms)
        self._memory_bytes = limits.memory_pages * PAGE_BYTES
        self._max_bytes = module.most_pages(limits) * PAGE_BYTES
        self._memory_extern = ctypes.create_string_buffer(EXTERN_BYTES)
        self._memory_at = ctypes.addressof(self._memory_extern)
        self._store: int | None = None
        check_memory(module.file, limits)
        self._request = 0
        self._heap: int | None = None
        self._probe()

    def run(self, data: bytes) -> Outcome:
        """Evaluate `data`."""
        frame, limits, clock = self._frame, self._limits, self._clock
        api = frame.api
        try:
            store = self._store = api.store_new(self._engine, None, None)
            context = api.store_context(store)
            self._limit(store, context)
            frame.instantiate(context, self._module.address)
            memory = frame.export(context, _MEMORY, self._memory_at)
            function = frame.export(context, _EVALUATE, frame.extern_at)
            size = start = api.memory_bytes(context, memory)
            view = api.memory_view(api.memory_data(context, memory), size)
            payload = self._head + data
            at = self._request
            view[at : at + len(payload)] = payload
            frame.put(len(data))
            api.set_fuel(context, limits.fuel + 1)
            clock.active = True
            if clock.resting:
                clock.wake()
            error = api.call(context, function, frame.values_at, 1, frame.trap_at)
            api.get_fuel(context, frame.fuel_at)
            left = frame.fuel.value
            fuel = limits.fuel + 1 - left
            size = api.memory_bytes(context, memory)
            if size != start:
                view = api.memory_view(api.memory_data(context, memory), size)
            if error is None and frame.trap.value is None and left:
                return read_response(view, frame.result.value, len(data), limits.max_result_bytes, fuel)
            code = frame.take_failure(error)
            exhausted = size > start and size >= self._max_bytes
            if self._heap is not None:
                exhausted = exhausted or heap_exhausted(view, self._heap)
            return failure_of_trap(code if left else OUT_OF_FUEL, limits, fuel, memory_exhausted=exhausted)
        except StartError as error:
            return Failure(ErrorCode.INTERNAL, f"the evaluator did not start: {error}"[:200])
        finally:
            self._discard()

    def close(self) -> None:
        """Nothing is held between evaluations."""

    def _probe(self) -> None:
        """Instantiate once, so that a module that cannot start is refused when it is loaded."""
        frame, module = self._frame, self._module
        api = frame.api
        try:
            store = self._store = api.store_new(self._engine, None, None)
            context = api.store_context(store)
            self._limit(store, context)
            frame.instantiate(context, module.address)
            self._request = frame.address(context, _REQUEST)
            if module.reports_heap:
                self._heap = frame.address(context, _HEAP)
            size = api.memory_bytes(context, frame.export(context, _MEMORY, self._memory_at))
        except StartError as error:
            raise ModuleRefused(module.file.name, "instantiate", str(error)) from None
        finally:
            self._discard()
        module.check_request(self._request, size)

    def _limit(self, store: int, context: int) -> None:
        api = self._frame.api
        api.store_limiter(store, self._memory_bytes, MAX_TABLE_ELEMENTS, 1, MAX_TABLES, 1)
        api.set_fuel(context, START_FUEL)
        api.set_deadline(context, self._ticks)

    def _discard(self) -> None:
        store, self._store = self._store, None
        if store:
            self._frame.api.store_delete(store)
