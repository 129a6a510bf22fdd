"""A backend under test, opened once, and how its model is made to write a script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Literal

from evalspan.backends.scripted import ScriptedBackend
from evalspan.conformance.suite.outcome import Unsupported
from evalspan.conformance.suite.said import Said
from evalspan.conformance.suite.scripts import ANSWERS, Script, suite_registry
from evalspan.conformance.suite.spelling import Spelling
from evalspan.conformance.suite.steering import Lent, Steered, recorded
from evalspan.orchestrator import Driver, Request, SamplingParams
from evalspan.orchestrator.backend import Backend, RequestEngine, SpanEngine, StepEngine, TextEngine
from evalspan.policies import Registry

__all__ = [
    "PROMPT",
    "PromptedSubject",
    "ReplaySubject",
    "SpanSubject",
    "StepSubject",
    "Subject",
    "chosen_subject",
    "replay_subject",
    "step_subject",
    "subject",
]

PROMPT = "Once upon a time"
"""A prompt for what depends on none."""


class Subject:
    """What requirements are asked of. `name` is the matrix's column."""

    level: Literal["step", "request", "span"]

    def __init__(self, name: str, backend: Backend) -> None:
        self.name = name
        self.backend = backend
        self.registry = suite_registry()
        self.observed: dict[str, dict[str, Any]] | None = None
        """What the script of all backends gave, once it was asked."""
        self._drivers: dict[str, tuple[Driver, Lent]] = {}
        """By the digest of the registry: preparing the masks of a real vocabulary takes half a second."""

    def at(self, level: str) -> Subject | None:
        """This backend as an engine of another level, where it has one."""
        return self if level == self.level else None

    def close(self) -> None:
        """Free the model."""
        for driver, _ in self._drivers.values():
            driver.close()
        self._drivers.clear()
        self.backend.shutdown()

    @contextmanager
    def driver(self, registry: Registry | None = None) -> Iterator[Driver]:
        """A driver on the backend with a registry, by default the suite's.

        Raises:
            Unsupported: the engine is started with one registry.
        """
        with self._lent(None, registry) as driver:
            yield driver

    @contextmanager
    def _lent(self, engine: Any, registry: Registry | None = None) -> Iterator[Driver]:
        """The driver of a registry, on another engine for as long."""
        chosen = registry or self.registry
        if chosen.digest not in self._drivers:
            lent = Lent.of(self.backend)
            self._drivers[chosen.digest] = Driver(lent, chosen), lent
        driver, lent = self._drivers[chosen.digest]
        before, lent.engine = lent.engine, engine or lent.engine
        try:
            yield driver
        finally:
            lent.engine = before

    @property
    def vocabulary(self) -> str:
        """The identity of the vocabulary, or of what is known of it."""
        engine = self.backend.engine
        return engine.digest if isinstance(engine, TextEngine) else self.backend.tokenizer.digest

    def say(self, script: Script, *, before: str = "", **options: Any) -> Said:
        """Make the model write a script; `before` comes first in the prompt.

        Raises:
            Unsupported: the model cannot be brought to it.
        """
        raise NotImplementedError

    @property
    def prompt(self) -> str:
        """A prompt after which the model says whatever it likes."""
        return PROMPT

    @property
    def warm(self) -> SamplingParams:
        """Sampling that leaves a choice."""
        return SamplingParams(temperature=1.0, seed=11)


