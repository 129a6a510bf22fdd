"""Python callables, each input in a child process with a time limit and a memory limit."""

from __future__ import annotations

import json
import os
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from evalspan.conformance.fuzz.complaint import Complaint
from evalspan.conformance.fuzz.errors import FuzzError
from evalspan.conformance.fuzz.targets import python_main
from evalspan.conformance.fuzz.targets.modules import chosen_vocabulary
from evalspan.conformance.fuzz.targets.replies import ORACLES, Reply, complaints_about
from evalspan.conformance.fuzz.targets.target import Described, TargetSpec
from evalspan.conformance.generators import Sample

__all__ = ["PythonTarget"]

_START_SECONDS = 60.0
"""An import may take seconds, and a machine that swaps more."""

_AGAIN_EVERY = 16
"""Of so many inputs one is asked twice: a second run tells little where the first two agreed."""


class PythonTarget:
    """A callable that takes an input. The child is started anew when it dies or must be ended."""

    def __init__(self, target: TargetSpec) -> None:
        """Start the child and import the callable.

        Raises:
            FuzzError: it cannot be imported, or is not callable.
            GrammarNotationError: the user's grammar cannot be read.
        """
        self._target = target
        self._child: _Child | None = None
        self.vocabulary = chosen_vocabulary(target)
        names = [name for name in ORACLES if name != "report"]
        self.described = Described(f"{target.name} (Python)", "us", names)
        self._living()

    def ask(self, sample: Sample) -> Reply:
        """The answer of the callable."""
        child = self._living()
        try:
            return child.ask(sample.data, self._target.seconds)
        except TimeoutError:
            reply = Reply(
                "hang", "no answer", "", f"more than {self._target.seconds:g} s", int(self._target.seconds * 1e6)
            )
        except (EOFError, OSError, ValueError):
            reply = Reply("died", child.ended())
        self._end()
        return reply

    def kind_of(self, answer: Reply) -> str:
        """The type of the value or of the exception, and where it was raised."""
        return f"{answer.kind} {answer.what} {answer.where}"

    def cost_of(self, answer: Reply) -> int:
        """CPU time, in steps of two microseconds to the power of n above 64: less is noise."""
        return 0 if answer.microseconds < 64 else 1 << answer.microseconds.bit_length()

    def check(self, sample: Sample, answer: Reply, turn: int) -> Iterator[Complaint]:
        """What the oracles object to."""
        yield from complaints_about(answer)
        if turn % _AGAIN_EVERY == 0 and answer.kind in ("value", "declared"):
            yield from self._twice(sample, answer)

    def complaints(self, sample: Sample, oracle: str | None = None) -> Iterator[Complaint]:
        """Ask an input and all oracles, or one of them."""
        answer = self.ask(sample)
        for complaint in complaints_about(answer):
            if oracle in (None, complaint.oracle):
                yield complaint
        if oracle in (None, "two runs") and answer.kind in ("value", "declared"):
            yield from self._twice(sample, answer)

    def close(self) -> None:
        """End the child."""
        self._end()

    def _twice(self, sample: Sample, answer: Reply) -> Iterator[Complaint]:
        again = self.ask(sample)
        if again.kind in ("value", "declared") and again.same_as != answer.same_as:
            yield Complaint("two runs", f"{answer.what} then {again.what}", f"{answer.detail}, then {again.detail}")

    def _living(self) -> _Child:
        if self._child is None:
            self._child = _Child(self._target)
        return self._child

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.close()


class _Child:
    """One process and its pipes."""

    def __init__(self, target: TargetSpec) -> None:
        there, self._to = os.pipe()
        self._from, back = os.pipe()
        folders = (str(Path.cwd()), os.environ.get("PYTHONPATH", ""))
        # Only the standard library is imported there, so the file is enough: any Python will do.
        command = [target.python or sys.executable, str(Path(python_main.__file__)), target.name]
        command += [str(target.memory_bytes), ",".join(sorted(target.allow)), "bytes" if target.as_bytes else "text"]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the target that the user named
                [*command, str(there), str(back)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(there, back),
                start_new_session=True,  # Ctrl-C is for the fuzzer
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(part for part in folders if part),
                    "PYTHONHASHSEED": "0",
                },
            )
        except OSError as error:
            os.close(self._to)
            os.close(self._from)
            raise FuzzError(f"{command[0]}: cannot be started: {error.strerror}") from None
        finally:
            os.close(there)
            os.close(back)
        self._poll = select.poll()
        self._poll.register(self._from, select.POLLIN)
        try:
            answer = self._read(_START_SECONDS)
        except (EOFError, TimeoutError, OSError):
            self.close()
            raise FuzzError(f"{target.name}: its process ended while the target was imported") from None
        if not answer.get("ready"):
            self.close()
            raise FuzzError(f"{target.name}: cannot be imported: {answer.get('why')}")

    def ask(self, data: bytes, seconds: float) -> Reply:
        """The answer to an input.

        Raises:
            TimeoutError: there is none within `seconds`.
            EOFError, OSError, ValueError: the process is gone, or what it wrote is no answer.
        """
        os.write(self._to, struct.pack("<I", len(data)) + data)  # 16 KiB at most, less than any pipe holds
        answer = self._read(seconds)
        return Reply(answer["kind"], answer["what"], answer["where"], answer["detail"], answer["us"])

    def ended(self) -> str:
        """How the process ended."""
        try:
            status = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "closed its pipe"
        if status < 0:
            return f"ended by {signal.Signals(-status).name}"
        return f"ended with status {status}"

    def close(self) -> None:
        """End the process and all that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def _read(self, seconds: float) -> dict[str, Any]:
        until = time.monotonic() + seconds
        (length,) = struct.unpack("<I", self._exactly(4, until))
        answer: dict[str, Any] = json.loads(self._exactly(length, until))
        return answer

    def _exactly(self, count: int, until: float) -> bytes:
        data = b""
        while len(data) < count:
            left = until - time.monotonic()
            if left <= 0 or not self._poll.poll(left * 1000):
                raise TimeoutError
            part = os.read(self._from, count - len(data))
            if not part:
                raise EOFError
            data += part
        return data
