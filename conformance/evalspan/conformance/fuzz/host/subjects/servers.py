"""What a server sends: events, completions, and the replies to everything that the HTTP backend asks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING

from evalspan.backends.openai_http import OpenAIHttpBackend, _engine
from evalspan.backends.openai_http_client import HttpClient
from evalspan.backends.openai_http_dialects import DIALECTS
from evalspan.backends.openai_http_settings import HttpSettings
from evalspan.backends.openai_http_sse import EventStream
from evalspan.backends.openai_http_turn import Turn
from evalspan.conformance.fuzz.errors import FuzzError
from evalspan.conformance.fuzz.host.chunks import chance_of, cut_at_random, cuts
from evalspan.conformance.fuzz.host.subject import Disagreement
from evalspan.orchestrator import BackendError, Driver, Finished, Message, PromptError
from evalspan.policies import Registry

if TYPE_CHECKING:
    import httpx

__all__ = ["CompletionSubject", "EventSubject", "ServerSubject"]

_TOKENS = 40
_SOON = 1e-3  # seconds that a retry waits
_BOUNDARY = b"\n---\n"
_STOPS = ("</calc>", "</date>")


class EventSubject:
    """The parser of server-sent events."""

    def run(self, data: bytes) -> str:
        """How many events there were, or the error, which every chunking must give."""
        whole: list[str] | None = None
        for pieces in cuts(data):
            stream = EventStream()
            found: list[str] = []
            try:
                for piece in pieces:
                    found += stream.feed(piece)
            except BackendError as error:
                found = [str(error)]
            if whole is None:
                whole = found
            elif whole != found:
                raise Disagreement("the chunking makes a difference", f"{whole} and {found}"[:200])
        return f"{min(len(whole or ()), 8)} events"


_Read = tuple[bytes, tuple[int, ...], str | None]
"""The text, the tokens, and why it ended."""


class CompletionSubject:
    """A streamed completion, as each kind of server sends it: the first word names the dialect."""

    def run(self, data: bytes) -> str:
        """Why the completion ended, and whether its tokens were shown."""
        name, _, stream = data.partition(b"\n")
        dialect = DIALECTS.get(name.decode("ascii", "replace"), DIALECTS["other"])
        whole: _Read | None = None
        for pieces in cuts(stream):
            turn = Turn(dialect, _STOPS)
            try:
                chunks = [chunk for piece in pieces for chunk in turn.read(piece)]
                tokens = tuple(token for chunk in chunks for token in chunk.tokens)
                found: _Read = b"".join(chunk.data for chunk in chunks), tokens, turn.end
            except BackendError:
                # What came before an error is given or not, by where the stream is cut, and so is the first of two.
                found = b"", (), "an error"
            if whole is None:
                whole = found
            elif whole != found:
                raise Disagreement("the chunking makes a difference", f"{whole} and {found}"[:200])
        if whole is None or not whole[2]:
            return "no end"
        return f"{whole[2]} {'tokens' if whole[1] else 'text'}"


_REGISTRY = """
version = 1
[[evaluator]]
name = "arithmetic"
builtin = "arithmetic/1"
[[span]]
name = "calc"
open = "<calc>"
close = "</calc>"
evaluator = "arithmetic"
"""


class ServerSubject:
    """A server that answers each question with the next reply of the input, whatever was asked.

    Replies are apart by a line `---`. The first line of one is its status, its content type and its further headers,
    with a `;` between them; what follows is the body. After the last one comes status 404.
    """

    def __init__(self) -> None:
        try:
            import httpx
        except ImportError:
            raise FuzzError("host:server needs httpx: pip install 'evalspan[http]'") from None
        self._httpx = httpx
        self._settings = HttpSettings(
            url="http://127.0.0.1:1/v1", retries=2, backoff=_SOON, longest_wait=_SOON, total_timeout=20.0
        )
        self._client = HttpClient(self._settings)
        self._client._client = httpx.AsyncClient(transport=httpx.MockTransport(self._reply))
        self._replies: Iterator[bytes] = iter(())
        self._registry = Registry.parse(_REGISTRY)

    def run(self, data: bytes) -> str:
        """Connect and generate twice, from a text and from a conversation."""
        self._replies = iter(data.split(_BOUNDARY))
        backend = _Connected.__new__(_Connected)
        backend.engine = _engine(self._client, self._settings, False)
        backend.model = "server"
        said = [backend.engine.dialect.name]
        with Driver(backend, self._registry) as driver:
            for prompt in ("go", [Message("user", "go")]):
                try:
                    last = list(driver.stream(prompt, max_tokens=_TOKENS))[-1]
                except PromptError:  # it has no chat template, say: the other prompt is still worth trying
                    said.append("no prompt")
                    continue
                said.append(last.reason if isinstance(last, Finished) else "unfinished")
        return " ".join(said)

    def _reply(self, request: httpx.Request) -> httpx.Response:
        head, _, body = next(self._replies, b"404").partition(b"\n")
        status, kind, *others = [*head.split(b";"), b""][:4]
        headers = [(b"content-type", kind or b"application/json")]
        for other in others:
            name, _, value = other.partition(b"=")
            if name in (b"retry-after", b"location"):
                headers.append((name, value))
        number = int(status) if status.isdigit() and len(status) == 3 else 200
        pieces = self._pieces(cut_at_random(body, chance_of(body)))
        return self._httpx.Response(max(number, 200), headers=headers, content=pieces)

    @staticmethod
    async def _pieces(pieces: Iterable[bytes]) -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece


class _Connected(OpenAIHttpBackend):
    """A backend whose client outlives it."""

    def shutdown(self) -> None:
        """The client is for the next input too."""
