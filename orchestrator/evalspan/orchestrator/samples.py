"""Several samples of one prompt: it is decoded once, and each sample goes on from a copy of the sequence."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace

from evalspan.orchestrator.backend import Feed, ForkingEngine, Logits
from evalspan.orchestrator.batch import Batch
from evalspan.orchestrator.errors import RequestError
from evalspan.orchestrator.events import Event
from evalspan.orchestrator.generating import Generating
from evalspan.orchestrator.requests import Request
from evalspan.orchestrator.sampling import SamplingParams

__all__ = ["SharedPrompt", "sampled"]


def sampled(request: Request, n: int) -> list[Request]:
    """The request once for each of `n` samples: sample i has the seed of the request plus i.

    Raises:
        RequestError: there is no sample, or all of them would be the same.
    """
    params = request.sampling or SamplingParams()
    if n < 1:
        raise RequestError(f"n must be 1 or more, got {n}")
    if n > 1 and params.temperature == 0:
        raise RequestError(f"{n} samples at temperature 0 are {n} times the same text: set a temperature")
    return [replace(request, sampling=replace(params, seed=params.seed + i)) for i in range(n)]


class SharedPrompt(Batch):
    """A batch of generations of one prompt, on an engine with two slots or more.

    The sequence that holds the prompt keeps a slot until the last of them begins, which takes it over.
    """

    def __init__(self, engine: ForkingEngine, waiting: Iterable[Generating], prompt: list[int]) -> None:
        self._left = deque(waiting)
        super().__init__(engine, ())
        self._forking = engine
        self._prompt = prompt
        self._source: int | None = None
        self._logits: Logits | None = None

    def run(self) -> Generator[tuple[int, Event], None, None]:
        """See `Batch.run`."""
        try:
            yield from super().run()
        finally:
            if self._source is not None:
                self._forking.close(self._source)

    def _admit(self) -> Iterator[tuple[int, Event]]:
        while self._left and (len(self._left) == 1 or len(self._running) < self._forking.slots - 1):
            generating = self._left.popleft()
            generating.begin()
            if cancelled := list(generating.cancelled()):
                yield from ((generating.index, event) for event in cancelled)
                continue
            sequence, logits = self._after_prompt()
            generating.has_read_prompt()
            self._running[sequence] = generating
            yield from self._told(sequence, generating.advance(logits, 0.0))

    def _after_prompt(self) -> tuple[int, Logits]:
        """A sequence that holds the prompt, and the logits after it."""
        if self._source is None or self._logits is None:
            self._source = self._forking.open()
            (self._logits,) = self._forking.decode([Feed(self._source, self._prompt)])
            if self._logits is None:
                raise ValueError("the engine gave no logits for a feed that wants them")
        if self._left:
            return self._forking.fork(self._source), self._logits
        sequence, self._source = self._source, None
        return sequence, self._logits
