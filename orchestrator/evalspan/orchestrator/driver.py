"""The decode driver: prompt in, events out, on any backend.

A generation is a loop of three lines: sample a token, let the span machine say what it means, feed the engine. With
a request engine the loop is one level up: watch the completion, cancel it at a close tag, resume with the result.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Self

from evalspan.evaluators import Evaluators, Failure, Outcome, RuntimeName
from evalspan.orchestrator.backend import (
    Backend,
    BackendOptions,
    Chunk,
    CompletionRequest,
    Feed,
    Message,
    RequestEngine,
    StepEngine,
)
from evalspan.orchestrator.encoding import spell
from evalspan.orchestrator.errors import DecodeError, PromptError, RequestError
from evalspan.orchestrator.events import Event, Finished, FinishReason, Injected
from evalspan.orchestrator.grammar import MODES, FreeText, Mode, Sentence, to_lark
from evalspan.orchestrator.machine import Action, Continue, Evaluate, Force, SpanMachine, SpanPlan, Stop
from evalspan.orchestrator.matcher import CompiledGrammar, Vocabulary
from evalspan.orchestrator.plugins import backend_class
from evalspan.orchestrator.sampling import Sampler, SamplingParams
from evalspan.policies import ErrorCode, Registry, SpanRule

__all__ = ["Driver", "Generation", "Prompt"]

Prompt = str | Sequence[Message]
"""Raw text to continue, or a conversation to answer. The prompt is inert: no span in it is evaluated."""


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
    ) -> None:
        self.backend = backend
        self.registry = registry or Registry.load()
        self.evaluators = Evaluators(self.registry, runtime=runtime)
        self.evaluators.open()
        self._plans = {evaluate: SpanPlan(self.registry, evaluate_spans=evaluate) for evaluate in (True, False)}
        self._vocabulary: Vocabulary | None = None
        self._grammars: dict[str, CompiledGrammar] = {}

    @classmethod
    def open(
        cls,
        backend: str = "llama_cpp",
        *,
        model: str | None = None,
        registry: Registry | None = None,
        context_tokens: int | None = None,
        runtime: RuntimeName = "wasm",
    ) -> Self:
        """A driver on a backend that it loads by name.

        Raises:
            PluginError: no such backend.
            ModelError: the model is missing or cannot be read.
        """
        options = BackendOptions(model=model, context_tokens=context_tokens)
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
        grammar: FreeText | Sentence | None = None,
        max_tokens: int = 256,
        sampling: SamplingParams | None = None,
    ) -> Generation:
        """Run a generation to its end. Parameters and errors as `stream`."""
        events = tuple(self.stream(prompt, mode=mode, grammar=grammar, max_tokens=max_tokens, sampling=sampling))
        last = events[-1]
        if not isinstance(last, Finished):
            raise DecodeError("the generation ended without a reason")
        return Generation(last.text, last.reason, events)

    def stream(
        self,
        prompt: Prompt,
        *,
        mode: Mode | None = None,
        grammar: FreeText | Sentence | None = None,
        max_tokens: int = 256,
        sampling: SamplingParams | None = None,
    ) -> Iterator[Event]:
        """Yield the events of a generation as they happen; the last one is `Finished`.

        Closing the iterator cancels the generation and frees its place in the engine. `max_tokens` counts sampled
        and forced tokens; `grammar` is free text with spans by default; `mode` is `grammar-eval` where the engine can
        be masked, else `no-grammar`. Errors in the request are raised at once,
        not at the first event.

        Raises:
            RequestError: a parameter cannot be honoured on this backend.
            PromptError: the prompt is empty, or leaves no room in the context.
            GrammarError: the grammar does not compile.
            DecodeError: from the iterator, where decoding cannot go on.
        """
        engine = self.backend.engine
        mode = mode or ("grammar-eval" if isinstance(engine, StepEngine) else "no-grammar")
        if mode not in MODES:
            raise RequestError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
        if max_tokens < 1:
            raise RequestError(f"max_tokens must be 1 or more, got {max_tokens}")
        masked = mode != "no-grammar"
        if masked and not isinstance(engine, StepEngine):
            raise RequestError(
                f"backend {self.backend.name!r} samples by itself and cannot be masked: use mode 'no-grammar'"
            )
        grammar = grammar or FreeText()
        if not masked and grammar != FreeText():
            raise RequestError("mode 'no-grammar' takes no grammar and requires no span")
        tokens = self._prompt_tokens(prompt, engine.context_tokens)
        machine = SpanMachine(
            self._plans[mode != "grammar-no-eval"],
            self._clocked(),
            max_tokens=min(max_tokens, engine.context_tokens - len(tokens)),
            tokenizer=self.backend.tokenizer,
            matcher=self._compiled(grammar, mode).matcher() if masked else None,
            required=grammar.required if isinstance(grammar, FreeText) else (),
        )
        sampling = sampling or SamplingParams()
        if isinstance(engine, StepEngine):
            return self._steps(engine, machine, tokens, Sampler(sampling))
        return self._requests(engine, machine, tokens, sampling)

    def _prompt_tokens(self, prompt: Prompt, context: int) -> list[int]:
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

    def _compiled(self, grammar: FreeText | Sentence, mode: Mode) -> CompiledGrammar:
        """The grammar for this backend's vocabulary. The backend and the registry are fixed, the text is the key."""
        if self._vocabulary is None:
            self._vocabulary = Vocabulary(self.backend.tokenizer)
        marks = self._vocabulary.marks if mode == "grammar-eval" else None
        lark, directives = to_lark(grammar, self.registry, marks)
        if lark not in self._grammars:
            free_text = isinstance(grammar, FreeText) and mode == "grammar-eval"
            self._grammars[lark] = CompiledGrammar(lark, self._vocabulary, free_text=free_text, directives=directives)
        return self._grammars[lark]

    def _clocked(self) -> Evaluate:
        """An evaluate function for one generation, which keeps its budget of evaluation time."""
        budget = self.registry.limits.max_evaluation_ms * 1000.0
        spent = 0.0

        def evaluate(rule: SpanRule, content: bytes) -> tuple[Outcome, float]:
            nonlocal spent
            if spent > budget:
                return Failure(ErrorCode.OVER_BUDGET, "the generation has had its evaluation time"), 0.0
            start = time.perf_counter()
            outcome = self.evaluators.evaluate(rule.evaluator, content, rule)
            microseconds = (time.perf_counter() - start) * 1e6
            spent += microseconds
            return outcome, round(microseconds, 1)

        return evaluate

    def _steps(self, engine: StepEngine, machine: SpanMachine, prompt: list[int], sampler: Sampler) -> Iterator[Event]:
        sequence = engine.open()
        try:
            (logits,) = engine.decode([Feed(sequence, prompt)])
            while True:
                token = sampler.sample(logits, machine.mask())
                action = machine.advance(token)
                yield from machine.drain()
                if isinstance(action, Stop):
                    break
                feed = [token]
                if isinstance(action, Force):
                    feed = [*(() if action.replaces_token else feed), *action.tokens]
                start = time.perf_counter()
                (logits,) = engine.decode([Feed(sequence, feed)])
                if isinstance(action, Force):
                    yield from _injected(action, start)
                    if machine.remaining <= 0:
                        action = machine.stop("length")
                        yield from machine.drain()
                        break
        finally:
            engine.close(sequence)
        yield self._finished(machine, action.reason, len(prompt))

    def _requests(
        self, engine: RequestEngine, machine: SpanMachine, prompt: list[int], sampling: SamplingParams
    ) -> Iterator[Event]:
        history = list(prompt)
        text = spell(self.backend.tokenizer, prompt)
        stops = sorted({rule.close for rule in self.registry.spans})
        while True:
            # A copy: an engine may keep its request, and even extend the list.
            request = CompletionRequest(tuple(history), bytes(text + machine.text), machine.remaining, sampling, stops)
            action: Action = Continue()
            start = 0.0
            with closing(engine.complete(request)) as completion:
                for chunk in completion:
                    start = time.perf_counter()
                    action = _take(machine, chunk, history)
                    yield from machine.drain()
                    if not isinstance(action, Continue):
                        break
            if isinstance(action, Continue):
                raise DecodeError(f"backend {self.backend.name!r} ended a completion without a reason")
            if isinstance(action, Force):
                history += action.tokens
                yield from _injected(action, start)
                if machine.remaining > 0:
                    continue
                action = machine.stop("length")
                yield from machine.drain()
            yield self._finished(machine, action.reason, len(prompt))
            return

    def _finished(self, machine: SpanMachine, reason: FinishReason, prompt_tokens: int) -> Finished:
        return Finished(reason, "".join(machine.output), prompt_tokens, machine.sampled, machine.forced)


def _take(machine: SpanMachine, chunk: Chunk, history: list[int]) -> Action:
    """What a chunk means; its tokens up to the first that is no plain continuation join the history."""
    for token in chunk.tokens:
        action = machine.advance(token)
        if isinstance(action, Continue) or (isinstance(action, Force) and not action.replaces_token):
            history.append(token)
        if not isinstance(action, Continue):
            return action
    if chunk.data and not chunk.tokens:
        action = machine.advance_bytes(chunk.data)
        if not isinstance(action, Continue):
            return action
    return machine.stop(chunk.end) if chunk.end else Continue()


def _injected(action: Force, start: float) -> Iterator[Injected]:
    milliseconds = round((time.perf_counter() - start) * 1000, 2)
    for block in action.blocks:
        yield Injected(block.span, block.kind, block.text, block.tokens, milliseconds)
