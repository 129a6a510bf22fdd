"""vLLM as an engine that runs the span machine itself: inside its worker, or with sessions."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

from evalspan.backends.in_engine.asking import keys_for
from evalspan.backends.in_engine.options import OptionsError, read_options
from evalspan.backends.in_engine.registries import REGISTRIES, load_registries
from evalspan.backends.openai_http_dialects import DIALECTS
from evalspan.backends.vllm_engine import VllmCompletion, VllmEngine, chunk_of
from evalspan.backends.vllm_sessions import session
from evalspan.orchestrator.backend import Chunk, SpanRequest, Tokenizer
from evalspan.orchestrator.errors import BackendError, RequestError
from evalspan.orchestrator.grammar import Grammar, Mode
from evalspan.orchestrator.replay import Replayer
from evalspan.orchestrator.sampling import SamplingParams
from evalspan.policies import Registry

__all__ = ["VllmSpans"]


class VllmSpans:
    """Generations whose forced tokens are pinned in the worker one by one, or go in together as input of a session."""

    def __init__(self, engine: VllmEngine, tokenizer: Tokenizer, *, sessions: bool) -> None:
        self.context_tokens = engine.settings.context_tokens
        self.connections = engine.settings.slots
        self._engine = engine
        self._tokenizer = tokenizer
        self._sessions = sessions
        self._registry: str | None = None
        self._replayer: Replayer | None = None

    def serve(self, registry: Registry) -> None:
        """Start the engine with this registry, or find the registry in one that runs."""
        name, environment = _offered(registry)
        if environment and self._engine.started:
            raise BackendError("the vLLM engine runs with other registries: shut it down first")
        self._engine.start(environment)
        self._registry = name
        if self._sessions and self._replayer is None:
            self._replayer = Replayer(registry, self._tokenizer)  # from now on it belongs to the engine's loop

    def check(self, mode: Mode, grammar: Grammar, sampling: SamplingParams) -> None:
        DIALECTS["vllm"].check(sampling)
        try:
            read_options(keys_for(self._registry or "default", mode, grammar))
        except OptionsError as error:
            raise RequestError(str(error)) from None

    def start(self, request: SpanRequest) -> VllmCompletion:
        """Begin a generation."""
        if self._registry is None:
            raise BackendError("the engine has no registry yet: open a Driver on the backend")
        keys = keys_for(self._registry, request.mode, request.grammar)
        if self._replayer is None:
            chunks = self._pinned(request, keys)
        else:
            chunks = session(self._engine, self._replayer, request, keys)
        return VllmCompletion(self._engine, chunks)

    def close(self) -> None:
        """Close the evaluators of the sessions; the engine stays."""
        if self._replayer is not None:
            self._replayer.close()
            self._replayer = None

    async def _pinned(self, request: SpanRequest, keys: dict[str, object]) -> AsyncGenerator[Chunk, None]:
        params = self._engine.params(request.sampling, request.max_tokens, 0, keys)
        async with aclosing(self._engine.outputs(request.tokens, params)) as outputs:
            async for completion in outputs:
                yield chunk_of(completion)


def _offered(registry: Registry) -> tuple[str, dict[str, str]]:
    """The name of a registry in the engine, and what to set so that it has one of that name.

    The engine's processes read registries from a path, since modules and what they may do are no matter of a request.
    """
    for name, known in load_registries().items():
        if _same(known, registry):
            return name, {}
    if os.environ.get(REGISTRIES):
        raise BackendError(f"{REGISTRIES} has no registry like {registry.source}: add it there, or unset the variable")
    path = Path(registry.source)
    if not path.is_file() or not _same(Registry.load(path), registry):
        raise BackendError(
            "vLLM's processes read the registry from its file: write it to one and open it with Registry.load"
        )
    return "default", {REGISTRIES: str(path.resolve())}


def _same(first: Registry, second: Registry) -> bool:
    return first.digest == second.digest and _modules(first) == _modules(second)


def _modules(registry: Registry) -> list[Path]:
    return [registry.module_path(entry).resolve() for entry in registry.evaluators if entry.module is not None]
