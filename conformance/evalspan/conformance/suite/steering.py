"""Engines as they are, seen from outside: what they are fed and asked is written down, and a step engine is made to
sample the tokens of a script.

Steering changes the logits of a step after the engine has computed them: the mask, the sampler, the span machine and
the engine's own cache are the real ones.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import ClassVar

import numpy as np

from evalspan.orchestrator.backend import (
    Backend,
    BackendOptions,
    Chunk,
    Completion,
    CompletionRequest,
    ConcurrentEngine,
    Feed,
    Logits,
    Message,
    PromptText,
    RequestEngine,
    SpanEngine,
    Spelling,
    StepEngine,
    TextEngine,
    Tokenizer,
)
from evalspan.orchestrator.sampling import SamplingParams

__all__ = ["Lent", "Steered", "recorded"]

_WANTED, _END = 60.0, 30.0  # above the model's largest logit: nothing of its own is left, even at temperature 2


class Lent:
    """A backend whose engine is another one, and that is not shut down with the driver that it is lent to."""

    name: ClassVar[str] = "lent"
    description: ClassVar[str] = "a backend under test"

    def __init__(self, options: BackendOptions) -> None:
        raise TypeError("a backend under test is lent, not opened")

    @classmethod
    def of(cls, backend: Backend, engine: StepEngine | RequestEngine | SpanEngine | None = None) -> Lent:
        """That backend, with its own engine or this one."""
        lent = cls.__new__(cls)
        lent.name = backend.name  # type: ignore[misc]  # one name for a class, and here it is the backend's
        lent.engine = backend.engine if engine is None else engine
        lent.model = backend.model
        lent._backend = backend
        return lent

    engine: StepEngine | RequestEngine | SpanEngine
    model: str
    _backend: Backend

    @property
    def tokenizer(self) -> Tokenizer:
        """That of the backend, or its error."""
        return self._backend.tokenizer

    def shutdown(self) -> None:
        """Nothing: whoever lent it does it."""


class Steered:
    """A step engine whose sequences, in the order in which they are opened, want to say the tokens of their scripts.

    After its script a sequence wants to end; where the mask forbids what it wants, too. A sequence without a script
    (None) says what the model says. `fail_at` makes the step of that number raise what it answers.
    """

    def __init__(
        self,
        engine: StepEngine,
        scripts: Iterable[Sequence[int] | None],
        end: int,
        *,
        fail: Callable[[int], None] | None = None,
    ) -> None:
        self.context_tokens = engine.context_tokens
        self.slots = engine.slots
        self.fed: list[list[int]] = []
        """The tokens that each sequence was fed, prompt included."""
        self.calls: list[list[tuple[int, ...]]] = []
        """The same, feed by feed."""
        self.logits: list[list[Logits]] = []
        """The model's own logits at each place where a token of the sequence was sampled."""
        self.widest = 0
        """The most feeds that one step had."""
        self._engine = engine
        self._scripts = iter(scripts)
        self._end = end
        self._fail = fail
        self._steps = 0
        self._open: dict[int, int] = {}
        self._wanted: list[Sequence[int] | None] = []

    @property
    def running(self) -> int:
        """How many sequences are open."""
        return len(self._open)

    def open(self) -> int:
        sequence = self._engine.open()
        self._open[sequence] = len(self.fed)
        self.fed.append([])
        self.calls.append([])
        self.logits.append([])
        self._wanted.append(next(self._scripts, None))
        return sequence

    def decode(self, feeds: Sequence[Feed]) -> list[Logits | None]:
        if self._fail is not None:
            self._fail(self._steps)
        self._steps += 1
        self.widest = max(self.widest, len(feeds))
        for feed in feeds:
            index = self._open[feed.sequence]
            self.fed[index] += feed.tokens
            self.calls[index].append(tuple(feed.tokens))
        answers = self._engine.decode(feeds)
        return [
            logits if logits is None else self._steered(self._open[feed.sequence], logits)
            for feed, logits in zip(feeds, answers, strict=True)
        ]

    def close(self, sequence: int) -> None:
        del self._open[sequence]
        self._engine.close(sequence)

    def _steered(self, index: int, logits: Logits) -> Logits:
        at = len(self.logits[index])
        self.logits[index].append(logits.copy())
        script = self._wanted[index]
        if script is None:
            return logits
        peak = np.float32(np.max(logits, where=np.isfinite(logits), initial=-1e4))
        logits[self._end] = peak + np.float32(_END)
        logits[script[at] if at < len(script) else self._end] = peak + np.float32(_WANTED)
        return logits


class _Recorded:
    """A request engine; `requests` are those that it was given, `cancelled` how many were closed before their end."""

    def __init__(self, engine: RequestEngine) -> None:
        self.requests: list[CompletionRequest] = []
        self.cancelled = 0
        self._engine = engine

    @property
    def context_tokens(self) -> int:
        return self._engine.context_tokens

    def complete(self, request: CompletionRequest) -> Generator[Chunk, None, None]:
        self.requests.append(request)
        try:
            yield from self._engine.complete(request)
        except GeneratorExit:
            self.cancelled += 1
            raise


class _RecordedConcurrent(_Recorded):
    def __init__(self, engine: ConcurrentEngine) -> None:
        super().__init__(engine)
        self._concurrent = engine

    @property
    def connections(self) -> int:
        return self._concurrent.connections

    def start(self, request: CompletionRequest) -> Completion:
        self.requests.append(request)
        return self._concurrent.start(request)


class _Text:
    _text: TextEngine

    @property
    def digest(self) -> str:
        return self._text.digest

    def check(self, sampling: SamplingParams) -> None:
        self._text.check(sampling)

    def prompt(self, prompt: str | Sequence[Message]) -> PromptText:
        return self._text.prompt(prompt)

    def spell(self, text: bytes, context: bytes) -> Spelling:
        return self._text.spell(text, context)


class _RecordedText(_Text, _Recorded):
    def __init__(self, engine: TextEngine) -> None:
        super().__init__(engine)
        self._text = engine


class _RecordedConcurrentText(_Text, _RecordedConcurrent):
    def __init__(self, engine: ConcurrentEngine, text: TextEngine) -> None:
        super().__init__(engine)
        self._text = text


def recorded(engine: RequestEngine) -> _Recorded:
    """The engine, with all that it is asked for written down."""
    if isinstance(engine, ConcurrentEngine):
        return (
            _RecordedConcurrentText(engine, engine) if isinstance(engine, TextEngine) else _RecordedConcurrent(engine)
        )
    return _RecordedText(engine) if isinstance(engine, TextEngine) else _Recorded(engine)
