"""Python callables, each input in a child process with a time limit and a memory limit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from evalspan.conformance.fuzz.errors import FuzzError
from evalspan.conformance.fuzz.pipes import Pipes
from evalspan.conformance.fuzz.targets import python_main
from evalspan.conformance.fuzz.targets.modules import chosen_vocabulary
from evalspan.conformance.fuzz.targets.replies import ORACLES, Reply, ReplyTarget
from evalspan.conformance.fuzz.targets.target import Described, TargetSpec
from evalspan.conformance.generators import Sample

__all__ = ["PythonTarget"]

_START_SECONDS = 60.0
"""An import may take seconds, and a machine that swaps more."""


class PythonTarget(ReplyTarget):
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

    def close(self) -> None:
        """End the child."""
        self._end()

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
        self._pipes = Pipes()
        there, back = self._pipes.child_ends
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
            self._pipes.close()
            raise FuzzError(f"{command[0]}: cannot be started: {error.strerror}") from None
        finally:
            self._pipes.close_child_ends()
        try:
            answer = self._pipes.read(_START_SECONDS)
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
        answer = self._pipes.ask(data, seconds)
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
        self._pipes.close()
