"""Host targets: a subject in a child process, as a target of the fuzzer."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from evalspan.conformance.fuzz.complaint import Complaint
from evalspan.conformance.fuzz.host.child import Child, HostReply
from evalspan.conformance.fuzz.host.subjects import SUBJECTS, host_name
from evalspan.conformance.fuzz.host.vocabulary import host_vocabulary
from evalspan.conformance.fuzz.targets.replies import ENDS, complaint
from evalspan.conformance.fuzz.targets.target import Described, TargetSpec
from evalspan.conformance.generators import Sample

__all__ = ["MEMORY_BYTES", "ORACLES", "HostTarget"]

MEMORY_BYTES = 256 * 1024 * 1024
"""What reading an input may add to the memory of a process that has read one before."""

ORACLES = {
    "exception": "only errors of evalspan's own",
    "message": "the text of an error is one printable line",
    "disagreement": "two ways to one answer agree, and it keeps what is promised",
    "hang": "an answer within the limit on CPU time",
    "memory": "no more memory than the limit",
    "died": "the process lives",
}
"""The oracles by name, and what each holds."""


class HostTarget:
    """A reader of evalspan's. The processes are started anew where they die or must be ended."""

    def __init__(self, target: TargetSpec) -> None:
        """Start the process that the search is done with.

        Raises:
            FuzzError: there is no such target, or its process ends.
        """
        self._name = host_name(target.name)
        self._target = target
        self._folder = tempfile.TemporaryDirectory(prefix="evalspan-fuzz-", ignore_cleanup_errors=True)
        self._started = 0
        self._children: dict[bool, Child] = {}
        self._known: set[int] = set()
        self._news = 0
        self.described = Described(f"{target.name}: {SUBJECTS[self._name].title}", "us", tuple(ORACLES))
        self.vocabulary = host_vocabulary(self._name)
        try:
            self._child(cover=True)
        except BaseException:
            self._folder.cleanup()
            raise

    def ask(self, sample: Sample) -> HostReply:
        """What became of an input, with the lines that it reached."""
        reply = self._ask(sample.data, cover=True)
        if reply.kind in ENDS:
            plain = self._ask(sample.data, cover=False)  # following the lines takes time and memory itself
            if plain.kind not in ENDS:
                return plain
        return reply

    def kind_of(self, answer: HostReply) -> str:
        """What became of it and where; with a word of its own where it reached a line that none had reached."""
        kind = f"{answer.kind} {answer.what} {answer.where}"
        fresh = set(answer.lines) - self._known
        if not fresh:
            return kind
        self._known |= fresh
        self._news += 1
        return f"{kind} {_letters(self._news)}"

    def cost_of(self, answer: HostReply) -> int:
        """CPU time, in steps of microseconds to the power of two above 128: less is noise."""
        return 0 if answer.microseconds < 128 else 1 << answer.microseconds.bit_length()

    def check(self, sample: Sample, answer: HostReply, turn: int) -> Iterator[Complaint]:
        """What the oracles object to."""
        if answer.kind in ORACLES:
            yield complaint(answer.kind, answer.what, answer.where, answer.detail)

    def complaints(self, sample: Sample, oracle: str | None = None) -> Iterator[Complaint]:
        """Ask an input and all oracles, or one of them, without following lines."""
        answer = self._ask(sample.data, cover=False)
        if answer.kind in ORACLES and oracle in (None, answer.kind):
            yield complaint(answer.kind, answer.what, answer.where, answer.detail)

    def close(self) -> None:
        """End the processes, and take their folders away."""
        for child in self._children.values():
            child.close()
        self._children.clear()
        self._folder.cleanup()

    def _ask(self, data: bytes, *, cover: bool) -> HostReply:
        child = self._child(cover=cover)
        reply = child.ask(data)
        if reply is None:
            reply = child.ended()
        if reply.kind in ENDS:  # memory is not given back
            del self._children[cover]
            child.close()
        return reply

    def _child(self, *, cover: bool) -> Child:
        child = self._children.get(cover)
        if child is None:
            self._started += 1
            folder = Path(self._folder.name, str(self._started))
            folder.mkdir()
            limits = {"seconds": self._target.seconds, "memory": min(self._target.memory_bytes, MEMORY_BYTES)}
            child = self._children[cover] = Child(self._name, folder, cover=cover, **limits)  # type: ignore[arg-type]
        return child


def _letters(number: int) -> str:
    """A number in letters: digits count for nothing in the kind of an answer."""
    word = ""
    while number:
        number, digit = divmod(number, 26)
        word += chr(ord("a") + digit)
    return word
