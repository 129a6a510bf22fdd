"""The stack of the calling thread: guest frames live on it, and wasmtime does not know where it ends."""

from __future__ import annotations

import ctypes
import sys

__all__ = ["HOST_BYTES", "thread_stack_bytes"]

HOST_BYTES = 256 * 1024
"""Stack beside the guest's own: the interpreter, wasmtime's functions and the compiler."""

_ATTRIBUTE_BYTES = 256  # pthread_attr_t has 56 or 64 with glibc and musl


def thread_stack_bytes() -> int | None:
    """Size of the calling thread's stack, or None where the system does not say."""
    try:
        library = ctypes.CDLL(None)
        library.pthread_self.restype = ctypes.c_void_p
        this = ctypes.c_void_p(library.pthread_self())
        if sys.platform == "darwin":
            library.pthread_get_stacksize_np.restype = ctypes.c_size_t
            return int(library.pthread_get_stacksize_np(this))
        attributes = ctypes.create_string_buffer(_ATTRIBUTE_BYTES)
        if library.pthread_getattr_np(this, attributes) != 0:
            return None
    except (OSError, AttributeError):
        return None
    lowest, size = ctypes.c_void_p(), ctypes.c_size_t()
    try:
        if library.pthread_attr_getstack(attributes, ctypes.byref(lowest), ctypes.byref(size)) != 0:
            return None
        return size.value
    finally:
        library.pthread_attr_destroy(attributes)
