"""The process of a Python target: imports a callable, limits itself, then answers inputs from a pipe.

It is run as a file by any Python from 3.8 on and imports nothing but the standard library, so that a target may live
in an environment of its own. Arguments: the target, bytes of memory to add, the declared exceptions separated by
commas, `text` or `bytes`, and the two descriptors of the pipes. An input is its length in four bytes and its bytes; an
answer is the length and a JSON object.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import struct
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

__all__ = ["main"]

_STDLIB = sysconfig.get_paths()["stdlib"]


def main(target: str, memory: str, allowed: str, form: str, read_from: str, write_to: str) -> None:
    """Serve until the pipe closes."""
    source, sink = os.fdopen(int(read_from), "rb"), os.fdopen(int(write_to), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):  # what a target prints is no answer
        os.dup2(nowhere, descriptor)
    try:
        function = _find(target)
    except BaseException as error:  # noqa: BLE001 - an import may end in anything
        _send(sink, {"ready": False, "why": f"{type(error).__name__}: {str(error)[:500]}"})
        return
    _limit(int(memory))
    _send(sink, {"ready": True})
    declared = frozenset(name for name in allowed.split(",") if name)
    while True:
        head = source.read(4)
        if len(head) < 4:
            return
        data = source.read(struct.unpack("<I", head)[0])
        _send(sink, _answer(function, data if form == "bytes" else data.decode("utf-8", "replace"), declared))


def _find(target: str) -> Callable[[Any], Any]:
    module, _, attribute = target.partition(":")
    found: Any = importlib.import_module(module)
    for name in attribute.split("."):
        found = getattr(found, name)
    if not callable(found):
        raise TypeError(f"{target} is not callable")
    return found  # type: ignore[no-any-return]


def _limit(memory: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # whatever an input makes it do, it writes no file
    try:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        used = 1 << 30
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = used + memory if hard == resource.RLIM_INFINITY else min(used + memory, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _answer(function: Callable[[Any], Any], argument: str | bytes, declared: frozenset[str]) -> dict[str, Any]:
    start = time.process_time_ns()
    try:
        value = function(argument)
        answer = {"kind": "value", "what": type(value).__name__, "where": "", "detail": _short(value)}
        del value
    except MemoryError as error:
        answer = {"kind": "memory", "what": "MemoryError", "where": _frame(error), "detail": _text(error)}
    except BaseException as error:  # noqa: BLE001 - SystemExit and KeyboardInterrupt are answers here too
        names = {name for cls in type(error).__mro__ for name in (cls.__name__, f"{cls.__module__}.{cls.__qualname__}")}
        answer = {
            "kind": "declared" if names & declared else "exception",
            "what": type(error).__name__,
            "where": _frame(error),
            "detail": _text(error),
        }
    return {**answer, "us": (time.process_time_ns() - start) // 1000}


def _frame(error: BaseException) -> str:
    """The innermost frame outside the standard library; the innermost of all where there is none."""
    trace, last, outside = error.__traceback__, "", ""
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename != __file__:
            last = f"{Path(code.co_filename).name}:{code.co_name}"
            if not code.co_filename.startswith(_STDLIB) or "site-packages" in code.co_filename:
                outside = last
        trace = trace.tb_next
    return outside or last


def _short(value: object) -> str:
    """What two runs must agree on, where it costs little: no value is ever written out in full."""
    if isinstance(value, int) and value.bit_length() >= 512:
        return ""
    if isinstance(value, (bool, int, float, complex, type(None))):
        return repr(value)
    return repr(value[:64]) if isinstance(value, (str, bytes)) else ""


def _text(error: BaseException) -> str:
    try:
        return " ".join(str(error).split())[:200]
    except BaseException:  # noqa: BLE001 - it is the target's own method
        return "its text cannot be made"


def _send(sink: BinaryIO, answer: dict[str, Any]) -> None:
    data = json.dumps(answer).encode()
    sink.write(struct.pack("<I", len(data)) + data)
    sink.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
