"""The `subprocess` runtime: the references in a warm, confined process behind a pipe."""

from __future__ import annotations

import os
import select
import struct
import subprocess
import sys
import time
import weakref
from collections.abc import Iterable, Sequence

from evalspan.evaluators.errors import EvaluatorUnavailable
from evalspan.evaluators.in_process import SPECS
from evalspan.evaluators.local import InProcessRuntime
from evalspan.evaluators.outcome import Failure, Outcome
from evalspan.evaluators.runtime import Description, Run
from evalspan.evaluators.wire import REPLY_HEAD, decode_reply, encode_request, read_exactly, reply_length
from evalspan.policies import ErrorCode, EvaluatorEntry, Limits

__all__ = ["SubprocessRuntime", "Worker"]

_START_SECONDS = 60.0
"""A worker imports Python and its references in 0.3 s; a machine that swaps takes longer."""


class Worker:
    """One worker process and its pipes. A worker that fails is dead; its owner starts another."""

    def __init__(self, specs: Sequence[str]) -> None:
        """Start a process and wait until it is confined.

        Raises:
            EOFError: it ended before that.
            TimeoutError: it took too long.
        """
        path = os.pathsep.join(part for part in sys.path if part)
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter and a module of this package
            [sys.executable, "-P", "-m", "evalspan.evaluators.worker_main", *specs],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PYTHONPATH": path},
            bufsize=0,
        )
        self._end = weakref.finalize(self, _end, self._process)
        assert self._process.stdin is not None and self._process.stdout is not None  # noqa: S101 - they are pipes
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._poll = select.poll()
        self._poll.register(self._from, select.POLLIN)
        self._until = 0.0
        self._until = time.monotonic() + _START_SECONDS
        (length,) = struct.unpack("<I", read_exactly(self._from, 4, self._wait))
        self.confinement = read_exactly(self._from, length, self._wait).decode()
        """How the process is confined: `rlimits` or `rlimits+seccomp`."""

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def ask(self, request: bytes, seconds: float) -> Outcome:
        """The answer to a request.

        Raises:
            TimeoutError: no answer within `seconds`.
            EOFError, OSError, ValueError: the process is gone, or what it answers is no reply.
        """
        self._until = time.monotonic() + seconds
        os.write(self._to, request)  # at most 16.5 KB, less than any pipe holds
        head = read_exactly(self._from, REPLY_HEAD.size, self._wait)
        return decode_reply(head + read_exactly(self._from, reply_length(head), self._wait))

    def close(self) -> None:
        """End the process."""
        self._end()

    def _wait(self) -> None:
        left = self._until - time.monotonic()
        if left <= 0 or not self._poll.poll(left * 1000):
            raise TimeoutError


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


class SubprocessRuntime:
    """Runs built-in evaluators in a worker, which is started when first needed. For one thread."""

    def __init__(self, entries: Iterable[EvaluatorEntry]) -> None:
        self._specs = tuple(
            dict.fromkeys(entry.builtin for entry in entries if entry.builtin is not None and entry.builtin in SPECS)
        )
        self._local = InProcessRuntime()
        self._worker: Worker | None = None

    @property
    def worker(self) -> Worker:
        """The worker that answers, started where there is none.

        Raises:
            EOFError, TimeoutError, OSError: it cannot be started.
        """
        if self._worker is None:
            self._worker = Worker(self._specs)
        return self._worker

    def describe(self, entry: EvaluatorEntry) -> Description:
        """Import a reference; see `Runtime.describe`."""
        return self._local.describe(entry)

    def bind(self, entry: EvaluatorEntry, limits: Limits, options: Sequence[int]) -> Run:
        """What evaluates a reference in the worker; see `Runtime.bind`."""
        self.describe(entry)
        index = self._specs.index(str(entry.builtin))
        seconds = limits.deadline_ms / 1000
        try:
            _ = self.worker
        except (EOFError, OSError) as error:
            raise EvaluatorUnavailable(entry.name, f"its process cannot be started: {error!r}") from None

        def run(data: bytes) -> Outcome:
            try:
                return self.worker.ask(encode_request(index, options, data), seconds)
            except TimeoutError:
                failure = Failure(ErrorCode.INTERNAL, f"the evaluation took more than {limits.deadline_ms} ms")
            except (EOFError, OSError, ValueError):
                failure = Failure(ErrorCode.INTERNAL, "the evaluator's process ended")
            except BaseException:
                self.close()  # an exception out of nowhere leaves the pipe between two messages
                raise
            self.close()
            return failure

        return run

    def close(self) -> None:
        """End the worker."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()
