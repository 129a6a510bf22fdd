"""vLLM as a request engine, without the plugin: each turn is a new request, whose start the prefix cache has."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing

from evalspan.backends.openai_http_dialects import DIALECTS
from evalspan.backends.vllm_engine import VllmCompletion, VllmEngine, chunk_of
from evalspan.orchestrator.backend import Chunk, CompletionRequest, Tokenizer

__all__ = ["VllmRequests"]


class VllmRequests:
    """Completions by token ids. The driver watches them and closes one at a close tag.

    Stop strings are not used: vLLM looks for them outside its engine, and then aborts the request as the driver does.
    """

    def __init__(self, engine: VllmEngine, tokenizer: Tokenizer) -> None:
        self.context_tokens = engine.settings.context_tokens
        self.connections = engine.settings.slots
        self._engine = engine
        self._pieces = tokenizer.pieces

    def start(self, request: CompletionRequest) -> VllmCompletion:
        """Begin a completion.

        Raises:
            RequestError: vLLM would not sample as asked.
        """
        DIALECTS["vllm"].check(request.sampling)
        return VllmCompletion(self._engine, self._chunks(request))

    def complete(self, request: CompletionRequest) -> Generator[Chunk, None, None]:
        """Yield a completion.

        Raises:
            RequestError: as `start`.
            BackendError: vLLM refuses or fails.
        """
        completion = self.start(request)
        try:
            while (chunk := completion.receive().result()) is not None:
                yield chunk
        finally:
            completion.close()

    async def _chunks(self, request: CompletionRequest) -> AsyncGenerator[Chunk, None]:
        params = self._engine.params(request.sampling, request.max_tokens, request.turn, {})
        async with aclosing(self._engine.outputs(request.tokens, params)) as outputs:
            async for completion in outputs:
                chunk = chunk_of(completion)
                yield Chunk(b"".join(self._pieces[token] for token in chunk.tokens), chunk.tokens, chunk.end)
