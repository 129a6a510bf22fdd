"""The process of a host target: opens a subject, limits itself, then runs inputs from a pipe.

Arguments: the subject's name, seconds of CPU time for one input, bytes of memory that may be added, `cover` or `plain`,
and the descriptors of the two pipes. An input is its length in four bytes and its bytes; an answer is the length and
a JSON object. Run in a folder of its own, where `trace` gets the frames of a process that ends.

The limit on CPU time is a timer of the kernel whose signal ends the process: it ends native code too. CPU time of the
whole process counts, so that a machine that is busy with other things does not make an input slow.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import signal
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from evalspan.conformance.fuzz.host.coverage import Coverage
from evalspan.conformance.fuzz.host.subject import Disagreement, Subject
from evalspan.conformance.fuzz.host.subjects import SUBJECTS, open_subject
from evalspan.conformance.fuzz.host.vocabulary import first_seed
from evalspan.policies import EvalspanError

__all__ = ["main"]

_MOST_ADDRESS_SPACE = 1 << 30  # what stops an input that would take all there is: four times what is allowed to stay
_MOST_FILE = 64 << 20  # the compiled modules of the cache are the largest files that are written
_MOST_MESSAGE = 2000  # characters; what a terminal shows as one error
_PACKAGE = f"{os.sep}evalspan{os.sep}"
_HARNESS = f"{os.sep}fuzz{os.sep}host{os.sep}"


def main(name: str, seconds: str, memory: str, mode: str, read_from: str, write_to: str) -> None:
    """Serve until the pipe closes."""
    source, sink = os.fdopen(int(read_from), "rb"), os.fdopen(int(write_to), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):  # native code writes its panics there
        os.dup2(nowhere, descriptor)
    trace = Path("trace").open("wb", buffering=0)  # noqa: SIM115 - open as long as the process
    faulthandler.enable(trace, all_threads=True)
    faulthandler.register(signal.SIGPROF, trace, all_threads=True, chain=True)
    try:
        subject = open_subject(name)
    except Exception as error:  # noqa: BLE001 - whatever an import ends in
        _send(sink, {"ready": False, "why": f"{type(error).__name__}: {error}"})
        return
    with suppress(Exception):  # whatever is made once is made here, and is no memory of an input
        subject.run(first_seed(name) if name in SUBJECTS else b"")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _soften(resource.RLIMIT_FSIZE, _MOST_FILE)
    _soften(resource.RLIMIT_AS, _address_space() + _MOST_ADDRESS_SPACE)
    child = _Child(subject, float(seconds), int(memory), Coverage() if mode == "cover" else None)
    _send(sink, {"ready": True})
    while len(head := source.read(4)) == 4:
        data = source.read(struct.unpack("<I", head)[0])
        _send(sink, child.answer(data))


class _Child:
    def __init__(self, subject: Subject, seconds: float, memory: int, coverage: Coverage | None) -> None:
        self._subject = subject
        self._seconds = seconds
        self._memory = memory
        self._coverage = coverage
        self._base = _peak()

    def answer(self, data: bytes) -> dict[str, Any]:
        began = time.process_time_ns()
        signal.setitimer(signal.ITIMER_PROF, self._seconds)
        try:
            if self._coverage is None:
                answer = self._run(data)
            else:
                with self._coverage:
                    answer = self._run(data)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        answer["us"] = (time.process_time_ns() - began) // 1000
        answer["lines"] = [] if self._coverage is None else self._coverage.take_fresh()
        added = _peak() - self._base
        if added > self._memory and answer["kind"] in ("value", "refused"):
            answer |= {"kind": "memory", "where": "", "detail": f"{added >> 20} MiB more than before"}
        return answer

    def _run(self, data: bytes) -> dict[str, Any]:
        try:
            return {"kind": "value", "what": self._subject.run(data), "where": "", "detail": ""}
        except Disagreement as error:
            return {"kind": "disagreement", "what": error.cause, "where": "", "detail": _line(error.detail)}
        except EvalspanError as error:
            answer = {"kind": "refused", "what": type(error).__name__, "where": _frame(error, line=True), "detail": ""}
            if (fault := _fault_of_message(str(error))) is not None:
                where = _frame(error, line=False)
                answer = {"kind": "message", "what": f"{type(error).__name__} {fault}", "where": where}
                answer["detail"] = _line(str(error))
            return answer
        except MemoryError as error:
            return {"kind": "memory", "what": "MemoryError", "where": _frame(error, line=False), "detail": ""}
        except BaseException as error:  # noqa: BLE001 - a panic of native code is no Exception
            where = _frame(error, line=False)
            return {"kind": "exception", "what": type(error).__name__, "where": where, "detail": _line(str(error))}


def _fault_of_message(text: str) -> str | None:
    """What is wrong with the message of an error: it must be one line that a terminal can show."""
    if not text:
        return "says nothing"
    if not text.isprintable():
        return "is not one printable line"
    if len(text) > _MOST_MESSAGE:
        return "is too long"
    return None


def _frame(error: BaseException, *, line: bool) -> str:
    """The innermost frame of evalspan: `file:function`, or with its line, which tells more paths apart."""
    trace, found = error.__traceback__, ""
    while trace is not None:
        code = trace.tb_frame.f_code
        if _PACKAGE in code.co_filename and _HARNESS not in code.co_filename:
            found = f"{Path(code.co_filename).name}:{code.co_name}{f':{trace.tb_lineno}' if line else ''}"
        trace = trace.tb_next
    return found


def _line(text: str) -> str:
    return text[:200].encode("unicode_escape").decode()


def _peak() -> int:
    """The most memory that was resident so far, in bytes: of this program, not of the one that started it."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split(maxsplit=1)[0]) << 10
    except (OSError, IndexError, ValueError):
        scale = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale


def _address_space() -> int:
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 1 << 40  # where it is not known, no limit but the machine's


def _soften(which: int, most: int) -> None:
    _, hard = resource.getrlimit(which)
    limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(which, (limit, hard))


def _send(sink: BinaryIO, answer: dict[str, Any]) -> None:
    data = json.dumps(answer).encode()
    sink.write(struct.pack("<I", len(data)) + data)
    sink.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
