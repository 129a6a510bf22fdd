"""Pipes to a child process that answers inputs: a length and the bytes there, a length and a JSON object back."""

from __future__ import annotations

import json
import os
import select
import struct
import time
from typing import Any

__all__ = ["Pipes"]


class Pipes:
    """This side of two pipes. The child inherits `child_ends`, which are closed here once it runs."""

    def __init__(self) -> None:
        there, self._to = os.pipe()
        self._from, back = os.pipe()
        self.child_ends = (there, back)
        """What the child reads from, and what it writes to."""
        self._poll = select.poll()
        self._poll.register(self._from, select.POLLIN)

    def close_child_ends(self) -> None:
        """Leave them to the child alone: its end is then the end of the pipes."""
        for end in self.child_ends:
            os.close(end)

    def ask(self, data: bytes, seconds: float) -> dict[str, Any]:
        """The child's answer to an input. Errors as `read`."""
        os.write(self._to, struct.pack("<I", len(data)) + data)  # 16 KiB at most, less than any pipe holds
        return self.read(seconds)

    def read(self, seconds: float) -> dict[str, Any]:
        """What the child says next.

        Raises:
            TimeoutError: it says nothing within `seconds` of wall time.
            EOFError, OSError, ValueError: the process is gone, or what it wrote is no answer.
        """
        until = time.monotonic() + seconds
        (length,) = struct.unpack("<I", self._exactly(4, until))
        answer: dict[str, Any] = json.loads(self._exactly(length, until))
        return answer

    def close(self) -> None:
        """Close this side."""
        os.close(self._to)
        os.close(self._from)

    def _exactly(self, count: int, until: float) -> bytes:
        data = b""
        while len(data) < count:
            left = until - time.monotonic()
            if left <= 0 or not self._poll.poll(left * 1000):
                raise TimeoutError
            part = os.read(self._from, count - len(data))
            if not part:
                raise EOFError
            data += part
        return data
