"""Starting a request: what is checked first, and what runs it on an engine of each kind."""

from __future__ import annotations

from collections.abc import Sequence

from evalspan.evaluators import Evaluators
from evalspan.orchestrator.backend import Backend, PromptText, SpanEngine, SpanRequest, TextEngine
from evalspan.orchestrator.checking import checked
from evalspan.orchestrator.clock import EvaluationClock
from evalspan.orchestrator.encoding import spell
from evalspan.orchestrator.engines import EngineName
from evalspan.orchestrator.errors import GrammarError, PromptError, RequestError
from evalspan.orchestrator.generating import Deadline, Generating
from evalspan.orchestrator.grammar import Grammar, Mode
from evalspan.orchestrator.machine import SpanMachine
from evalspan.orchestrator.preparation import Preparation
from evalspan.orchestrator.reading import Reading
from evalspan.orchestrator.replay import Replayer
from evalspan.orchestrator.requests import Prompt, Request
from evalspan.orchestrator.resume import Resuming
from evalspan.orchestrator.sampling import Sampler, SamplingParams
from evalspan.orchestrator.stopping import StopStrings
from evalspan.orchestrator.token_log import TokenLog
from evalspan.policies import Registry

__all__ = ["Starter"]


class Starter:
    """Makes what runs a request, for one driver. Every method raises RequestError, PromptError or GrammarError where a
    request cannot be honoured; nothing is decoded here."""

    def __init__(
        self, backend: Backend, registry: Registry, evaluators: Evaluators, grammar_engine: EngineName
    ) -> None:
        """Let an engine that runs the span machine itself know the registry.

        Raises:
            GrammarError: such an engine masks with another grammar engine.
            BackendError: it cannot be started with this registry.
        """
        self.backend = backend
        self.registry = registry
        self._evaluators = evaluators
        self._engine_name: EngineName = grammar_engine
        self._preparation: Preparation | None = None
        self._replayer: Replayer | None = None
        if isinstance(backend.engine, SpanEngine):
            if grammar_engine != "llguidance":
                raise GrammarError(f"backend {backend.name!r} masks by itself, with llguidance")
            backend.engine.serve(registry)
            self._replayer = Replayer(registry, backend.tokenizer, timed=True)

    def close(self) -> None:
        """Free what was opened here."""
        if self._replayer is not None:
            self._replayer.close()

    def check(self, request: Request) -> None:
        """Whether a request can be honoured. What depends on the prompt is looked at last."""
        if isinstance(self.backend.engine, SpanEngine):
            self.reading(0, request)
            return
        self.machine(request, 0)
        self._prompt(request.prompt)

    def generating(self, index: int, request: Request) -> Generating:
        """A generation on a step engine."""
        prompt = self.prompt_tokens(request.prompt)
        sampler = Sampler(request.sampling or SamplingParams())
        machine = self._logged(self.machine(request, len(prompt)), request, prompt)
        return Generating(index, prompt, machine, sampler, request)

    def resuming(self, index: int, request: Request) -> Resuming:
        """A generation on a request engine."""
        prompt = self._prompt(request.prompt)
        machine = self._logged(self.machine(request, prompt.count), request, prompt.tokens or ())
        tags = sorted({rule.close for rule in self.registry.spans})
        deadline = Deadline(request.time_limit, request.cancellation)
        return Resuming(index, machine, prompt, request.sampling or SamplingParams(), tags, deadline)

    def reading(self, index: int, request: Request) -> Reading:
        """A generation on an engine that runs the span machine itself."""
        engine, replayer = self.backend.engine, self._replayer
        if not isinstance(engine, SpanEngine) or replayer is None:
            raise TypeError("the engine does not run the span machine itself")
        prompt = self.prompt_tokens(request.prompt)
        mode, grammar = self._checked(request)
        sampling = request.sampling or SamplingParams()
        most = min(request.max_tokens, engine.context_tokens - len(prompt))
        reader = replayer.reader(mode=mode, grammar=grammar, max_tokens=most, stops=_stops(request))
        self._logged(reader.machine, request, prompt)
        asked = SpanRequest(tuple(prompt), most, sampling, mode, grammar)
        return Reading(index, reader, asked, Deadline(request.time_limit, request.cancellation))

    def _checked(self, request: Request) -> tuple[Mode, Grammar]:
        if request.receipt and isinstance(self.backend.engine, TextEngine):
            raise RequestError(f"backend {self.backend.name!r} shows text alone: there is no receipt without token ids")
        if request.receipt and self._evaluators.runtime != "wasm":
            raise RequestError("a receipt is of evaluations in the sandbox: use the runtime 'wasm'")
        return checked(request, self.backend.engine, self.backend.name)

    def _logged(self, machine: SpanMachine, request: Request, prompt: Sequence[int]) -> SpanMachine:
        if request.receipt:
            machine.log = TokenLog(prompt)
        return machine

    def machine(self, request: Request, prompt_tokens: int) -> SpanMachine:
        """The span machine of a request, which is checked here."""
        mode, grammar = self._checked(request)
        engine = self.backend.engine
        if self._preparation is None:
            if isinstance(engine, TextEngine):
                self._preparation = Preparation(self.registry, None, spell=engine.spell)
            else:
                self._preparation = Preparation(self.registry, self.backend.tokenizer, engine=self._engine_name)
        return self._preparation.machine(
            EvaluationClock(self._evaluators).evaluate,
            mode=mode,
            grammar=grammar,
            max_tokens=min(request.max_tokens, engine.context_tokens - prompt_tokens),
            stops=_stops(request),
        )

    def prompt_tokens(self, prompt: Prompt) -> list[int]:
        """The tokens of a prompt that leaves room in the context."""
        _check_prompt(prompt)
        tokens = self.backend.tokenizer.encode_prompt(prompt)
        self._check_room(len(tokens))
        return tokens

    def _prompt(self, prompt: Prompt) -> PromptText:
        """The prompt as a request engine reads it."""
        engine = self.backend.engine
        if not isinstance(engine, TextEngine):
            tokens = self.prompt_tokens(prompt)
            return PromptText(spell(self.backend.tokenizer, tokens), tuple(tokens), len(tokens))
        _check_prompt(prompt)
        read = engine.prompt(prompt)
        self._check_room(read.count)
        return read

    def _check_room(self, tokens: int) -> None:
        context = self.backend.engine.context_tokens
        if tokens >= context:
            raise PromptError(
                f"the prompt has {tokens} tokens and the context holds {context}: shorten it, or open the "
                "model with a larger context (--context)"
            )


def _stops(request: Request) -> StopStrings | None:
    return StopStrings(request.stop, keep=request.keep_stop) if request.stop else None


def _check_prompt(prompt: Prompt) -> None:
    empty = not prompt if isinstance(prompt, str) else not any(message.content for message in prompt)
    if empty:
        raise PromptError("the prompt is empty: there is nothing to continue")
