"""Commands: each input on the standard input of a process of its own, with a time limit and a memory limit."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import tempfile
from contextlib import suppress
from typing import IO

from evalspan.conformance.fuzz.errors import FuzzError
from evalspan.conformance.fuzz.targets.modules import chosen_vocabulary
from evalspan.conformance.fuzz.targets.replies import ORACLES, Reply, ReplyTarget
from evalspan.conformance.fuzz.targets.target import Described, TargetSpec
from evalspan.conformance.generators import Sample

__all__ = ["CommandTarget"]

_MOST_OUTPUT_BYTES = 1024 * 1024
"""An answer is a line; a megabyte is a flood, and the process is ended by it."""

_READ_BYTES = 4096
"""Of an output, what is looked at."""

_REPORTS = (b"Traceback (most recent call last)", b"panicked at", b"AddressSanitizer", b"runtime error:", b"Assertion")
"""What runtimes write to standard error when a program is broken and not its input."""


class CommandTarget(ReplyTarget):
    """A program and its arguments. Status 0 is a value, 1 to 125 an error that it declares by giving one."""

    def __init__(self, target: TargetSpec) -> None:
        """Start the program once, with an empty input.

        Raises:
            FuzzError: it cannot be started.
            GrammarNotationError: the user's grammar cannot be read.
        """
        self._target = target
        self.vocabulary = chosen_vocabulary(target)
        self.described = Described(f"{' '.join(target.command)} (command)", "us", list(ORACLES))
        self.ask(Sample(b"", {}))

    def ask(self, sample: Sample) -> Reply:
        """What the program answers."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as source:
            source.write(sample.data)
            source.seek(0)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            status = self._run(source, out, err)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = int((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e6)
            if status is None:
                return Reply("hang", "no answer", "", f"more than {self._target.seconds:g} s", used)
            out.seek(0)
            err.seek(0)
            text, report = out.read(_READ_BYTES), err.read(_READ_BYTES)
        return self._judged(status, text, report, used)

    def kind_of(self, answer: Reply) -> str:
        """How the process ended, and the first words that it wrote."""
        return f"{answer.kind} {answer.what} {answer.detail[:24]}"

    def cost_of(self, answer: Reply) -> int:
        """CPU time, in powers of two above a millisecond: starting a process is most of it."""
        return 0 if answer.microseconds < 1000 else 1 << answer.microseconds.bit_length()

    def close(self) -> None:
        """Nothing is held between inputs."""

    def shown(self, answer: Reply) -> str:
        """What the program wrote, quoted."""
        return repr(answer.detail)

    def _run(self, source: IO[bytes], out: IO[bytes], err: IO[bytes]) -> int | None:
        """The exit status, negative for a signal; None after the time limit."""
        try:
            process = subprocess.Popen(  # noqa: S603 - the command that the user named
                self._target.command,
                stdin=source,
                stdout=out,
                stderr=err,
                start_new_session=True,
                preexec_fn=self._limit,  # this process has one thread
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise FuzzError(f"{self._target.command[0]}: cannot be started: {error}") from None
        try:
            return process.wait(timeout=self._target.seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # what it started too
            process.wait()

    def _limit(self) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (self._target.memory_bytes, self._target.memory_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_OUTPUT_BYTES, _MOST_OUTPUT_BYTES))

    def _judged(self, status: int, text: bytes, report: bytes, used: int) -> Reply:
        last = report.strip().splitlines()[-1].decode("utf-8", "replace")[:200] if report.strip() else ""
        for mark in _REPORTS:
            if mark in report:
                return Reply("report", mark.decode(), "", last, used)
        if status < 0:
            return Reply("died", f"ended by {signal.Signals(-status).name}", "", last, used)
        if status > 125:  # what shells and runtimes use for a program that was killed or could not run
            return Reply("died", f"ended with status {status}", "", last, used)
        if status:
            return Reply("declared", f"status {status}", "", last, used)
        return Reply("value", "status 0", "", text[:200].decode("utf-8", "replace"), used)