class StepSubject(Subject):
    """A step engine: its tokens are chosen, with a mask that leaves one sentence or without."""

    level = "step"

    @cached_property
    def spelling(self) -> Spelling:
        """Its vocabulary."""
        return Spelling(self.backend.tokenizer)

    @property
    def effort(self) -> int:
        """How many ways of one thing are tried. A thousand steps of a script take a moment, and of a model a minute."""
        return 24 if isinstance(self.backend, ScriptedBackend) else 4

    def ways(self, data: bytes, *, crossing: bool = True) -> list[list[int]]:
        """Different ways to cut a text into tokens: the coarsest, the finest, others by chance."""
        return self.spelling.ways(data, self.effort, crossing=crossing)

    @property
    def engine(self) -> StepEngine:
        """The real engine."""
        engine = self.backend.engine
        if not isinstance(engine, StepEngine):
            raise TypeError("a step subject has a step engine")
        return engine

    @property
    def end(self) -> int:
        """A token that ends a generation."""
        return min(self.backend.tokenizer.eos_ids)

    def at(self, level: str) -> Subject | None:
        if level == "request" and isinstance(self.backend, ScriptedBackend):
            return ReplaySubject(self.name, self.backend)
        return super().at(level)

    def say(self, script: Script, *, before: str = "", **options: Any) -> Said:
        wanted = {"max_tokens": 400, "grammar": script.grammar, **options}
        return self.steer(None, before + PROMPT, **wanted)

    def steer(
        self,
        tokens: Sequence[int] | None,
        prompt: str = PROMPT,
        *,
        registry: Registry | None = None,
        **options: Any,
    ) -> Said:
        """A generation that wants to say these tokens (None: what the model says)."""
        engine = Steered(self.engine, [tokens], self.end)
        with self._lent(engine, registry) as driver:
            count = len(self.backend.tokenizer.encode_prompt(prompt))
            events = tuple(driver.stream(prompt, **options))
        return Said(events, tuple(engine.fed[0][count:]))

    def write(self, text: str | bytes, *, mode: str = "no-grammar", **options: Any) -> Said:
        """As `steer`, for a text in large tokens."""
        data = text.encode() if isinstance(text, str) else text
        return self.steer(self.spelling.uncrossed(data), mode=mode, **{"max_tokens": 400, **options})

    @contextmanager
    def steered(
        self, scripts: Sequence[Sequence[int] | None], registry: Registry, **more: Any
    ) -> Iterator[tuple[Driver, Steered]]:
        """A driver whose generations say these scripts, in the order in which they begin, and its engine."""
        engine = Steered(self.engine, scripts, self.end, **more)
        with self._lent(engine, registry) as driver:
            yield driver, engine


class ReplaySubject(Subject):
    """The scripted backend as a request engine, which yields the tokens of a script whatever it is asked."""

    level = "request"

    def __init__(self, name: str, backend: ScriptedBackend) -> None:
        super().__init__(name, backend)
        self.spelling = Spelling(backend.tokenizer)
        self._vocabulary = [piece for piece in backend.tokenizer.pieces if len(piece) > 1]

    def close(self) -> None:
        """Nothing to free."""

    @contextmanager
    def replaying(
        self, tokens: Sequence[int], *, width: int = 1, registry: Registry | None = None
    ) -> Iterator[tuple[Driver, Any]]:
        """A driver whose next generation says these tokens, so many in one chunk, and its engine."""
        pieces = [self.spelling.pieces[token] for token in tokens]
        backend = ScriptedBackend.replay(pieces, vocabulary=self._vocabulary, level="request", width=width)
        with Driver(backend, registry or self.registry) as driver:
            yield driver, backend.engine

    @contextmanager
    def driver(self, registry: Registry | None = None) -> Iterator[Driver]:
        with self.replaying(self.spelling.fewest(b"The total is and on " * 40), registry=registry) as (driver, _):
            yield driver

    def play(self, tokens: Sequence[int], *, width: int = 1, registry: Registry | None = None, **options: Any) -> Said:
        """The generation that says these tokens."""
        with self.replaying(tokens, width=width, registry=registry) as (driver, _):
            wanted: dict[str, Any] = {"prompt": PROMPT, "max_tokens": 400, **options}
            return Said(tuple(driver.stream(**wanted)))

    def write(self, text: str, *, registry: Registry | None = None, **options: Any) -> Said:
        """The generation that says this text in large tokens."""
        return self.play(self.spelling.uncrossed(text.encode()), registry=registry, **options)

    def say(self, script: Script, *, before: str = "", **options: Any) -> Said:
        return self.play(self.spelling.uncrossed(script.written.encode()), prompt=before + PROMPT, **options)


