"""Which lines of evalspan an input reached for the first time in a process: what guides the search."""

from __future__ import annotations

import os
import sys
import threading
import zlib
from types import CodeType, FrameType, TracebackType
from typing import Any

__all__ = ["Coverage"]

_IDLE_CALLS = 2000
"""Calls of one function in which nothing was new until it is traced no more: tracing makes it many times slower."""

_PACKAGE = f"{os.sep}evalspan{os.sep}"
_HARNESS = f"{os.sep}fuzz{os.sep}"


class Coverage:
    """Traces the lines of evalspan, the fuzzer excepted, while it is entered."""

    def __init__(self) -> None:
        self._seen: dict[CodeType, set[int]] = {}
        self._idle: dict[CodeType, int] = {}
        self._ours: dict[str, bool] = {}
        self._fresh: set[int] = set()

    def __enter__(self) -> None:
        threading.settrace(self._call)
        sys.settrace(self._call)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type,unused-ignore]  # whether it may be None is not agreed on

    def take_fresh(self) -> list[int]:
        """The lines since the last call that were new, each as a number that is the same in every process."""
        taken, self._fresh = self._fresh, set()
        return sorted(taken)

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        idle = self._idle.get(code)
        if idle is None:
            name = code.co_filename
            ours = self._ours.get(name)
            if ours is None:
                ours = self._ours[name] = _PACKAGE in name and _HARNESS not in name
            idle = self._idle[code] = 0 if ours else _IDLE_CALLS
        if idle >= _IDLE_CALLS:
            return None
        self._idle[code] = idle + 1
        self._line(frame, "line", None)
        return self._line

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        code, line = frame.f_code, frame.f_lineno
        seen = self._seen.get(code)
        if seen is None:
            seen = self._seen[code] = set()
        if line not in seen:
            seen.add(line)
            self._idle[code] = 0
            self._fresh.add(zlib.crc32(f"{code.co_filename}:{line}".encode()))
        return self._line
