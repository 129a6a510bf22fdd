"""The bytes between the host and a worker process: length-prefixed, fixed layout, nothing that executes."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Sequence

from evalspan.evaluators.outcome import Failure, Outcome, Value
from evalspan.policies import ErrorCode

__all__ = [
    "REPLY_HEAD",
    "REQUEST_HEAD",
    "decode_reply",
    "encode_reply",
    "encode_request",
    "read_exactly",
    "reply_length",
]

REQUEST_HEAD = struct.Struct("<HHI")
"""Index of the evaluator, number of options (u32 each, before the input), bytes of the input."""

REPLY_HEAD = struct.Struct("<BIBI")
"""Kind (0 exact, 1 rounded, 2 + index of the error code), offset, piece length, bytes of the text."""

_MAX_TEXT_BYTES = 1024 * 1024  # the longest text that a reference may answer, far over any result limit
_CODES = tuple(ErrorCode)


def encode_request(index: int, options: Sequence[int], data: bytes) -> bytes:
    """The bytes of one evaluation."""
    return REQUEST_HEAD.pack(index, len(options), len(data)) + struct.pack(f"<{len(options)}I", *options) + data


def encode_reply(outcome: Outcome) -> bytes:
    """The bytes of one answer."""
    if isinstance(outcome, Value):
        text = outcome.text.encode("utf-8", "surrogatepass")
        return REPLY_HEAD.pack(0 if outcome.exact else 1, 0, 0, len(text)) + text
    text = outcome.message.encode("utf-8", "replace")
    kind = 2 + _CODES.index(outcome.code)
    return REPLY_HEAD.pack(kind, outcome.offset, outcome.piece_length, len(text)) + text


def reply_length(head: bytes) -> int:
    """Bytes of the text that follows a reply's head.

    Raises:
        ValueError: more than any reply has.
    """
    length: int = REPLY_HEAD.unpack(head)[3]
    if length > _MAX_TEXT_BYTES:
        raise ValueError(f"reply of {length} bytes")
    return length


def decode_reply(reply: bytes) -> Outcome:
    """The outcome in a reply.

    Raises:
        ValueError: the bytes are no reply.
    """
    kind, offset, piece, length = REPLY_HEAD.unpack_from(reply)
    text = reply[REPLY_HEAD.size :]
    if len(text) != length or kind >= 2 + len(_CODES):
        raise ValueError("malformed reply")
    if kind < 2:
        try:
            return Value(text.decode(), kind == 0)
        except UnicodeDecodeError:
            return Failure(ErrorCode.REFUSED, "the text is not valid UTF-8")
    return Failure(_CODES[kind - 2], text.decode(), offset, piece)


def read_exactly(fd: int, size: int, wait: Callable[[], None] | None = None) -> bytes:
    """`size` bytes from a pipe; `wait` is called before each read.

    Raises:
        EOFError: the other side is gone.
    """
    read = b""
    while len(read) < size:
        if wait is not None:
            wait()
        part = os.read(fd, size - len(read))
        if not part:
            raise EOFError
        read += part
    return read
