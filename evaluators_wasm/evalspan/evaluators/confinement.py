"""Confinement of the worker process: resource limits, and on Linux a system call filter.

The filter allows what a computing Python needs (memory, its two pipes, time, exit); everything else fails with
EPERM, so that no file, socket, process or signal can be reached, whatever a reference does.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import resource
import signal
import struct
import sys
from pathlib import Path

__all__ = ["MEMORY_BYTES", "confine", "die_with_parent"]

MEMORY_BYTES = 64 * 1024 * 1024
"""Address space that evaluations may add to what the worker has after its imports."""

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_SECCOMP_MODE_FILTER = 2
_ALLOW, _DENY, _KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06  # BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_RET|K
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4  # in struct seccomp_data

# read write close mmap munmap mremap madvise brk futex rt_sigreturn rt_sigprocmask sigaltstack sched_yield
# clock_gettime clock_nanosleep getrandom exit exit_group restart_syscall
_ALLOWED = {
    "x86_64": (
        0xC000003E,
        (0, 1, 3, 9, 11, 25, 28, 12, 202, 15, 14, 131, 24, 228, 230, 318, 60, 231, 219),
    ),
    "aarch64": (
        0xC00000B7,
        (63, 64, 57, 222, 215, 216, 233, 214, 98, 139, 135, 132, 124, 113, 115, 278, 93, 94, 128),
    ),
}
"""By machine: its AUDIT_ARCH, and the numbers of the system calls above."""


def confine() -> str:
    """Confine this process for good, and say how: `rlimits` or `rlimits+seccomp`."""
    for limit, value in (
        (resource.RLIMIT_AS, _address_space() + MEMORY_BYTES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 3),
        (resource.RLIMIT_NPROC, 0),
    ):
        _, hard = resource.getrlimit(limit)
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(limit, (value, value))
    return "rlimits+seccomp" if _filter_system_calls() else "rlimits"


def die_with_parent() -> None:
    """Have the kernel end this process when the thread that started it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _address_space() -> int:
    """Bytes of address space in use; where the system does not say, twice what such a process takes."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 1024 * 1024 * 1024


def _filter_system_calls() -> bool:
    """Install the filter; False where the kernel or the machine has none."""
    if sys.platform != "linux" or platform.machine() not in _ALLOWED:
        return False
    architecture, numbers = _ALLOWED[platform.machine()]
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
        *((_EQUAL, len(numbers) - i, 0, number) for i, number in enumerate(numbers)),
        (_RETURN, 0, 0, _DENY),
        (_RETURN, 0, 0, _ALLOW),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(code)))
    prctl = ctypes.CDLL(None).prctl
    prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    if prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    return bool(prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program), 0, 0) == 0)
