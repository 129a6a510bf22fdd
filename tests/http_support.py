"""A scripted server with OpenAI's completions, for real: Starlette and uvicorn in a thread, on the loopback."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

__all__ = ["CONTROL", "Reply", "Scripted", "completion", "decode", "encode", "serving", "token_routes", "tokens_of"]

EOS = 256
"""The end token of the scripted vocabulary, after the bytes."""

CONTROL = 257
"""The control token of the scripted vocabulary, spelt `<|end|>`; its tokenizer reads it in text, as those of most
models do."""

_SPELT = "<|end|>"

Reply = Callable[[Mapping[str, Any]], Awaitable[Response] | Response]
"""What a completion is answered with, by its body."""


@dataclass
class Scripted:
    """A server that answers each completion with the next reply; the last one is repeated."""

    replies: list[Reply]
    owner: str = "somebody"
    models: tuple[str, ...] = ("tiny",)
    key: str | None = None
    card: dict[str, Any] = field(default_factory=dict)
    routes: list[Route] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    """Of the completions that were asked for."""
    closed: int = 0
    """Streams whose client has gone."""
    most: int = 0
    """Streams at once, at most."""
    running: int = 0

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/models", self._models),
                Route("/v1/completions", self._completions, methods=["POST"]),
                *self.routes,
            ]
        )

    def refusal(self, request: Request) -> Response | None:
        if self.key is None or request.headers.get("authorization") == f"Bearer {self.key}":
            return None
        given = request.headers.get("authorization", "nothing").removeprefix("Bearer ")
        # As some servers do, this one quotes the key.
        return JSONResponse({"error": {"message": f"Incorrect API key provided: {given}"}}, 401)

    async def _models(self, request: Request) -> Response:
        cards = [{"id": name, "object": "model", "owned_by": self.owner, **self.card} for name in self.models]
        return self.refusal(request) or JSONResponse({"object": "list", "data": cards})

    async def _completions(self, request: Request) -> Response:
        if refusal := self.refusal(request):
            return refusal
        body = await request.json()
        self.bodies.append(body)
        reply = self.replies[min(len(self.bodies), len(self.replies)) - 1]
        answer = reply(body)
        response = answer if isinstance(answer, Response) else await answer
        if isinstance(response, StreamingResponse):
            response.body_iterator = self._counted(response.body_iterator)
        return response

    async def _counted(self, pieces: Any) -> AsyncIterator[bytes]:
        self.running += 1
        self.most = max(self.most, self.running)
        done = False
        try:
            async for piece in pieces:
                yield piece
            done = True
        finally:
            self.running -= 1
            self.closed += not done


def completion(
    *texts: str | bytes,
    finish: str | None = "stop",
    pause: float = 0.0,
    end: bytes = b"data: [DONE]\n\n",
    extra: Mapping[str, Any] | None = None,
    tokens: bool = False,
    hang: bool = False,
) -> Reply:
    """A stream of these texts, an event each; bytes are sent as they are. With `hang` it never ends."""

    async def pieces() -> AsyncIterator[bytes]:
        for text in texts:
            await asyncio.sleep(pause)
            if isinstance(text, bytes):
                yield text
                continue
            choice: dict[str, Any] = {"text": text, "index": 0, "finish_reason": None}
            if tokens:
                choice["token_ids"] = tokens_of(text)
            yield f"data: {json.dumps({'choices': [choice]})}\n\n".encode()
        if hang:
            await asyncio.sleep(60)
        if finish is not None:
            choice = {"text": "", "index": 0, "finish_reason": finish, **(extra or {})}
            if tokens:
                choice["token_ids"] = [EOS] if finish == "stop" and not extra else []
            yield f"data: {json.dumps({'choices': [choice]})}\n\n".encode()
        yield end

    return lambda body: StreamingResponse(pieces(), media_type="text/event-stream")


def tokens_of(text: str) -> list[int]:
    """The tokens of a text in the vocabulary of the scripted server, which is bytes."""
    return list(text.encode())


@contextmanager
def serving(script: Scripted, **options: Any) -> Iterator[str]:
    """The address of a server that plays the script, until it is left."""
    # With its protocol named, asyncio turns Nagle's delay off, which would hold every answer back for 40 ms.
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        server = uvicorn.Server(
            uvicorn.Config(script.app(), log_level="error", timeout_graceful_shutdown=1, lifespan="off", **options)
        )
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        scheme = "https" if "ssl_certfile" in options else "http"
        try:
            while not server.started:
                thread.join(0.01)
                assert thread.is_alive(), "the scripted server did not start"
            yield f"{scheme}://127.0.0.1:{port}/v1"
        finally:
            server.should_exit = True
            thread.join()


def token_routes(fail: bool = False) -> list[Route]:
    """`/tokenize` and `/detokenize` as vLLM has them, over bytes, with a template that says who speaks."""

    async def tokenize(request: Request) -> Response:
        if fail:
            return Response(status_code=404)
        body = await request.json()
        text = body.get("prompt")
        if text is None:
            turns = "".join(f"[{turn['role']}]{turn['content']}{_SPELT}" for turn in body["messages"])
            text = turns + "[assistant]"
        return JSONResponse({"tokens": encode(text), "count": 0, "max_model_len": 512})

    async def detokenize(request: Request) -> Response:
        body = await request.json()
        return JSONResponse({"prompt": decode(body["tokens"])})

    return [
        Route("/tokenize", tokenize, methods=["POST"]),
        Route("/detokenize", detokenize, methods=["POST"]),
    ]


def encode(text: str) -> list[int]:
    """The tokens of a text, control tokens read."""
    tokens: list[int] = []
    for index, part in enumerate(text.split(_SPELT)):
        tokens += [CONTROL] * (index > 0) + tokens_of(part)
    return tokens


def decode(tokens: list[int]) -> str:
    """What the tokens spell, control tokens too."""
    data = b"".join(_SPELT.encode() if token == CONTROL else bytes([token]) for token in tokens if token != EOS)
    return data.decode("utf-8", "replace")
