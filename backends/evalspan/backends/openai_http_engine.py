"""A server as a request engine: completions that are streamed, cancelled, and gone on with when a stream breaks."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Generator, Sequence
from concurrent.futures import Future
from typing import Any

from evalspan.backends.openai_http_client import BrokenStream, HttpClient
from evalspan.backends.openai_http_dialects import Dialect
from evalspan.backends.openai_http_settings import HttpSettings
from evalspan.backends.openai_http_turn import Turn
from evalspan.backends.openai_http_vocabulary import ServerVocabulary
from evalspan.orchestrator.backend import Chunk, CompletionRequest, Message, PromptText, Spelling
from evalspan.orchestrator.errors import BackendError
from evalspan.orchestrator.sampling import SamplingParams

__all__ = ["HttpEngine"]

_AHEAD = 8  # chunks that are read before they are asked for; more would only be thrown away at a close tag
_CONTEXT_BYTES = 16  # of text before a cut token; a tokenizer's rules look at a word or two
_TURNS = 1 << 16  # between the seeds of a turn and of its continuations; no generation has as many spans


class HttpEngine:
    """Completions from one model on one server."""

    def __init__(
        self,
        client: HttpClient,
        settings: HttpSettings,
        dialect: Dialect,
        model: str,
        vocabulary: ServerVocabulary,
        context_tokens: int,
    ) -> None:
        self.context_tokens = context_tokens
        self.connections = settings.connections
        self.dialect = dialect
        self.settings = settings
        self.model = model
        """The name that requests give."""
        self._client = client
        self._vocabulary = vocabulary
        self._silent = threading.Event()
        """Set once the server has shown no tokens although it was asked to."""
        self.digest = hashlib.sha256(f"evalspan server 1\n{dialect.name}\n{model}".encode()).hexdigest()

    @property
    def path(self) -> str:
        """How a generation is resumed here, for people."""
        if self._vocabulary.tells_tokens and not self._silent.is_set():
            return "resumes with token ids"
        return "resumes with text"

    def check(self, sampling: SamplingParams) -> None:
        self.dialect.check(sampling)

    def prompt(self, prompt: str | Sequence[Message]) -> PromptText:
        return self._vocabulary.prompt(prompt)

    def spell(self, text: bytes, context: bytes) -> Spelling:
        return self._vocabulary.spell(text, context)

    def start(self, request: CompletionRequest) -> HttpCompletion:
        """Begin a completion."""
        return HttpCompletion(self, self._client, request)

    def complete(self, request: CompletionRequest) -> Generator[Chunk, None, None]:
        """Yield a completion.

        Raises:
            BackendError: the server cannot be reached, refuses, fails, or takes too long.
        """
        completion = self.start(request)
        try:
            while (chunk := completion.receive().result()) is not None:
                yield chunk
        finally:
            completion.close()

    async def chunks(self, request: CompletionRequest, queue: asyncio.Queue[Chunk | None]) -> None:
        """Put the chunks of a completion into a queue; where a stream breaks, go on after what was received."""
        received = _Received(request)
        retries = self.settings.retries
        continuation = 0
        while True:
            turn = Turn(self.dialect, self._stops(request))
            body = self._body(request, received, continuation)
            try:
                async with self._client.stream(f"{self.settings.url}/completions", body) as pieces:
                    async for piece in pieces:
                        for chunk in turn.read(piece):
                            if turn.end == "stop":
                                chunk = await self._fitted(chunk, received.text)
                            received.take(chunk)
                            await queue.put(chunk)
                        if turn.end is not None:
                            break
                if turn.end is None:
                    raise BrokenStream("ended without a finish_reason")
            except BrokenStream as error:
                if retries == 0:
                    hint = "" if received.text else "; the server's log may say why, such as a prompt that is too long"
                    raise BackendError(
                        f"{self.settings.url}: the stream {error}, after {len(received.text)} bytes of the completion"
                        f"{hint}"
                    ) from None
                retries -= 1
                await self._client.pause(self.settings.retries - retries - 1)
            if self.dialect.tells_tokens and turn.started and not turn.shows_tokens:
                self._silent.set()
            if turn.end in ("eos", "length"):
                await queue.put(Chunk(end="eos" if turn.end == "eos" else "length"))
                return
            if received.left <= 0:
                await queue.put(Chunk(end="length"))
                return
            await queue.join()  # until more is wanted: what was received may have closed a span
            continuation += 1

    async def _fitted(self, chunk: Chunk, before: bytes) -> Chunk:
        """The end of a text that was cut at a stop string, with tokens that spell no more than it."""
        if not chunk.tokens or not self._vocabulary.tells_tokens:
            return chunk
        # The vocabulary waits for answers that this loop brings, so it is asked in another thread.
        tokens = await asyncio.to_thread(
            self._vocabulary.fitted, chunk.tokens, chunk.data, before[-_CONTEXT_BYTES:].decode("utf-8", "ignore")
        )
        return Chunk(chunk.data, tokens)

    def _stops(self, request: CompletionRequest) -> tuple[str, ...]:
        """The stop strings to send: all, where the server leaves them in the text, and else none."""
        return tuple(request.stop) if self.dialect.keeps_stops is not None else ()

    def _body(self, request: CompletionRequest, received: _Received, continuation: int) -> dict[str, Any]:
        tokens = received.tokens if self._vocabulary.tells_tokens else None
        body: dict[str, Any] = {
            "model": self.model,
            "prompt": tokens or (request.text + received.text).decode(),
            "max_tokens": received.left,
            "stream": True,
            "n": 1,
            **self.dialect.parameters(request.sampling, request.turn + continuation * _TURNS),
        }
        if self.dialect.tells_tokens:
            body["return_token_ids"] = True
        if self.dialect.keeps_stops is not None and request.stop:
            body["stop"] = list(request.stop)
            body[self.dialect.keeps_stops] = True
        return body


class _Received:
    """What has come of a completion so far."""

    def __init__(self, request: CompletionRequest) -> None:
        self.text = b""
        self.tokens: list[int] | None = list(request.tokens) or None
        self.left = request.max_tokens
        """Tokens that may still come; a chunk without tokens counts as one."""

    def take(self, chunk: Chunk) -> None:
        self.text += chunk.data
        self.left -= len(chunk.tokens) or 1
        if self.tokens is not None and chunk.tokens:
            self.tokens += chunk.tokens
        else:
            self.tokens = None


class HttpCompletion:
    """A completion on its way."""

    def __init__(self, engine: HttpEngine, client: HttpClient, request: CompletionRequest) -> None:
        self._engine = engine
        self._client = client
        self._queue: asyncio.Queue[Chunk | None] = asyncio.Queue(_AHEAD)
        self._delivered = False
        self._error: BaseException | None = None
        self._awaited: Future[Chunk | None] | None = None
        self._work = client.submit(self._run(request))

    def receive(self) -> Future[Chunk | None]:
        """The next chunk, None after the last."""
        self._awaited = self._client.submit(self._next())
        return self._awaited

    def close(self) -> None:
        """Cancel the request, which closes its connection."""
        self._work.cancel()
        if self._awaited is not None:
            self._awaited.cancel()

    async def _next(self) -> Chunk | None:
        if self._delivered:
            self._queue.task_done()  # only now: who asks for more has looked at what came before
        chunk = await self._queue.get()
        self._delivered = True
        if chunk is None and self._error is not None:
            raise self._error
        return chunk

    async def _run(self, request: CompletionRequest) -> None:
        seconds = self._engine.settings.total_timeout
        try:
            async with asyncio.timeout(seconds):
                await self._engine.chunks(request, self._queue)
        except TimeoutError:
            self._error = BackendError(
                f"a completion was not done within {seconds:g} s: give it longer with EVALSPAN_HTTP_TOTAL_TIMEOUT"
            )
        except Exception as error:  # noqa: BLE001  for who waits, whatever it is
            self._error = error
        await self._queue.put(None)
