"""The decode driver: prompts in, events out, on any backend.

On a step engine generations run in a batch (`batch.py`): sample a token, let the span machine say what it means, feed
the engine. A request engine is driven one level up (`resume.py`).
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Self

from evalspan.evaluators import Evaluators, Failure, Outcome, RuntimeName
from evalspan.orchestrator.backend import Backend, BackendOptions, Message, RequestEngine, StepEngine
from evalspan.orchestrator.batch import STEP_TOKENS, Batch, Generating
from evalspan.orchestrator.counters import Counters
from evalspan.orchestrator.encoding import spell
from evalspan.orchestrator.errors import DecodeError, PromptError, RequestError
from evalspan.orchestrator.events import Event, Finished, FinishReason, Injected
from evalspan.orchestrator.grammar import MODES, Compilation, ExtendsRegistry, Grammar, Mode
from evalspan.orchestrator.guard import TagGuard
from evalspan.orchestrator.machine import Evaluate, SpanMachine, SpanPlan
from evalspan.orchestrator.matcher import CompiledGrammar, Vocabulary
from evalspan.orchestrator.plugins import backend_class
from evalspan.orchestrator.resume import resumed
from evalspan.orchestrator.sampling import Sampler, SamplingParams
from evalspan.orchestrator.sentences import FreeText
from evalspan.policies import ErrorCode, Registry, SpanRule

__all__ = ["Driver", "Generation", "Prompt", "Request", "gathered"]

Prompt = str | Sequence[Message]
"""Raw text to continue, or a conversation to answer. The prompt is inert: no span in it is evaluated."""


@dataclass(frozen=True, slots=True)
class Request:
    """A generation to run beside others; the fields are the parameters of `Driver.stream`."""

    prompt: Prompt
    mode: Mode | None = None
    grammar: Grammar | None = None
    max_tokens: int = 256
    sampling: SamplingParams | None = None
    ledger: bool = False


@dataclass(frozen=True, slots=True)
class Generation:
    """A finished generation: its text, why it ended, and every event in order."""

    text: str
    reason: FinishReason
    events: tuple[Event, ...] = field(repr=False)

    @property
    def injections(self) -> tuple[Injected, ...]:
        """The blocks that were injected."""
        return tuple(event for event in self.events if isinstance(event, Injected))


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
        step_tokens: int = STEP_TOKENS,
    ) -> None:
        if step_tokens < 1:
            raise RequestError(f"step_tokens must be 1 or more, got {step_tokens}")
        self.step_tokens = step_tokens
        """Tokens of one prompt or forced block that a step takes while other generations wait."""
        self.counters = Counters()
        self.backend = backend
        self.registry = registry or Registry.load()
        self.evaluators = Evaluators(self.registry, runtime=runtime)
        self.evaluators.open()
        self._plans: dict[tuple[str, bool, bool], SpanPlan] = {}
        self._guards: dict[tuple[tuple[bytes, ...], ...], TagGuard] = {}
        self._vocabulary: Vocabulary | None = None
        self._grammars: dict[Compilation, CompiledGrammar] = {}

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
    ) -> Self:
        """A driver on a backend that it loads by name, with room for `slots` generations at once.

        Raises:
            PluginError: no such backend.
            ModelError: the model is missing or cannot be read.
        """
        options = BackendOptions(model=model, context_tokens=context_tokens, slots=slots)
        return cls(backend_class(backend)(options), registry, runtime=runtime)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the evaluators and the backend."""
        self.evaluators.close()
        self.backend.shutdown()

    def generate(
        self,
        prompt: Prompt,
        *,
        mode: Mode | None = None,
        grammar: Grammar | None = None,
        max_tokens: int = 256,
        sampling: SamplingParams | None = None,
        ledger: bool = False,
    ) -> Generation:
        """Run a generation to its end. Parameters and errors as `stream`."""
        return gathered(
            self.stream(prompt, mode=mode, grammar=grammar, max_tokens=max_tokens, sampling=sampling, ledger=ledger)
        )

    def stream(
        self,
        prompt: Prompt,
        *,
        mode: Mode | None = None,
        grammar: Grammar | None = None,
        max_tokens: int = 256,
        sampling: SamplingParams | None = None,
        ledger: bool = False,
    ) -> Generator[Event, None, None]:
        """Yield the events of a generation as they happen; the last one is `Finished`.

        Closing the iterator cancels the generation and frees its place in the engine. `max_tokens` counts sampled
        and forced tokens; `grammar` is free text with spans by default; `mode` is `grammar-eval` where the engine can
        be masked, else `no-grammar`; `ledger` adds a `Step` event to each sampled token. Errors in the request are
        raised at once, not at the first event.

        Raises:
            RequestError: a parameter cannot be honoured on this backend.
            PromptError: the prompt is empty, or leaves no room in the context.
            GrammarError: the grammar does not compile.
            DecodeError: from the iterator, where decoding cannot go on.
        """
        return self.begin(Request(prompt, mode, grammar, max_tokens, sampling, ledger))

    def begin(self, request: Request) -> Generator[Event, None, None]:
        """As `stream`, of a request."""
        engine = self.backend.engine
        if isinstance(engine, StepEngine):
            return self._alone(engine, self._generating(0, request))
        return self._resumed(engine, request)

    def generate_many(self, requests: Iterable[Request]) -> list[Generation]:
        """Run many generations, as many at once as the engine has slots; the answers are in the order of the requests.

        A generation that cannot go on has the reason `decode_error`, and the others go on. Errors otherwise as
        `stream_many`.
        """
        events: dict[int, list[Event]] = {}
        for index, event in self.stream_many(requests):
            events.setdefault(index, []).append(event)
        return [gathered(events[index]) for index in sorted(events)]

    def stream_many(self, requests: Iterable[Request]) -> Generator[tuple[int, Event], None, None]:
        """Yield `(index of the request, event)` of many generations as things happen.

        Requests are taken as slots become free, so the iterable may be long. Closing the iterator cancels all.

        Raises:
            RequestError, PromptError, GrammarError: from the iterator, where a request cannot be honoured; those
                that run are cancelled.
        """
        engine = self.backend.engine
        if isinstance(engine, StepEngine):
            waiting = (self._generating(index, request) for index, request in enumerate(requests))
            with closing(Batch(engine, waiting, step_tokens=self.step_tokens).run()) as events:
                for generating, event in events:
                    self.counters.observe(event)
                    yield generating.index, event
            return
        for index, request in enumerate(requests):
            with closing(self._resumed(engine, request)) as alone:
                for event in alone:
                    yield index, event

    def check(self, request: Request) -> None:
        """Whether a request can be honoured; nothing is decoded.

        Raises:
            RequestError, PromptError, GrammarError: as `stream`.
        """
        self._machine(request, len(self._prompt_tokens(request.prompt)))

    def _alone(self, engine: StepEngine, generating: Generating) -> Generator[Event, None, None]:
        """One generation as a batch of its own; where a batch goes on without it, this raises."""
        with closing(Batch(engine, [generating]).run()) as events:
            for _, event in events:
                self.counters.observe(event)
                if isinstance(event, Finished) and generating.error is not None:
                    raise generating.error
                yield event

    def _generating(self, index: int, request: Request) -> Generating:
        prompt = self._prompt_tokens(request.prompt)
        sampler = Sampler(request.sampling or SamplingParams())
        machine = self._machine(request, len(prompt))
        return Generating(index, prompt, machine, sampler, ledger=request.ledger)

    def _resumed(self, engine: RequestEngine, request: Request) -> Generator[Event, None, None]:
        prompt = self._prompt_tokens(request.prompt)
        machine = self._machine(request, len(prompt))
        text = spell(self.backend.tokenizer, prompt)
        stops = sorted({rule.close for rule in self.registry.spans})
        return self._counted(resumed(engine, machine, prompt, text, request.sampling or SamplingParams(), stops))

    def _counted(self, events: Generator[Event, None, None]) -> Generator[Event, None, None]:
        with closing(events):
            for event in events:
                self.counters.observe(event)
                yield event

    def _machine(self, request: Request, prompt_tokens: int) -> SpanMachine:
        """The span machine of a request, which is checked here."""
        default: Mode = "grammar-eval" if isinstance(self.backend.engine, StepEngine) else "no-grammar"
        mode, grammar = request.mode or default, request.grammar or FreeText()
        if mode not in MODES:
            raise RequestError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
        if request.max_tokens < 1:
            raise RequestError(f"max_tokens must be 1 or more, got {request.max_tokens}")
        masked = mode != "no-grammar"
        if masked and not isinstance(self.backend.engine, StepEngine):
            raise RequestError(
                f"backend {self.backend.name!r} samples by itself and cannot be masked: use mode 'no-grammar'"
            )
        if request.ledger and not isinstance(self.backend.engine, StepEngine):
            raise RequestError(f"backend {self.backend.name!r} samples by itself and has no ledger")
        if not masked and grammar != FreeText():
            raise RequestError("mode 'no-grammar' takes no grammar and requires no span")
        registry = grammar.registry_for(self.registry) if isinstance(grammar, ExtendsRegistry) else self.registry
        compiled = self._compiled(grammar, registry, mode) if masked else None
        inert = compiled is not None and compiled.inert
        plan = self._plan(registry, evaluate_spans=mode != "grammar-no-eval", inert=inert)
        observation = compiled.observation if compiled else None
        return SpanMachine(
            plan,
            self._clocked(),
            max_tokens=min(request.max_tokens, self.backend.engine.context_tokens - prompt_tokens),
            tokenizer=self.backend.tokenizer,
            matcher=compiled.matcher() if compiled else None,
            guard=self._guard(plan, compiled) if compiled and mode == "grammar-eval" else None,
            required=grammar.required if isinstance(grammar, FreeText) else (),
            observer=observation.start() if observation else None,
        )

    def _plan(self, registry: Registry, *, evaluate_spans: bool, inert: bool) -> SpanPlan:
        # This driver's own registry needs no digest, which costs as much as the registry is long.
        key = ("" if registry is self.registry else registry.digest, evaluate_spans, inert)
        if key not in self._plans:
            self._plans[key] = SpanPlan(registry, evaluate_spans=evaluate_spans, inert=inert)
        return self._plans[key]

    def _guard(self, plan: SpanPlan, compiled: CompiledGrammar) -> TagGuard | None:
        if compiled.free_text:
            return None  # exact by itself, and its masks are kept
        tags = plan.unwritable(compiled.spans)
        key = (plan.automaton.tags, tags)
        if key not in self._guards:
            self._guards[key] = TagGuard(plan.automaton, tags, self.backend.tokenizer.pieces)
        return self._guards[key]

    def _prompt_tokens(self, prompt: Prompt) -> list[int]:
        context = self.backend.engine.context_tokens
        empty = not prompt if isinstance(prompt, str) else not any(message.content for message in prompt)
        if empty:
            raise PromptError("the prompt is empty: there is nothing to continue")
        tokens = self.backend.tokenizer.encode_prompt(prompt)
        if len(tokens) >= context:
            raise PromptError(
                f"the prompt has {len(tokens)} tokens and the context holds {context}: shorten it, or open the "
                "model with a larger context (--context)"
            )
        return tokens

    def _compiled(self, grammar: Grammar, registry: Registry, mode: Mode) -> CompiledGrammar:
        """The grammar for this backend's vocabulary, compiled once: what a registry gives is all in its text."""
        if self._vocabulary is None:
            self._vocabulary = Vocabulary(self.backend.tokenizer)
        compilation = grammar.compile(registry, self._vocabulary.marks if mode == "grammar-eval" else None)
        if compilation not in self._grammars:
            self._grammars[compilation] = CompiledGrammar(compilation, self._vocabulary)
        return self._grammars[compilation]

    def _clocked(self) -> Evaluate:
        """An evaluate function for one generation, which keeps its budget of evaluation time."""
        budget = self.registry.limits.max_evaluation_ms * 1000.0
        spent = 0.0

        def evaluate(name: str, content: bytes, rule: SpanRule | None) -> tuple[Outcome, float]:
            nonlocal spent
            if spent > budget:
                return Failure(ErrorCode.OVER_BUDGET, "the generation has had its evaluation time"), 0.0
            start = time.perf_counter()
            if rule is None:
                outcome = self.evaluators.evaluate_bound(name, content)
            else:
                outcome = self.evaluators.evaluate(name, content, rule)
            microseconds = (time.perf_counter() - start) * 1e6
            spent += microseconds
            return outcome, round(microseconds, 1)

        return evaluate


def gathered(events: Iterable[Event]) -> Generation:
    """The events of one generation as its result.

    Raises:
        DecodeError: the last one is not `Finished`.
    """
    seen = tuple(events)
    last = seen[-1]
    if not isinstance(last, Finished):
        raise DecodeError("the generation ended without a reason")
    return Generation(last.text, last.reason, seen)
