"""Reading the document as it is written: where it stands, and the values that are complete.

Each byte is read once, so the cost per token does not grow with the text, and looking up an input takes as long as its
pointer has steps and values. The mask has made sure that the text is JSON; nothing is checked here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from copy import copy, deepcopy
from dataclasses import dataclass
from typing import Any, Protocol

from evalspan.evaluators import Failure, Value
from evalspan.orchestrator.events import AssertionFailed, Event, FinishReason
from evalspan.orchestrator.grammar import Observed, Written
from evalspan.orchestrator.json.keywords import pointer
from evalspan.orchestrator.json.places import Path, shape
from evalspan.orchestrator.json.templates import Template

__all__ = ["Assertion", "Check", "JsonTracker", "Tracking"]

_STRING_STOP = re.compile(rb'["\\]')  # one character: it cannot backtrack
_NOTHING = Observed()


class Check(Protocol):
    """What is looked at once a value is complete. Hashable, equal where it does the same."""

    @property
    def stops(self) -> bool:
        """Whether its event ends the generation."""
        ...

    def check(self, tracker: JsonTracker, path: Path, written: Written) -> Event | None:
        """What there is to tell about the value at `path`."""
        ...


@dataclass(frozen=True, slots=True)
class Assertion:
    """What must hold once a value is complete; `holder` is how many steps lead to the object of its pointers."""

    evaluator: str
    template: Template
    holder: int
    stops: bool

    def check(self, tracker: JsonTracker, path: Path, written: Written) -> AssertionFailed | None:
        """See `Check.check`: the event where it does not hold for the value at `path`."""
        instance = self.template.instance(tracker, path[: self.holder])
        if isinstance(instance, Failure):
            return self._failed(path, "", instance, 0.0)
        outcome, microseconds = written.evaluate(self.evaluator, instance.encode())
        if isinstance(outcome, Value) and outcome.text == "true":
            return None
        return self._failed(path, instance, outcome, microseconds)

    def _failed(self, path: Path, text: str, outcome: Value | Failure, microseconds: float) -> AssertionFailed:
        if isinstance(outcome, Value):
            answer = outcome.text
        else:
            answer = f"{outcome.code}: {outcome.message}" if outcome.message else str(outcome.code)
        steps = [step for step in path if step is not None]
        return AssertionFailed(pointer(*steps), self.evaluator, text, answer, outcome.fuel, microseconds)


@dataclass(frozen=True, slots=True)
class Tracking:
    """The checks of a schema, each with the path whose completion it waits for."""

    checks: tuple[tuple[Path, Check], ...]

    def start(self) -> JsonTracker:
        """A tracker for a new document."""
        waiting: dict[Path, list[Check]] = {}
        for path, check in self.checks:
            waiting.setdefault(path, []).append(check)
        return JsonTracker(waiting)


class JsonTracker:
    """One document on its way. Containers are dicts and lists, and every other value is its JSON text."""

    def __init__(self, waiting: Mapping[Path, list[Check]] | None = None) -> None:
        self._waiting = waiting or {}
        self._stack: list[dict[str, Any] | list[Any]] = []
        self._path: list[Any] = []
        self._scalar = bytearray()
        self._in_string = False
        self._escaped = False
        self._root: Any = None

    @property
    def path(self) -> Path:
        """Where the next byte belongs: after a name and its colon, that of its value."""
        return tuple(self._path)

    def values(self, base: Path, steps: Path) -> list[str]:
        """See `Document.values`."""
        found = [self._root]
        for step in (*base, *steps):
            if step is None:
                found = [item for array in found for item in array]
            else:
                found = [value[int(step) if isinstance(value, list) else step] for value in found]
        return found

    def read(self, data: bytes, written: Callable[[], Written]) -> Observed:
        """See `Observer.read`. A number or word is complete with the byte that follows it."""
        events: list[Event] = []
        stop: FinishReason | None = None
        for path in self._complete(data):
            for check in self._waiting.get(shape(path), ()):
                event = check.check(self, path, written())
                if event is not None:
                    events.append(event)
                    if check.stops:
                        stop = "assertion_failed"
        return Observed(tuple(events), stop) if events else _NOTHING

    def fork(self) -> JsonTracker:
        """See `Observer.fork`. As long as the document, as its containers are copied."""
        twin = copy(self)
        twin._root, twin._stack = deepcopy((self._root, self._stack))  # together: the stack holds parts of the root
        twin._path = list(self._path)
        twin._scalar = bytearray(self._scalar)
        return twin

    def _complete(self, data: bytes) -> Iterator[Path]:
        """Take the bytes; yield the path of each value as it becomes complete."""
        at, size = 0, len(data)
        while at < size:
            if self._in_string:
                at = self._string(data, at)
                continue
            byte = data[at]
            at += 1
            if byte == 0x22:  # "
                self._scalar += b'"'
                self._in_string = True
            elif byte in b"{[":
                self._open({} if byte == 0x7B else [])
            elif byte in b"}]":
                yield from self._end_scalar()
                self._stack.pop()
                self._path.pop()
                yield self.path
            elif byte == 0x2C:  # ,
                yield from self._end_scalar()
                if isinstance(self._stack[-1], list):
                    self._path[-1] += 1
            elif byte == 0x3A:  # :
                self._path[-1] = json.loads(self._scalar)
                self._scalar.clear()
            elif byte not in b" \t\n\r":
                self._scalar.append(byte)

    def _string(self, data: bytes, at: int) -> int:
        """Read on inside a string, from `at`; answers where it was left or the data ended."""
        if self._escaped:
            self._scalar.append(data[at])
            self._escaped = False
            return at + 1
        found = _STRING_STOP.search(data, at)
        end = len(data) if found is None else found.end()
        self._scalar += data[at:end]
        if found is not None:
            self._escaped = data[end - 1] == 0x5C
            self._in_string = self._escaped
        return end

    def _open(self, container: dict[str, Any] | list[Any]) -> None:
        self._put(container)
        self._stack.append(container)
        self._path.append(None if isinstance(container, dict) else 0)

    def _end_scalar(self) -> Iterator[Path]:
        if self._scalar:
            self._put(self._scalar.decode())
            self._scalar.clear()
            yield self.path

    def _put(self, value: Any) -> None:
        if not self._stack:
            self._root = value
        elif isinstance(top := self._stack[-1], dict):
            top[self._path[-1]] = value
        else:
            top.append(value)
