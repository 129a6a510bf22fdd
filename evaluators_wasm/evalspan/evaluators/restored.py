"""An audited module on the fast path: one instance, whose memory is restored before each evaluation.

That is stateless for a module that ships with evalspan: it keeps state in memory only (no mutable global but the
stack pointer, which every return restores, and no table that it writes), and what it writes lies below the end
of its heap, which it reports. An instance that trapped, or whose memory grew, is thrown away.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import wasmtime

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

__all__ = ["RestoredGuest"]

_EVALUATE, _MEMORY, _REQUEST, _HEAP = (name.encode() for name in (EVALUATE, MEMORY, REQUEST, HEAP))


class _Instance:
    """A live instance and the addresses in it. Closing the store frees it."""

    def __init__(self, engine: wasmtime.Engine, module: GuestModule, limits: Limits, frame: Frame) -> None:
        api = frame.api
        self.store = wasmtime.Store(engine)
        self.store.set_limits(
            memory_size=limits.memory_pages * PAGE_BYTES,
            table_elements=MAX_TABLE_ELEMENTS,
            instances=1,
            tables=MAX_TABLES,
            memories=1,
        )
        self.store.set_fuel(START_FUEL)
        self.store.set_epoch_deadline(ticks(limits.deadline_ms))
        self.context = api.context_of(self.store)
        frame.instantiate(self.context, module.address)
        self._function = ctypes.create_string_buffer(EXTERN_BYTES)
        self._memory = ctypes.create_string_buffer(EXTERN_BYTES)
        self.function = frame.export(self.context, _EVALUATE, ctypes.addressof(self._function))
        self.memory = frame.export(self.context, _MEMORY, ctypes.addressof(self._memory))
        self.request = frame.address(self.context, _REQUEST)
        self.size = api.memory_bytes(self.context, self.memory)
        base = api.memory_data(self.context, self.memory)
        self.view = api.memory_view(base, self.size)
        self.heap = frame.address(self.context, _HEAP)
        if self.heap + 8 > self.size:
            raise StartError(f"export {HEAP!r} is outside memory")
        self.highest = ctypes.c_uint32.from_address(base + self.heap)


class RestoredGuest:
    """Evaluates with a module under one set of limits. For one thread."""

    def __init__(
        self,
        engine: wasmtime.Engine,
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
        self._ticks = ticks(limits.deadline_ms)
        self._fuel = limits.fuel + 1
        self._max_text = limits.max_result_bytes
        self._live: _Instance | None = None
        check_memory(module.file, limits)
        try:
            live = self._live = _Instance(engine, module, limits, frame)
        except StartError as error:
            raise ModuleRefused(module.file.name, "instantiate", str(error)) from None
        module.check_request(live.request, live.size)
        image = bytearray(live.view)
        head = option_words(options)
        image[live.request : live.request + len(head)] = head
        self._input = live.request + len(head)
        self._image = memoryview(bytes(image))
        self._dirty = live.size

    def run(self, data: bytes) -> Outcome:
        """Evaluate `data`."""
        frame, clock = self._frame, self._clock
        api = frame.api
        live = self._live
        if live is None:
            try:
                live = _Instance(self._engine, self._module, self._limits, frame)
            except StartError as reason:
                return Failure(ErrorCode.INTERNAL, f"the evaluator did not start: {reason}"[:200])
            self._dirty = live.size
        self._live = None  # only a clean end puts it back, whatever exception comes between
        view, context, dirty, at = live.view, live.context, self._dirty, self._input
        view[:dirty] = self._image[:dirty]
        view[at : at + len(data)] = data
        frame.put(len(data))
        api.set_fuel(context, self._fuel)
        api.set_deadline(context, self._ticks)
        clock.active = True
        if clock.resting:
            clock.wake()
        error = api.call(context, live.function, frame.values_at, 1, frame.trap_at)
        api.get_fuel(context, frame.fuel_at)
        left = frame.fuel.value
        fuel = self._fuel - left
        size = api.memory_bytes(context, live.memory)
        if error is None and frame.trap.value is None and left:
            if size == live.size:
                self._dirty = live.highest.value or size
                outcome = read_response(view, frame.result.value, len(data), self._max_text, fuel)
                self._live = live
                return outcome
            view = api.memory_view(api.memory_data(context, live.memory), size)
            outcome = read_response(view, frame.result.value, len(data), self._max_text, fuel)
        else:
            code = frame.take_failure(error)
            exhausted = heap_exhausted(view, live.heap)
            outcome = failure_of_trap(code if left else OUT_OF_FUEL, self._limits, fuel, memory_exhausted=exhausted)
        live.store.close()
        return outcome

    def close(self) -> None:
        """Free the instance."""
        live, self._live = self._live, None
        if live is not None:
            live.store.close()
