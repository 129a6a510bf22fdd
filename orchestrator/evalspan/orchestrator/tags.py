"""Finding tags in a stream of bytes, however it is cut: an Aho-Corasick automaton over all registered tags.

The registry refuses tags that overlap, so at most one tag can end at any byte, and after it the search starts anew.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable

__all__ = ["TagAutomaton"]


class TagAutomaton:
    """States are integers, 0 is the root. `depth[state]` is how many of the last bytes may begin a tag, and
    `prefixes[state]` which."""

    def __init__(self, tags: Iterable[bytes]) -> None:
        self.tags = tuple(tags)
        self.depth = [0]
        self.prefixes = [b""]
        self._next: list[dict[int, int]] = [{}]
        self._tag: list[int] = [-1]
        for index, tag in enumerate(self.tags):
            state = 0
            for byte in tag:
                if byte not in self._next[state]:
                    self._next[state][byte] = len(self._next)
                    self._next.append({})
                    self._tag.append(-1)
                    self.depth.append(self.depth[state] + 1)
                    self.prefixes.append(self.prefixes[state] + bytes([byte]))
                state = self._next[state][byte]
            self._tag[state] = index
        self._fail = self._failure_links()
        first = b"".join(re.escape(bytes([byte])) for byte in self._next[0])
        # A single character class: it cannot backtrack.
        self._candidate = re.compile(b"[" + first + b"]") if first else None

    def _failure_links(self) -> list[int]:
        fail = [0] * len(self._next)
        queue = deque(self._next[0].values())
        while queue:
            state = queue.popleft()
            for byte, child in self._next[state].items():
                back = fail[state]
                while back and byte not in self._next[back]:
                    back = fail[back]
                fail[child] = self._next[back].get(byte, 0)
                queue.append(child)
        return fail

    def scan(self, state: int, data: bytes, start: int) -> tuple[int, int, int]:
        """Read `data` from `start` until a tag ends.

        Answers `(state, end, tag)`: `end` is the index after the last byte read; `tag` is the index of the tag
        that ends there, or -1 where the data is used up. After a tag the state is the root.
        """
        following, fail = self._next, self._fail
        position, size = start, len(data)
        while position < size:
            if state == 0:
                found = self._candidate.search(data, position) if self._candidate else None
                if found is None:
                    return 0, size, -1
                position = found.start()
            byte = data[position]
            while state and byte not in following[state]:
                state = fail[state]
            state = following[state].get(byte, 0)
            position += 1
            if self._tag[state] >= 0:
                return 0, position, self._tag[state]
        return state, size, -1
