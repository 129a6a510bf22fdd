"""The decode driver: prompts in, events out, on any backend.

On a step engine generations run in a batch (`batch.py`): sample a token, let the span machine say what it means, feed
the engine. A request engine is driven one level up (`resume.py`), and one that runs the span machine itself is read
along with (`reading.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from typing import Literal, Self, TypeVar, Unpack

from evalspan.evaluators import Evaluators, RuntimeName
from evalspan.orchestrator.backend import (
    Backend,
    BackendOptions,
    ConcurrentEngine,
    ForkingEngine,
    RequestEngine,
    SpanEngine,
    StepEngine,
    TextEngine,
    check_engine_options,
)
from evalspan.orchestrator.batch import STEP_TOKENS, Batch, Refusal
from evalspan.orchestrator.beam import BeamParams, BeamSearch, Hypothesis
from evalspan.orchestrator.counters import Counters
from evalspan.orchestrator.engines import EngineName, engine_identity
from evalspan.orchestrator.errors import DecodeError, GrammarError, PromptError, RequestError
from evalspan.orchestrator.events import Event, Finished, Recorded, RequestFailed
from evalspan.orchestrator.generating import Deadline, Generating
from evalspan.orchestrator.machine import SpanMachine
from evalspan.orchestrator.plugins import backend_class
from evalspan.orchestrator.reading import Reading
from evalspan.orchestrator.requests import Generation, Options, Prompt, Request, gathered
from evalspan.orchestrator.resume import Resuming, resumed
from evalspan.orchestrator.samples import SharedPrompt, sampled
from evalspan.orchestrator.sampling import Sampler, SamplingParams
from evalspan.orchestrator.starting import Starter
from evalspan.orchestrator.together import Told, together
from evalspan.policies import Registry

__all__ = ["Driver", "Generation", "Prompt", "Request", "gathered"]

_Made = TypeVar("_Made", Resuming, Reading)


class Driver:
    """Generates text on one backend with the spans of one registry.

    Closing it closes its evaluators and its backend. For one thread at a time.
    """

    def __init__(
        self,
        backend: Backend,
        registry: Registry | None = None,
        *,
        runtime: RuntimeName = "wasm",
        grammar_engine: EngineName = "llguidance",
        step_tokens: int = STEP_TOKENS,
    ) -> None:
        """`grammar_engine` keeps masked outputs in their grammars.

        Raises:
            GrammarError: the grammar engine is not installed, or the backend masks by itself with another.
            BackendError: the engine runs the span machine itself, and cannot be started with this registry.
        """
        if step_tokens < 1:
            raise RequestError(f"step_tokens must be 1 or more, got {step_tokens}")
        self.grammar_engine = engine_identity(grammar_engine)
        """The grammar engine's name and version."""
        self.step_tokens = step_tokens
        """Tokens of one prompt or forced block that a step takes while other generations wait."""
        self.counters = Counters()
        self.backend = backend
        self.registry = registry or Registry.load()
        self.evaluators = Evaluators(self.registry, runtime=runtime)
        self.evaluators.open()
        try:
            self._starter = Starter(backend, self.registry, self.evaluators, grammar_engine)
        except BaseException:
            self.evaluators.close()
            raise

    @classmethod
    def open(
        cls,
        backend: str = "llama_cpp",
        *,
        model: str | None = None,
        registry: Registry | None = None,
        context_tokens: int | None = None,
        slots: int | None = None,
        runtime: RuntimeName = "wasm",
        grammar_engine: EngineName = "llguidance",
        engine: Mapping[str, str] | None = None,
    ) -> Self:
        """A driver on a backend that it loads by name, with room for `slots` generations at once. `engine` are options
        of that backend alone.

        Raises:
            PluginError: no such backend.
            BackendError: it has no such option.
            ModelError: the model is missing or cannot be read.
            GrammarError: the grammar engine is not installed.
        """
        engine_identity(grammar_engine)  # before the model, which takes longer
        options = BackendOptions(model=model, context_tokens=context_tokens, slots=slots, engine=engine or {})
        chosen = backend_class(backend)
        check_engine_options(chosen, options.engine)
        return cls(chosen(options), registry, runtime=runtime, grammar_engine=grammar_engine)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the evaluators and the backend."""
        self.evaluators.close()
        self._starter.close()
        self.backend.shutdown()

    @property
    def vocabulary_digest(self) -> str:
        """The identity of the model's vocabulary, or of what is known of it."""
        engine = self.backend.engine
        return engine.digest if isinstance(engine, TextEngine) else self.backend.tokenizer.digest

    def generate(self, prompt: Prompt, **options: Unpack[Options]) -> Generation:
        """Run a generation to its end. Parameters and errors as `stream`."""
        request = Request(prompt, **options)
        return self.with_receipt(request, gathered(self.begin(request)))

    def stream(self, prompt: Prompt, **options: Unpack[Options]) -> Generator[Event, None, None]:
        """Yield the events of a generation as they happen; the last one is `Finished`.

        Closing the iterator cancels the generation and frees its place in the engine. The parameters are the fields
        of `Request`. Errors in the request are raised at once, not at the first event.

        Raises:
            RequestError: a parameter cannot be honoured on this backend.
            PromptError: the prompt is empty, or leaves no room in the context.
            GrammarError: the grammar does not compile.
            DecodeError: from the iterator, after a `DecodeFailed` event, where decoding cannot go on.
        """
        return self.begin(Request(prompt, **options))

    def begin(self, request: Request) -> Generator[Event, None, None]:
        """As `stream`, of a request."""
        engine = self.backend.engine
        if isinstance(engine, StepEngine):
            return self._alone(engine, self._starter.generating(0, request))
        if isinstance(engine, SpanEngine):
            return self._counted(self._read_alone(engine, self._starter.reading(0, request)))
        return self._counted(self._resumed(engine, self._starter.resuming(0, request)))

    def generate_many(self, requests: Iterable[Request]) -> list[Generation]:
        """Run many generations, as many at once as the engine has slots; the answers are in the order of the requests.

        A generation that cannot go on has the reason `decode_error`, and the others go on. Errors otherwise as
        `stream_many`.
        """
        events: dict[int, list[Event]] = {}
        asked: list[Request] = []

        def remembered() -> Iterator[Request]:
            for request in requests:
                asked.append(request)
                yield request

        for index, event in self.stream_many(remembered()):
            events.setdefault(index, []).append(event)
        return [self.with_receipt(asked[index], gathered(events[index])) for index in sorted(events)]

    def stream_many(
        self, requests: Iterable[Request], *, refused: Literal["raise", "report"] = "raise"
    ) -> Generator[tuple[int, Event], None, None]:
        """Yield `(index of the request, event)` of many generations as things happen.

        Requests are taken as slots become free, so the iterable may be long. Closing the iterator cancels all. A
        generation that cannot go on tells so with a `DecodeFailed` event and the reason `decode_error`. With
        `refused="report"` a request that cannot be honoured is a `RequestFailed` event, and its reason is `refused`.

        Raises:
            RequestError, PromptError, GrammarError: from the iterator, where a request cannot be honoured and that is
                not reported; those that run are cancelled.
        """
        with closing(self._many(requests, report=refused == "report")) as events:
            for index, event in events:
                self.counters.observe(event)
                yield index, event

    def _many(self, requests: Iterable[Request], *, report: bool) -> Generator[tuple[int, Event], None, None]:
        engine = self.backend.engine
        if isinstance(engine, StepEngine):
            waiting = (self._waiting(index, request, report=report) for index, request in enumerate(requests))
            yield from Batch(engine, waiting, step_tokens=self.step_tokens).run()
            return
        if isinstance(engine, SpanEngine):
            read = (
                self._wanted(index, request, self._starter.reading, report=report)
                for index, request in enumerate(requests)
            )
            yield from together(engine, read)
            return
        wanted = (self._wanted(i, request, self._starter.resuming, report=report) for i, request in enumerate(requests))
        if isinstance(engine, ConcurrentEngine):
            yield from together(engine, wanted)
            return
        for resuming in wanted:
            if not isinstance(resuming, Resuming):
                yield from resuming
                continue
            with suppress(DecodeError), closing(resumed(engine, resuming)) as alone:  # it has told so
                yield from ((resuming.index, event) for event in alone)

    def samples(self, request: Request, n: int) -> list[Generation]:
        """`n` samples of one request, in order; each has its `seed`, the request's plus its number. Else as
        `stream_samples`."""
        events: list[list[Event]] = [[] for _ in range(n)]
        for index, event in self.stream_samples(request, n):
            events[index].append(event)
        seed = (request.sampling or SamplingParams()).seed
        gathering = zip(sampled(request, n), events, strict=True)
        return [self.with_receipt(one, gathered(seen, seed + i)) for i, (one, seen) in enumerate(gathering)]

    def stream_samples(self, request: Request, n: int) -> Generator[tuple[int, Event], None, None]:
        """Yield `(number of the sample, event)` of `n` samples of one request as things happen.

        Where the engine can copy a sequence and has two slots or more, the prompt is decoded once. Errors in the
        request are raised at once.

        Raises:
            RequestError: the samples would be the same, at temperature 0; and as `stream`.
        """
        requests = sampled(request, n)
        engine = self.backend.engine
        if not isinstance(engine, ForkingEngine) or engine.slots < 2 or n < 2:
            self.check(request)
            return self.stream_many(requests)
        prompt = self._starter.prompt_tokens(request.prompt)
        batch = SharedPrompt(engine, [self._starter.generating(i, each) for i, each in enumerate(requests)], prompt)
        return self._numbered(batch)

    def _numbered(self, batch: Batch) -> Generator[tuple[int, Event], None, None]:
        with closing(batch.run()) as events:
            for index, event in events:
                self.counters.observe(event)
                yield index, event

    def beam(
        self,
        request: Request,
        *,
        width: int = 4,
        length_penalty: float = 1.0,
        forced_in_length: bool = False,
        patient: bool = False,
    ) -> list[Hypothesis]:
        """The best outputs by beam search, at most `width`: see `BeamParams`, and `Hypothesis`.

        Nothing is drawn: of the sampling only penalty and bias are used. All beams share one budget of evaluation time.
        The driver's counters have it as one generation, that of the best output, and the spans of all beams.

        Raises:
            RequestError: the engine cannot copy sequences or has fewer slots than beams; and as `stream`.
            DecodeError: no beam could go on, and none had come to an end.
        """
        params = BeamParams(width, length_penalty, forced_in_length, patient)
        sampling = request.sampling or SamplingParams()
        engine = self.backend.engine
        if not isinstance(engine, ForkingEngine):
            raise RequestError(f"backend {self.backend.name!r} cannot copy sequences, which a beam search needs")
        if engine.slots < width:
            raise RequestError(f"{width} beams need as many slots, and there are {engine.slots} (--slots)")
        if not sampling.greedy:
            raise RequestError("a beam search draws nothing: leave temperature, top_k, top_p and min_p as they are")
        if request.ledger or request.receipt:
            raise RequestError(f"a beam search has no {'ledger' if request.ledger else 'receipt'}")
        prompt = self._starter.prompt_tokens(request.prompt)
        machine = self._starter.machine(request, len(prompt))
        deadline = Deadline(request.time_limit, request.cancellation)
        found = BeamSearch(engine, params, prompt, deadline, self.counters.observe).run(machine, Sampler(sampling))
        self.counters.observe(found[0].generation.events[-1])
        return found

    def check(self, request: Request) -> None:
        """Whether a request can be honoured; nothing is decoded. What depends on the prompt is looked at last.

        Raises:
            RequestError, PromptError, GrammarError: as `stream`.
        """
        self._starter.check(request)

    def machine(self, request: Request) -> SpanMachine:
        """The span machine that a generation of this request would run, at the start of its output: for tests of
        masks, which lead it along tokens of their own. The prompt counts as one token.

        Raises:
            RequestError, GrammarError: as `stream`.
        """
        return self._starter.machine(request, 1)

    def _alone(self, engine: StepEngine, generating: Generating) -> Generator[Event, None, None]:
        """One generation as a batch of its own; where a batch goes on without it, this raises."""
        with closing(Batch(engine, [generating]).run()) as events:
            for _, event in events:
                self.counters.observe(event)
                if isinstance(event, Finished) and generating.error is not None:
                    raise generating.error
                yield event

    def _waiting(self, index: int, request: Request, *, report: bool) -> Generating | Refusal:
        try:
            return self._starter.generating(index, request)
        except (RequestError, PromptError, GrammarError) as error:
            if not report:
                raise
            return Refusal(index, _reported(error))

    def _resumed(self, engine: RequestEngine, resuming: Resuming) -> Generator[Event, None, None]:
        """One generation; where others go on without it, this raises."""
        if not isinstance(engine, ConcurrentEngine):
            yield from resumed(engine, resuming)
            return
        with closing(together(engine, iter([resuming]))) as events:  # deadlines hold while nothing comes
            yield from (event for _, event in events)
        if resuming.error is not None:
            raise resuming.error

    def _wanted(
        self, index: int, request: Request, make: Callable[[int, Request], _Made], *, report: bool
    ) -> _Made | list[Told]:
        try:
            return make(index, request)
        except (RequestError, PromptError, GrammarError) as error:
            if not report:
                raise
            return [(index, _reported(error)), (index, Finished("refused", "", 0, 0, 0))]

    def _read_alone(self, engine: SpanEngine, reading: Reading) -> Generator[Event, None, None]:
        """One generation; where others go on without it, this raises."""
        with closing(together(engine, iter([reading]))) as events:
            yield from (event for _, event in events)
        if reading.error is not None:
            raise reading.error

    def _counted(self, events: Generator[Event, None, None]) -> Generator[Event, None, None]:
        with closing(events):
            for event in events:
                self.counters.observe(event)
                if not (isinstance(event, Finished) and event.reason == "decode_error"):
                    yield event  # in its place the error is raised

    def with_receipt(self, request: Request, generation: Generation) -> Generation:
        """A generation of this driver's with its receipt, where the request asked for one and it came to an end."""
        recorded = any(isinstance(event, Recorded) for event in generation.events)
        if not recorded or generation.reason == "decode_error":
            return generation
        from evalspan.orchestrator.receipts import receipt_of  # of many modules, that few generations need

        return replace(generation, receipt=receipt_of(self, request, generation.events))


def _reported(error: RequestError | PromptError | GrammarError) -> RequestFailed:
    kinds = {PromptError: "prompt", GrammarError: "grammar"}
    return RequestFailed(kinds.get(type(error), "request"), str(error))