class PromptedSubject(Subject):
    """A request engine with a model of its own: it is shown a line several times and writes it once more.

    A script has a space behind each span: where a token joins the end of a tag with what follows, as `>.` does, a model
    has never seen one end without the other.
    """

    level = "request"

    _SHOWN = 5
    """How often; a model of 135 million parameters goes on with a line that it has seen three times."""

    @property
    def request_engine(self) -> RequestEngine:
        """The engine."""
        engine = self.backend.engine
        if not isinstance(engine, RequestEngine):
            raise TypeError("a prompted subject has a request engine")
        return engine

    def say(self, script: Script, *, before: str = "", **options: Any) -> Said:
        with self.asked() as (driver, _):
            return self.say_with(driver, script, before=before, **options)

    @contextmanager
    def asked(self) -> Iterator[tuple[Driver, Any]]:
        """A driver, and the engine that writes down what it is asked."""
        engine = recorded(self.request_engine)
        with self._lent(engine) as driver:
            yield driver, engine

    def asking(self, script: Script, *, before: str = "", **options: Any) -> Request:
        """The request that shows the script.

        The lines that are shown have other results than the right ones: what comes behind a close tag is not copied.
        """
        wrong = {name: _other(answer.block) for name, answer in ANSWERS.items()}
        shown = f"- {script.with_blocks(wrong)}\n" * self._SHOWN
        wanted: dict[str, Any] = {"max_tokens": 200, "stop": ("\n",), **options}
        return Request(f"{before}{shown}-", **wanted)

    def say_with(self, driver: Driver, script: Script, *, before: str = "", **options: Any) -> Said:
        """As `say`, with a driver of `asked`."""
        said = Said(tuple(driver.begin(self.asking(script, before=before, **options))))
        written = said.streamed
        for block in said.injected:
            written = written.replace(block.text, "", 1)
        written = written.strip()
        cut_off = said.finished.reason == "length" or said.finished.stop_string != "\n"
        if written != script.written and not (cut_off and script.written.startswith(written)):
            raise Unsupported(f"the model was to go on with {script.written!r} and wrote {written!r}")
        return said

    @property
    def warm(self) -> SamplingParams:
        # One filter: servers differ in the order of several.
        return SamplingParams(temperature=1.0, top_k=50, seed=11)


class SpanSubject(Subject):
    """An engine that runs the span machine itself: a grammar with one sentence is all that its model can say."""

    level = "span"

    @contextmanager
    def driver(self, registry: Registry | None = None) -> Iterator[Driver]:
        if registry is not None and registry.digest != self.registry.digest:
            raise Unsupported("a span engine is started with one registry, and this asks for another")
        with super().driver() as driver:
            yield driver

    def say(self, script: Script, *, before: str = "", **options: Any) -> Said:
        wanted: dict[str, Any] = {"max_tokens": 400, "grammar": script.grammar, **options}
        with self.driver() as driver:
            return Said(tuple(driver.stream(before + PROMPT, **wanted)))


def subject(name: str, backend: Backend) -> Subject:
    """A subject for the engine that a backend has."""
    engine = backend.engine
    if isinstance(engine, StepEngine):
        return StepSubject(name, backend)
    if isinstance(engine, SpanEngine):
        return SpanSubject(name, backend)
    return PromptedSubject(name, backend)


def step_subject(asked: Subject) -> StepSubject:
    """A subject of whose level there is no doubt.

    Raises:
        TypeError: a requirement asks engines that it is not for.
    """
    if not isinstance(asked, StepSubject):
        raise TypeError(f"{asked.name} is no step engine")
    return asked


def chosen_subject(asked: Subject) -> StepSubject | ReplaySubject:
    """A subject that writes any text.

    Raises:
        Unsupported: its model writes what it likes.
    """
    return asked if isinstance(asked, StepSubject) else replay_subject(asked)


def replay_subject(asked: Subject) -> ReplaySubject:
    """A request engine whose tokens are chosen.

    Raises:
        Unsupported: they are the model's own.
    """
    if not isinstance(asked, ReplaySubject):
        raise Unsupported("the server's model writes and cuts its text as it likes")
    return asked


def _other(block: str) -> str:
    """The block with another value, as long."""
    head, _, rest = block.partition(">")
    value, _, tail = rest.partition("</")
    return f"{head}>{''.join('5' if c in '012346789' else c for c in value)}</{tail}"
