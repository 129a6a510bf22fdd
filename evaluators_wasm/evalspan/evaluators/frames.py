"""The buffers of a call through the C API: allocated once for each sandbox, used by one thread."""

from __future__ import annotations

import ctypes

from evalspan.evaluators.capi import EXTERN_BYTES, GLOBAL_OFFSET, HANDLE_OFFSET, INSTANCE_BYTES, VALUE_BYTES, CApi

__all__ = ["Frame", "StartError"]


class StartError(Exception):
    """A module that could not be instantiated; the text is wasmtime's innermost cause."""


class Frame:
    """Addresses of the buffers, and the numbers in them. A buffer keeps one meaning between two calls only."""

    def __init__(self, api: CApi) -> None:
        self.api = api
        self._values = ctypes.create_string_buffer(2 * VALUE_BYTES)
        self._instance = ctypes.create_string_buffer(INSTANCE_BYTES)
        self._extern = ctypes.create_string_buffer(EXTERN_BYTES)
        self.trap = ctypes.c_void_p()
        self.fuel = ctypes.c_uint64()
        self.values_at = ctypes.addressof(self._values)
        self.instance_at = ctypes.addressof(self._instance)
        self.extern_at = ctypes.addressof(self._extern)
        self.trap_at = ctypes.addressof(self.trap)
        self.fuel_at = ctypes.addressof(self.fuel)
        self.argument = ctypes.c_uint32.from_buffer(self._values)
        """The first argument of the next call, an i32."""
        self.result = ctypes.c_uint64.from_buffer(self._values)
        """The first result of the last call, an i64."""
        self._code = ctypes.c_uint8()

    def instantiate(self, context: int, module: int) -> None:
        """Make an instance of a module without imports; `export` then reads from it.

        Raises:
            StartError: wasmtime's reason.
        """
        api, trap = self.api, self.trap
        trap.value = None
        error = api.instance_new(context, module, None, 0, self.instance_at, self.trap_at)
        if error:
            raise StartError(api.take_error(error))
        if trap.value:
            raise StartError(f"trap code {self.take_failure(None)}")

    def export(self, context: int, name: bytes, into: int) -> int:
        """Read the export `name` into the buffer at `into`, and answer the address of its handle."""
        if not self.api.export_get(context, self.instance_at, name, len(name), into):
            raise StartError(f"there is no export {name!r}")
        return into + HANDLE_OFFSET

    def address(self, context: int, name: bytes) -> int:
        """The value of an exported i32 global."""
        handle = self.export(context, name, self.extern_at)
        self.api.global_get(context, handle, self.values_at)
        return ctypes.c_uint32.from_address(self.values_at + GLOBAL_OFFSET).value

    def put(self, length: int) -> None:
        """Make ready for a call with the input's length as its argument."""
        if self.trap.value is not None:  # an exception out of nowhere left it behind
            self.take_failure(None)
        self.argument.value = length

    def take_failure(self, error: int | None) -> int | None:
        """The code of the trap that the last call left; None for an `error`, or where there is no code.

        Trap and error are freed.
        """
        if error:
            self.api.error_delete(error)
        trap = self.trap.value
        if trap is None:
            return None
        self.trap.value = None
        code = self._code
        known = self.api.trap_code(trap, ctypes.addressof(code))
        self.api.trap_delete(trap)
        return code.value if known else None
