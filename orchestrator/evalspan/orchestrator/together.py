"""Generations that an engine works on at once: each asks for its next completion as soon as it knows it."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Protocol, TypeVar

from evalspan.orchestrator.backend import Chunk, Completion
from evalspan.orchestrator.errors import BackendError
from evalspan.orchestrator.events import Event

__all__ = ["Completing", "Starting", "Told", "together"]

_LOOK = 0.05  # seconds between looks at deadlines while nothing comes: unnoticed by people, and nothing to a CPU

Told = tuple[int, Event]
"""An event, and the index of its generation."""


_Asked_co = TypeVar("_Asked_co", covariant=True)
_Asked_contra = TypeVar("_Asked_contra", contravariant=True)
_Asked = TypeVar("_Asked")


class Starting(Protocol[_Asked_contra]):
    """An engine that works on several requests at once."""

    @property
    def connections(self) -> int:
        """How many."""
        ...

    def start(self, request: _Asked_contra, /) -> Completion:
        """Begin a completion."""
        ...


class Completing(Protocol[_Asked_co]):
    """One generation, of one completion or more: `Resuming` and `Reading` say what each of these does."""

    @property
    def index(self) -> int: ...
    @property
    def paused(self) -> bool: ...
    @property
    def over(self) -> bool: ...
    def begin(self) -> None: ...
    def request(self) -> _Asked_co: ...
    def take(self, chunk: Chunk | None, /) -> Iterator[Event]: ...
    def wait(self) -> Iterator[Event]: ...
    def lost(self) -> Iterator[Event]: ...


def together(
    engine: Starting[_Asked], waiting: Iterator[Completing[_Asked] | list[Told]]
) -> Generator[Told, None, None]:
    """Yield the events of all as they happen; closing the iterator cancels every request.

    Generations are taken from `waiting` one by one, as the engine has room; events in their place are told at once.

    Raises:
        BackendError: the engine fails; after the events of what that generation had received.
    """
    running: dict[Future[Chunk | None], tuple[Completing[_Asked], Completion]] = {}

    def ask(resuming: Completing[_Asked], completion: Completion) -> None:
        running[completion.receive()] = (resuming, completion)

    try:
        while True:
            while len(running) < engine.connections and (taken := next(waiting, None)) is not None:
                if isinstance(taken, list):
                    yield from taken
                else:
                    taken.begin()
                    ask(taken, engine.start(taken.request()))
            if not running:
                return
            done, _ = wait(running, _LOOK, FIRST_COMPLETED)
            for future in [future for future in running if future in done] or list(running):
                resuming, completion = running[future]
                events, failed = _advance(resuming, future if future in done else None)
                del running[future]
                # Before the events: who reads them may take long, and the engine need not wait.
                if resuming.paused:
                    completion.close()
                    if not resuming.over:
                        ask(resuming, engine.start(resuming.request()))
                elif future in done:
                    ask(resuming, completion)
                else:
                    running[future] = (resuming, completion)
                yield from ((resuming.index, event) for event in events)
                if failed is not None:
                    raise failed
    finally:
        for _, completion in running.values():
            completion.close()


def _advance(
    resuming: Completing[_Asked], future: Future[Chunk | None] | None
) -> tuple[list[Event], BackendError | None]:
    """The events of what has come, if anything, and the error of the engine."""
    if future is None:
        return list(resuming.wait()), None
    try:
        return list(resuming.take(future.result())), None
    except BackendError as error:  # of the completion, or of a question about a forced text
        return list(resuming.lost()), error
