"""wasmtime's C functions as function objects of our own: the package's Python layer costs 30 us a call.

The functions are a stable C API; the layout of its handles is taken from the package, so that both are of one
release. Nothing here checks a type: the callers validated the module's exports when they loaded it.
"""

from __future__ import annotations

import ctypes
from typing import Any

import wasmtime
from wasmtime import _ffi as ffi

from evalspan.evaluators.traps import innermost

__all__ = [
    "EXTERN_BYTES",
    "GLOBAL_OFFSET",
    "HANDLE_OFFSET",
    "INSTANCE_BYTES",
    "VALUE_BYTES",
    "CApi",
    "pooled",
]

EXTERN_BYTES = ctypes.sizeof(ffi.wasmtime_extern_t)
INSTANCE_BYTES = ctypes.sizeof(ffi.wasmtime_instance_t)
VALUE_BYTES = max(ctypes.sizeof(ffi.wasmtime_val_raw_t), ctypes.sizeof(ffi.wasmtime_val_t))
HANDLE_OFFSET = int(ffi.wasmtime_extern_t.of.offset)
"""Where in an export the handle of its function or memory lies."""
GLOBAL_OFFSET = int(ffi.wasmtime_val_t.of.offset)
"""Where in a value the number lies."""

_POINTER = ctypes.c_void_p
_SIZE = ctypes.c_size_t
_U64 = ctypes.c_uint64
_I64 = ctypes.c_int64
_LIMIT = ctypes.c_int64

_PYBUF_WRITE = 0x200  # of CPython's object.h: a memoryview that may be written
_KEEP_RESIDENT_BYTES = 131_072
"""Memory that a slot zeroes by hand between instances: cheaper than a system call up to about two pages."""


def _function(name: str, result: Any, *arguments: Any, releases_gil: bool = False) -> Any:
    # Only the guest's own code runs long: for the rest, handing the interpreter over costs more than it gives.
    kind = ctypes.CFUNCTYPE if releases_gil else ctypes.PYFUNCTYPE
    library: Any = ffi.dll
    return kind(result, *arguments)((name, library))


class CApi:
    """The C functions, addresses as integers; those that may fail return the address of an error, or None."""

    def __init__(self) -> None:
        self.store_new = _function("wasmtime_store_new", _POINTER, _POINTER, _POINTER, _POINTER)
        self.store_delete = _function("wasmtime_store_delete", None, _POINTER)
        self.store_context = _function("wasmtime_store_context", _POINTER, _POINTER)
        self.store_limiter = _function("wasmtime_store_limiter", None, _POINTER, _LIMIT, _LIMIT, _LIMIT, _LIMIT, _LIMIT)
        self.set_fuel = _function("wasmtime_context_set_fuel", _POINTER, _POINTER, _U64)
        self.get_fuel = _function("wasmtime_context_get_fuel", _POINTER, _POINTER, _POINTER)
        self.set_deadline = _function("wasmtime_context_set_epoch_deadline", None, _POINTER, _U64)
        self.instance_new = _function(
            "wasmtime_instance_new", _POINTER, _POINTER, _POINTER, _POINTER, _SIZE, _POINTER, _POINTER
        )
        self.export_get = _function(
            "wasmtime_instance_export_get", ctypes.c_bool, _POINTER, _POINTER, ctypes.c_char_p, _SIZE, _POINTER
        )
        self.memory_data = _function("wasmtime_memory_data", _POINTER, _POINTER, _POINTER)
        self.memory_bytes = _function("wasmtime_memory_data_size", _SIZE, _POINTER, _POINTER)
        self.global_get = _function("wasmtime_global_get", None, _POINTER, _POINTER, _POINTER)
        self.call = _function(
            "wasmtime_func_call_unchecked",
            _POINTER,
            _POINTER,
            _POINTER,
            _POINTER,
            _SIZE,
            _POINTER,
            releases_gil=True,
        )
        self.trap_code = _function("wasmtime_trap_code", ctypes.c_bool, _POINTER, _POINTER)
        self.trap_delete = _function("wasm_trap_delete", None, _POINTER)
        self.error_message = _function("wasmtime_error_message", None, _POINTER, _POINTER)
        self.error_delete = _function("wasmtime_error_delete", None, _POINTER)
        self.view = ctypes.PYFUNCTYPE(ctypes.py_object, _POINTER, ctypes.c_ssize_t, ctypes.c_int)(
            ("PyMemoryView_FromMemory", ctypes.pythonapi)
        )

    def context_of(self, store: wasmtime.Store) -> int:
        """Address of a store's context; valid until the store is closed."""
        return ctypes.cast(store._context(), ctypes.c_void_p).value or 0

    def memory_view(self, address: int, size: int) -> memoryview:
        """A writable view of linear memory; it must not outlive the store, nor a growth that moves memory."""
        view: memoryview = self.view(address, size, _PYBUF_WRITE)
        return view

    def take_error(self, error: int) -> str:
        """The innermost cause of an error, which is freed."""
        message = ffi.wasm_byte_vec_t()
        self.error_message(error, ctypes.addressof(message))
        try:
            return innermost(ctypes.string_at(message.data, message.size).decode(errors="replace"))
        finally:
            ffi.wasm_byte_vec_delete(ctypes.byref(message))
            self.error_delete(error)


def pooled(config: wasmtime.Config, memory_bytes: int, tables: int, table_elements: int, slots: int) -> None:
    """Make `config` allocate instances from a pool of `slots`, each with one memory of at most `memory_bytes`."""
    pool = ffi.wasmtime_pooling_allocation_config_new()
    try:
        for setting, value in (
            ("total_core_instances", slots),
            ("total_memories", slots),
            ("total_tables", slots * tables),
            ("total_stacks", 0),
            ("total_gc_heaps", 0),
            ("total_component_instances", 0),
            ("max_memories_per_module", 1),
            ("max_memory_size", memory_bytes),
            ("max_tables_per_module", tables),
            ("table_elements", table_elements),
            ("linear_memory_keep_resident", _KEEP_RESIDENT_BYTES),
            ("table_keep_resident", _KEEP_RESIDENT_BYTES),
            ("max_unused_warm_slots", slots),
        ):
            getattr(ffi, f"wasmtime_pooling_allocation_config_{setting}_set")(pool, value)
        ffi.wasmtime_pooling_allocation_strategy_set(config.ptr(), pool)
    finally:
        ffi.wasmtime_pooling_allocation_config_delete(pool)
