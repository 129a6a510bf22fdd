"""The guard: which tokens would complete a tag that only the engine may write, whatever the grammar says.

Free text is exact by its grammar. A grammar of the user's own need not be: two of its terminals, side by side, may
spell a tag that neither holds. The guard follows the text, not the grammar, so it holds in every tokenization.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

import numpy as np

from evalspan.orchestrator.masks import Mask
from evalspan.orchestrator.tags import TagAutomaton

__all__ = ["TagGuard"]


class TagGuard:
    """Masks by the state of the automaton that reads the text; each is made once, when it is needed.

    `tags` are among the automaton's. No tag lies in another or begins where one ends (the registry sees to it), so a
    token completes a tag if and only if it holds one or begins with what is missing of one.
    """

    def __init__(self, automaton: TagAutomaton, tags: Iterable[bytes], pieces: Sequence[bytes]) -> None:
        self._automaton = automaton
        self._tags = frozenset(tags)
        self._order = sorted(range(len(pieces)), key=pieces.__getitem__)
        self._sorted = [pieces[token] for token in self._order]
        whole = [token for token, piece in enumerate(pieces) if self._holds_tag(piece)]
        self._whole: Mask = np.ones(len(pieces), dtype=np.bool_)
        self._whole[whole] = False
        self._masks: dict[int, Mask] = {}

    def allowed(self, state: int) -> Mask:
        """The tokens that complete no tag after a text that leaves the automaton in `state`."""
        mask = self._masks.get(state)
        if mask is None:
            mask = self._whole.copy()
            read = self._automaton.prefixes[state]
            for tag in self._tags:
                for size in range(1, min(len(read), len(tag) - 1) + 1):
                    if tag.startswith(read[-size:]):
                        mask[self._beginning_with(tag[size:])] = False
            mask.flags.writeable = False
            self._masks[state] = mask
        return mask

    def crossing(self, state: int, since: int) -> Mask:
        """The tokens that complete no tag that has begun more than `since` bytes before the end of the text."""
        mask: Mask = np.ones(len(self._order), dtype=np.bool_)
        read = self._automaton.prefixes[state]
        for tag in self._tags:
            for size in range(since + 1, min(len(read), len(tag) - 1) + 1):
                if tag.startswith(read[-size:]):
                    mask[self._beginning_with(tag[size:])] = False
        return mask

    def _holds_tag(self, piece: bytes) -> bool:
        state, position = 0, 0
        while position < len(piece):
            state, position, tag = self._automaton.scan(state, piece, position)
            if tag >= 0 and self._automaton.tags[tag] in self._tags:
                return True
        return False

    def _beginning_with(self, start: bytes) -> list[int]:
        first = bisect_left(self._sorted, start)
        last = first
        while last < len(self._sorted) and self._sorted[last].startswith(start):
            last += 1
        return self._order[first:last]
