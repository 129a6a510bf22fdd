"""Requests to a server: their retries, their errors in words for users, and cancellation at any time.

All of it runs in an event loop in a thread of its own, so that whoever waits for an answer can be interrupted: a
cancelled task closes its connection at once.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import ssl
import threading
import time
from collections.abc import AsyncIterator, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeVar

from evalspan.backends.openai_http_settings import KEY_VARIABLES, HttpSettings
from evalspan.orchestrator.errors import BackendError, ModelError, PromptError

if TYPE_CHECKING:
    import httpx

__all__ = ["BrokenStream", "HttpClient", "StatusError"]

_T = TypeVar("_T")

_RETRIED = frozenset({429, 502, 503, 504})
"""Too many requests; a gateway without its server; a server that starts or is full; a gateway that waited too long."""

_QUOTED = 300  # characters of what a server says; its page of HTML says no more


class StatusError(BackendError):
    """An answer with a status that is an error."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class BrokenStream(Exception):
    """A stream that ended before its time: what was received is good, and the rest can be asked for again."""


class HttpClient:
    """A connection pool to one server."""

    def __init__(self, settings: HttpSettings) -> None:
        try:
            import httpx
        except ImportError:
            raise BackendError("backend 'openai_http' needs httpx: pip install 'evalspan[http]'") from None
        self._httpx = httpx
        self._settings = settings
        self._jitter = secrets.SystemRandom()
        headers = {"User-Agent": "evalspan", "Accept": "application/json, text/event-stream"}
        if settings.key is not None:
            headers["Authorization"] = f"Bearer {settings.key.secret}"
        timeout = httpx.Timeout(settings.read_timeout, connect=settings.connect_timeout, pool=None)
        limits = httpx.Limits(max_connections=settings.connections + 2)  # beside the streams: questions about tokens
        try:
            self._client = httpx.AsyncClient(headers=headers, timeout=timeout, limits=limits)
        except (OSError, ssl.SSLError) as error:  # SSL_CERT_FILE names no file, or none of certificates
            raise BackendError(f"SSL_CERT_FILE cannot be used: {error}") from None
        except ValueError as error:  # a proxy of the environment
            raise BackendError(f"the proxy settings of the environment cannot be used: {error}") from None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="evalspan-http", daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        return f"HttpClient({self._settings.url!r})"

    def submit(self, coroutine: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Run a coroutine in the loop; cancelling the future cancels it.

        Raises:
            BackendError: the client is closed.
        """
        if self._loop.is_closed():
            coroutine.close()
            raise BackendError("the connection to the server is closed: the backend was shut down")
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def close(self) -> None:
        """Cancel what runs and close all connections."""
        if self._loop.is_closed():
            return

        async def end() -> None:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await self._client.aclose()
            await self._loop.shutdown_default_executor()

        self.submit(end()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def ask(self, method: str, url: str, body: Mapping[str, Any] | None = None) -> Any:
        """The JSON that a question is answered with.

        Raises:
            BackendError: the server cannot be reached, or answers with an error (`StatusError`) or with no JSON.
        """
        future = self.submit(self._ask(method, url, body))
        try:
            return future.result()
        finally:
            future.cancel()  # where waiting was interrupted

    async def _ask(self, method: str, url: str, body: Mapping[str, Any] | None) -> Any:
        async with self._opened(method, url, body) as response:
            try:
                content = await response.aread()
            except self._httpx.TransportError as error:
                raise self._unreachable(error) from None
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise BackendError(
                f"{url} answers with no JSON ({_content_type(response)}): is it an OpenAI-compatible server?"
            ) from None

    @asynccontextmanager
    async def stream(self, url: str, body: Mapping[str, Any]) -> AsyncIterator[AsyncIterator[bytes]]:
        """The bytes of a streamed answer as they come.

        Raises:
            BackendError: as `ask`, or the answer is no stream.
            BrokenStream: from the iterator, where the connection breaks.
        """
        async with self._opened("POST", url, body) as response:
            if _content_type(response) != "text/event-stream":
                raise BackendError(
                    f"{url} answers with {_content_type(response)} where text/event-stream was asked for: it does not "
                    "stream completions"
                )
            yield self._pieces(response)

    async def _pieces(self, response: httpx.Response) -> AsyncIterator[bytes]:
        try:
            async for piece in response.aiter_bytes():
                yield piece
        except self._httpx.ReadTimeout:
            raise BrokenStream(f"sent nothing for {self._settings.read_timeout:g} s") from None
        except (self._httpx.TransportError, self._httpx.DecodingError) as error:
            raise BrokenStream(f"broke off: {self._redacted(str(error))}") from None

    @asynccontextmanager
    async def _opened(self, method: str, url: str, body: Mapping[str, Any] | None) -> AsyncIterator[httpx.Response]:
        """An answer with a good status; what may pass is tried again, and nothing of an answer has been read yet."""
        for attempt in range(self._settings.retries + 1):
            last = attempt == self._settings.retries
            request = self._client.build_request(method, url, json=body)
            try:
                response = await self._client.send(request, stream=True)
            except self._httpx.ReadTimeout:
                raise BackendError(
                    f"{url} does not answer within {self._settings.read_timeout:g} s: give it longer with "
                    "EVALSPAN_HTTP_READ_TIMEOUT"
                ) from None
            except self._httpx.TransportError as error:
                if last or _is_final(error):
                    raise self._unreachable(error) from None
                await self.pause(attempt)
                continue
            wait = _retry_after(response)
            if response.status_code in _RETRIED and not last and (wait or 0) <= self._settings.longest_wait:
                await response.aclose()
                await self.pause(attempt, wait)
                continue
            try:
                if response.status_code != 200:
                    raise await self._refusal(url, response)
                yield response
                return
            finally:
                await response.aclose()

    async def pause(self, attempt: int, wait: float | None = None) -> None:
        """Wait before a new attempt: as long as the server asks, else a random part of a time that doubles."""
        longest = min(self._settings.backoff * 2.0 ** min(attempt, 30), self._settings.longest_wait)
        await asyncio.sleep(self._jitter.uniform(0, longest) if wait is None else wait)

    async def _refusal(self, url: str, response: httpx.Response) -> BackendError:
        status = response.status_code
        try:
            content = await response.aread()
        except self._httpx.TransportError:
            content = b""
        said = self._redacted(_message(content))
        reason = f": {said}" if said else ""
        key = self._settings.key
        if status in (401, 403):
            if key is None:
                return StatusError(f"{url} wants a key ({status}): set {KEY_VARIABLES[0]}{reason}", status)
            return StatusError(f"{url} refuses {key} ({status}){reason}", status)
        if 300 <= status < 400:
            target = self._redacted(response.headers.get("location", "nowhere"))
            return StatusError(f"{url} redirects to {target}: give that address", status)
        if status in _RETRIED and (wait := _retry_after(response)) is not None:
            return StatusError(f"{url} asks to come back in {wait:g} s ({status}){reason}", status)
        if status == 404:
            return StatusError(f"{url} is not there (404){reason}", status)
        if status == 413 or (status == 400 and "context" in said):
            return PromptError(f"the server refuses the prompt ({status}){reason}")
        return StatusError(f"{url} answers with status {status}{reason}", status)

    def _unreachable(self, error: Exception) -> BackendError:
        url = self._settings.url
        if isinstance(error, self._httpx.ConnectTimeout):
            seconds = self._settings.connect_timeout
            return ModelError(f"{url} cannot be reached within {seconds:g} s: is the server up?")
        text = self._redacted(str(error) or type(error).__name__)
        if _is_final(error):
            return ModelError(f"{url} has a certificate that is not trusted ({text}): name its CA in SSL_CERT_FILE")
        return ModelError(f"{url} cannot be reached ({text}): is the server up?")

    def _redacted(self, text: str) -> str:
        """The text without the key, which some servers quote; one line of it."""
        key = self._settings.key
        text = " ".join(text.split())
        if key is not None:
            text = text.replace(key.secret, f"[{key.variable}]")
        return text[:_QUOTED]


def _is_final(error: BaseException) -> bool:
    """Whether a failed connection will fail again: its certificate is not trusted."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def _content_type(response: httpx.Response) -> str:
    kind: str = response.headers.get("content-type", "no content type")
    return kind.partition(";")[0].strip().lower()


def _retry_after(response: httpx.Response) -> float | None:
    """The seconds that the server asks to wait, None where it does not say."""
    value = response.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])  # a longer number is centuries all the same
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _message(content: bytes) -> str:
    """What an error body says: OpenAI's form, FastAPI's, or plain text."""
    text = content[:65536].decode("utf-8", "replace")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return "" if text.lstrip().startswith("<") else text
    for name in ("error", "message", "detail"):
        if isinstance(found, dict) and name in found:
            found = found[name]
    return found if isinstance(found, str) else json.dumps(found)
