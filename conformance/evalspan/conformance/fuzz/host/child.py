"""The child process of a host target, seen from outside."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from evalspan.conformance.fuzz.errors import FuzzError
from evalspan.conformance.fuzz.pipes import Pipes

__all__ = ["Child", "HostReply"]

_START_SECONDS = 120.0
"""Imports and the first compilation of the modules take a second, on a machine with nothing else to do."""

_WAIT_SECONDS = 120.0
"""For an answer, in wall time: the limit is on CPU time, and this one is for a process that sleeps."""

_TRACED = re.compile(r'File "([^"]*/evalspan/[^"]*)", line \d+ in (\S+)')
"""A frame as faulthandler writes it."""


@dataclass(frozen=True, slots=True)
class HostReply:
    """What became of an input."""

    kind: str
    """`value`, `refused`, or the name of the oracle that objects."""
    what: str
    where: str = ""
    detail: str = ""
    microseconds: int = 0
    """CPU time."""
    lines: tuple[int, ...] = ()
    """Lines that were reached for the first time in that process."""


class Child:
    """One process with its pipes and a folder of its own."""

    def __init__(self, name: str, folder: Path, *, seconds: float, memory: int, cover: bool) -> None:
        """`folder` is there and empty; `seconds` of CPU time and bytes of added `memory` are for each input.

        Raises:
            FuzzError: the process ended before it could be asked.
        """
        self._folder = folder
        self._seconds = seconds
        self._pipes = Pipes()
        there, back = self._pipes.child_ends
        command = [sys.executable, "-m", "evalspan.conformance.fuzz.host.child_main", name, str(seconds), str(memory)]
        command += ["cover" if cover else "plain", str(there), str(back)]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(there, back),
                cwd=folder,
                env={**os.environ, **_environment(folder)},
                start_new_session=True,  # Ctrl-C is for the fuzzer
            )
        finally:
            self._pipes.close_child_ends()
        try:
            answer = self._pipes.read(_START_SECONDS)
        except (EOFError, TimeoutError, OSError):
            answer = {"ready": False, "why": "its process ended, or said nothing for two minutes"}
        if not answer["ready"]:
            self.close()
            raise FuzzError(f"host:{name}: cannot be opened: {answer['why']}") from None

    def ask(self, data: bytes) -> HostReply | None:
        """What became of an input; None where the process is gone or must be ended, and `ended` says how.

        The process is of no use after None.
        """
        try:
            answer = self._pipes.ask(data, _WAIT_SECONDS)
        except (EOFError, TimeoutError, OSError):
            return None
        lines = tuple(answer["lines"])
        return HostReply(answer["kind"], answer["what"], answer["where"], answer["detail"], answer["us"], lines)

    def ended(self) -> HostReply:
        """How the process ended."""
        microseconds = int(self._seconds * 1e6)
        try:
            status = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._kill()
            detail = f"no answer within {_WAIT_SECONDS:g} s of wall time"
            return HostReply("hang", "waits", "", detail, microseconds)
        where = self._traced()
        if status == -signal.SIGPROF:
            return HostReply("hang", "computes", where, f"more than {self._seconds:g} s of CPU time", microseconds)
        how = f"ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        return HostReply("died", how, where)

    def close(self) -> None:
        """End the process and all that it started."""
        self._kill()
        self._pipes.close()

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _traced(self) -> str:
        """The innermost frame of evalspan in the trace that the process left, of the thread that was at work."""
        try:
            text = self._folder.joinpath("trace").read_text("utf-8", "replace")
        except OSError:
            return ""
        threads = text.split("hread 0x")  # the first thread is the last in the trace, and does all but the clock's work
        current = [thread for before, thread in pairwise(threads) if before.endswith("Current t")]
        for thread in (*current, threads[-1]):
            for path, function in _TRACED.findall(thread):
                if "/fuzz/host/" not in path:
                    return f"{Path(path).name}:{function}"
        return ""


def _environment(folder: Path) -> Mapping[str, str]:
    """The same in every run, whatever the user has set; the cache is shared by the processes of a target."""
    return {"PYTHONHASHSEED": "0", "TMPDIR": str(folder), "EVALSPAN_CACHE": str(folder.parent / "cache")}
