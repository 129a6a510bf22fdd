"""Reading one streamed completion: from events to chunks, and why it ended."""

from __future__ import annotations

import json
from typing import Any, Literal

from evalspan.backends.openai_http_dialects import Dialect
from evalspan.backends.openai_http_sse import EventStream
from evalspan.orchestrator.backend import Chunk
from evalspan.orchestrator.errors import BackendError

__all__ = ["End", "Turn"]

End = Literal["eos", "length", "stop"]
"""Why the server ended: `stop` is a stop string, which is part of the text."""


class Turn:
    """The stream of one request. Tokens whose text is still held back by the server wait here for it."""

    def __init__(self, dialect: Dialect, stops: tuple[str, ...]) -> None:
        """`stops` are the stop strings that were sent."""
        self.end: End | None = None
        self.shows_tokens = dialect.tells_tokens
        """Whether every text so far came with its tokens."""
        self.started = False
        self._dialect = dialect
        self._stops = stops
        self._events = EventStream()
        self._tail = ""
        self._tokens: list[int] = []
        self._half = ""

    def read(self, data: bytes) -> list[Chunk]:
        """The chunks in some bytes of the stream.

        Raises:
            BackendError: the server reports an error, or what it sends is no completion.
        """
        chunks: list[Chunk] = []
        for event in self._events.feed(data):
            self.started = True
            if event != "[DONE]" and self.end is None:
                self._take(event, chunks)
        return chunks

    def _take(self, event: str, chunks: list[Chunk]) -> None:
        try:
            found = json.loads(event)
        except (ValueError, RecursionError):
            raise BackendError(f"the server sent an event that is no JSON: {event[:80]!r}") from None
        if not isinstance(found, dict):
            raise BackendError(f"the server sent an event that is no completion: {event[:80]!r}")
        if error := found.get("error"):
            said = error.get("message", error) if isinstance(error, dict) else error
            raise BackendError(f"the server ended the completion with an error: {' '.join(str(said).split())[:300]}")
        choices = found.get("choices")
        if not isinstance(choices, list):
            raise BackendError(f"the server sent an event that is no completion: {event[:80]!r}")
        if choices:  # none: it reports what was used
            self._choice(choices[0], chunks)

    def _choice(self, choice: Any, chunks: list[Chunk]) -> None:
        text = choice.get("text") if isinstance(choice, dict) else None
        tokens = choice.get("token_ids") if isinstance(choice, dict) else None
        if not isinstance(text, str):
            raise BackendError("the server sent a completion without a text: is its address that of completions?")
        if self.shows_tokens and isinstance(tokens, list) and all(type(token) is int for token in tokens):
            self._tokens += tokens
        elif text:
            self.shows_tokens = False
        if finish := choice.get("finish_reason"):
            text += self._finish(finish, choice.get(self._dialect.stop_field or ""), text)
        text, self._half = _whole(self._half + text, last=self.end is not None)
        if text or (self.end is not None and self._tokens):
            chunks.append(Chunk(text.encode(), tuple(self._tokens) if self.shows_tokens else ()))
            self._tokens.clear()
            self._tail = (self._tail + text)[-_TAIL:]

    def _finish(self, finish: Any, stopped_by: Any, text: str) -> str:
        """Take note of why the server ended; what is missing of a stop string is the answer."""
        if finish == "length":
            self.end = "length"
        elif finish != "stop":
            raise BackendError(f"the server ended the completion with {str(finish)[:80]!r}")
        elif isinstance(stopped_by, str) and stopped_by in self._stops:
            self.end = "stop"
            if not (self._tail + self._half + text).endswith(stopped_by):
                self.shows_tokens = False  # those of the stop string are not whole ones
                return stopped_by
        else:
            self.end = "eos"
        return ""


_TAIL = 1024  # characters of the end of the text that are kept; a tag is far shorter


def _whole(text: str, *, last: bool) -> tuple[str, str]:
    """The text without a lone half of a character at its end, which waits for the other; elsewhere it is replaced."""
    half = ""
    if text and "\ud800" <= text[-1] <= "\udbff" and not last:
        text, half = text[:-1], text[-1]
    if text.isascii():
        return text, half
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"), half
