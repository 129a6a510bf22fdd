"""Server-sent events, as the HTML standard parses them, from the bytes of a response however it is cut."""

from __future__ import annotations

from evalspan.orchestrator.errors import BackendError

__all__ = ["EventStream"]

_LONGEST_EVENT = 16 << 20  # bytes; an event is one token, and a server that sends no line end must not fill memory


class EventStream:
    """Bytes in, the data of whole events out. Comments and fields other than `data` are passed over."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._after_return = False
        self._first = True

    def feed(self, chunk: bytes) -> list[str]:
        """The data of the events that this chunk completes; an event that is cut off is never given.

        Raises:
            BackendError: an event is too large, or is not UTF-8.
        """
        events: list[str] = []
        if not chunk:
            return events
        if self._after_return:
            chunk = chunk.removeprefix(b"\n")  # CR LF is one line end, also where it is cut in two
        self._after_return = chunk.endswith(b"\r")
        *lines, rest = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for line in lines:
            self._line += line
            self._take(bytes(self._line), events)
            self._line.clear()
        self._line += rest
        if len(self._line) + self._size > _LONGEST_EVENT:
            raise BackendError(f"the server sent an event of more than {_LONGEST_EVENT >> 20} MiB")
        return events

    def _take(self, line: bytes, events: list[str]) -> None:
        if self._first:
            line = line.removeprefix(b"\xef\xbb\xbf")
            self._first = False
        if not line:
            if self._data:
                try:
                    events.append(b"\n".join(self._data).decode())
                except UnicodeDecodeError:
                    raise BackendError("the server sent an event that is not UTF-8") from None
            self._data.clear()
            self._size = 0
            return
        field, _, value = line.partition(b":")
        if field == b"data":
            self._data.append(value.removeprefix(b" "))
            self._size += len(value)
