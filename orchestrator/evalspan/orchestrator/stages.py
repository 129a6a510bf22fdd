"""The parts of an output one after the other, each with its own grammar and its own rules for spans.

A window ends with its close. Any other part ends where the model writes what the part does not allow and what comes
next does, so it takes all it can, as a lexeme does; before what the engine writes, it ends where it can. A token
belongs to one part. What stands on both sides of such a
seam must not spell a tag together: tokens that would complete one are not allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from evalspan.orchestrator.grammar import Observer, WindowRule
from evalspan.orchestrator.guard import TagGuard
from evalspan.orchestrator.matcher import Mask, Matcher
from evalspan.orchestrator.tags import TagAutomaton
from evalspan.policies import Channel, SpanRule

__all__ = ["Stage", "Stages"]

_CHARACTER_BYTES = 4  # of UTF-8; a token has at least one of them


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of one output: what is read in it, and what keeps it in shape (nothing, where it is not masked)."""

    opens: Mapping[bytes, SpanRule]
    channels: Mapping[bytes, Channel]
    window: WindowRule | None = None
    matcher: Matcher | None = None
    guard: TagGuard | None = None
    observer: Observer | None = None


class Stages:
    """Where one output stands among its parts."""

    def __init__(
        self,
        stages: Sequence[Stage],
        automaton: TagAutomaton,
        eos_ids: Collection[int],
        seams: Callable[[], TagGuard],
    ) -> None:
        """`seams` makes the guard of all tags, which few outputs need."""
        self._stages = stages
        self._automaton = automaton
        self._eos = sorted(eos_ids)
        self._seams = seams
        self._at = 0
        self._entered = 0
        """Tokens of the output before the current part."""
        self._choices: list[tuple[int, Mask]] | None = None
        """The parts that the next token may belong to, where there are several, with what each allows; None where
        nobody has asked since the last token."""
        self._seam = 0
        """The automaton's state as if there had been no seam; 0 once no tag can cross it any more."""
        self._since = 0
        """Bytes since the seam."""

    @property
    def several(self) -> bool:
        """Whether the output has more than one part."""
        return len(self._stages) > 1

    @property
    def current(self) -> Stage:
        """The part that the output stands in."""
        return self._stages[self._at]

    @property
    def close(self) -> bytes | None:
        """What ends the window that the output stands in."""
        window = self.current.window
        return None if window is None else window.close.encode()

    def fork(self) -> Stages:
        """Parts in the same state, which go on by themselves."""
        twin = copy(self)
        twin._stages = [
            replace(
                stage,
                matcher=stage.matcher.fork() if stage.matcher is not None else None,
                observer=stage.observer.fork() if stage.observer is not None else None,
            )
            for stage in self._stages
        ]
        return twin

    def overdue(self, tokens: int, *, inside_character: bool) -> WindowRule | None:
        """The window that must end now that the output has so many tokens: between characters, where it can."""
        window = self.current.window
        if window is None or window.max_tokens is None:
            return None
        over = tokens - self._entered - window.max_tokens
        return window if over >= (_CHARACTER_BYTES - 1 if inside_character else 0) else None

    def enter_next(self, tokens: int) -> Stage:
        """Go to the next part, the output having so many tokens. A close has ended all that was open."""
        return self._enter(self._at + 1, tokens, 0)

    def widened(self, allowed: Mask, state: int) -> Mask:
        """The tokens that may come next, given those that the current part allows, and the state of the automaton
        that reads it."""
        if self._seam:
            allowed = allowed & self._seams().crossing(self._seam, self._since)
        choices: list[tuple[int, Mask]] = []
        self._choices = choices
        if not self._may_end(self._at):
            return allowed
        at = self._at
        choices.append((at, self._going_on(allowed)))
        while self._may_end(at):
            at += 1
            begun = self._at_start(at, self._seam or state)
            choices.append((at, self._going_on(begun) if at + 1 < len(self._stages) else begun))
        whole: Mask = np.logical_or.reduce([mask for _, mask in choices])
        return whole

    @property
    def asked(self) -> bool:
        """Whether `widened` has answered for the next token."""
        return self._choices is not None

    def passed(self, token: int, state: int, tokens: int) -> Stage | None:
        """The part that a token belongs to, where that is not the current one: the first that allows it.

        The token is among those that `widened` answered for this state.
        """
        choices, self._choices = self._choices, None
        for at, mask in choices or ():
            if mask[token]:
                return None if at == self._at else self._enter(at, tokens, self._seam or state)
        return None

    def due(self, state: int, tokens: int) -> Stage | None:
        """The part that begins with what the engine writes and may begin here; the model could not choose it."""
        at = self._at
        while self._may_end(at):
            at += 1
            following = self._stages[at].matcher
            if following is not None and following.directive_due() is not None:
                return self._enter(at, tokens, self._seam or state)
        return None

    def read(self, data: bytes) -> bool:
        """Take bytes that were written after a seam; true if they complete a tag that has begun before it."""
        if not self._seam:
            return False
        self._seam, end, tag = self._automaton.scan(self._seam, data, 0)
        self._since += end
        if self._automaton.depth[self._seam] <= self._since:
            self._seam = 0
        return tag >= 0 and len(self._automaton.tags[tag]) > self._since

    def _enter(self, at: int, tokens: int, seam: int) -> Stage:
        self._at, self._entered = at, tokens
        self._seam, self._since = seam, 0
        self._choices = None
        return self.current

    def _may_end(self, at: int) -> bool:
        stage = self._stages[at]
        return (
            at + 1 < len(self._stages)
            and stage.window is None
            and stage.matcher is not None
            and stage.matcher.accepting()
        )

    def _at_start(self, at: int, seam: int) -> Mask:
        """What a part allows for its first token."""
        stage = self._stages[at]
        if stage.matcher is None:
            raise ValueError("a part without a mask begins only where a window ends")
        allowed = stage.matcher.mask()
        if stage.guard is not None:
            allowed = allowed & stage.guard.allowed(0)
        return allowed & self._seams().crossing(seam, 0) if seam else allowed

    def _going_on(self, allowed: Mask) -> Mask:
        """Without the end: there are more parts."""
        allowed = allowed.copy()
        allowed[self._eos] = False
        return allowed
