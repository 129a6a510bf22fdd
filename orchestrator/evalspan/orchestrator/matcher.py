"""Masks: which tokens may come next, and whether an injection is due. A grammar engine computes them.

Plain text costs the engine nothing. In free text the mask is a function of the place: the channel, the tag and the
character that are open. It is computed once for each, and while the masks that were handed out allow what comes,
tokens only wait. Between two places of one channel where nothing is open, what was read makes no difference: the
tokens that wait are forgotten, those that the engine has taken since are taken back, and a span begins for it where
the one before did, with all that it has worked out there.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

import numpy as np

from evalspan.orchestrator.backend import Tokenizer
from evalspan.orchestrator.engines import Allowed, EngineName, EngineState, open_engine
from evalspan.orchestrator.engines.llguidance import engine_limits
from evalspan.orchestrator.errors import DecodeError, EmptyMask
from evalspan.orchestrator.grammar import Compilation, Directive, Marks
from evalspan.orchestrator.masks import Mask

__all__ = ["CompiledGrammar", "Mask", "Matcher", "Place", "Vocabulary", "engine_limits"]

_MEMO_SIZE = 4096  # masks, one for each place; a thousand spans have some ten thousand, of which text visits few

_NO_EXTENSION = "NoExtension"  # how llguidance says that the vocabulary has no token that goes on


class Place(NamedTuple):
    """What the mask of plain text depends on."""

    channel: str | None
    """The name of the channel that is open."""
    state: int
    """Of the tag automaton."""
    character: bytes
    """The bytes of the UTF-8 character that is open."""
    opened: str | None = None
    """The name of the span whose open tag has just ended."""

    @property
    def nothing_open(self) -> bool:
        """Whether the text could as well begin here, in its channel."""
        return self.state == 0 and not self.character and self.opened is None


class Vocabulary:
    """A tokenizer as a grammar engine sees it, with some tokens more, the marks, that the model does not have.

    The first mark asks for the result of a span, the second ends other forced text, and each further one asks for
    what a grammar's directive says. Building it takes 0.1 to 1 s, by the size of the vocabulary; it serves any
    number of grammars.

    Raises:
        GrammarError: the engine is not installed, or cannot hold the vocabulary.
    """

    def __init__(self, tokenizer: Tokenizer, engine: EngineName = "llguidance") -> None:
        self.size = len(tokenizer.pieces)
        self.marks = Marks(self.size)
        self.engine = open_engine(engine, tokenizer)


class CompiledGrammar:
    """A grammar for one vocabulary. `matcher()` starts a new match; masks of free text are kept for all of them.

    Raises:
        GrammarError: the engine does not take it.
    """

    def __init__(self, compilation: Compilation, vocabulary: Vocabulary) -> None:
        self.free_text = compilation.free_text
        self.directives = compilation.directives
        self.inert = compilation.inert
        self.spans = compilation.spans
        self.observation = compilation.observation
        self.vocabulary = vocabulary
        self.memo: dict[Place, Mask] = {}
        self._program = vocabulary.engine.compile(compilation.lark)

    def matcher(self) -> Matcher:
        """A matcher at the start of the grammar."""
        return Matcher(self, self._program.start())


class Matcher:
    """The state of one output in its grammar. Every error of the engine is raised, never taken for an end."""

    def __init__(self, grammar: CompiledGrammar, engine: EngineState) -> None:
        self._grammar = grammar
        self._engine = engine
        self._vocabulary = grammar.vocabulary
        self._filled: Allowed | None = None
        self._shown: Mask | None = None
        """The mask of the place that the output stands at; None where that is not known."""
        self._waiting: list[int] = []
        """Tokens that the engine has not taken, all of them allowed."""
        self._root: tuple[str | None] | None = None
        """The channel of the last place with nothing open at which the engine was; None before the first."""
        self._since = 0
        """Tokens that it has taken since then."""
        self._check()

    def mask(self, place: Place | None = None) -> Mask:
        """The tokens that may come next.

        A caller that stands in plain text of a grammar of free text says where, and the mask is computed once.
        """
        if place is None or not self._grammar.free_text:
            return self._fill().tokens
        if place.nothing_open:
            self._at_root(place.channel)
        memo = self._grammar.memo
        known = memo.get(place)
        if known is None:
            known = self.mask()
            if len(memo) >= _MEMO_SIZE:
                memo.pop(next(iter(memo)))
            memo[place] = known
        self._shown = known
        return known

    def result_due(self) -> bool:
        """Whether the grammar waits for the result of a span."""
        return bool(self._fill().marks[self._vocabulary.marks.result - self._vocabulary.size])

    def directive_due(self) -> Directive | None:
        """What the grammar waits for beside a span's result; None where it does not."""
        directives = self._grammar.directives
        if not directives:
            return None
        first = self._vocabulary.marks.directive(0) - self._vocabulary.size
        due = np.flatnonzero(self._fill().marks[first : first + len(directives)])
        return directives[int(due[0])] if len(due) else None

    def accepting(self) -> bool:
        """Whether the output may end here."""
        return self._settled().accepting()

    def consume(self, token: int) -> None:
        """Take a token of the output.

        Raises:
            DecodeError: the grammar does not allow it here.
        """
        shown, self._shown, self._filled = self._shown, None, None
        if shown is not None and 0 <= token < len(shown) and shown[token]:
            self._waiting.append(token)
            return
        engine = self._settled()
        self._since += 1
        if not engine.take([token]):
            raise DecodeError(f"the grammar does not allow token {token} here", engine.error())

    def inject(self, tokens: Sequence[int]) -> None:
        """Take the block of a span's result, after its close tag.

        Raises:
            DecodeError: the grammar expects no result here, or another one.
        """
        self._take([self._vocabulary.marks.result, *tokens], "result")

    def follow(self, directive: Directive, tokens: Sequence[int]) -> None:
        """Take the text of a directive that is due.

        Raises:
            DecodeError: the grammar expects none here, or another text.
        """
        marks = self._vocabulary.marks
        self._take([marks.directive(self._grammar.directives.index(directive)), *tokens, marks.end], "text")

    def fork(self) -> Matcher:
        """A matcher in the same state, which goes on by itself."""
        twin = copy(self)
        twin._engine = self._engine.copy()
        twin._waiting = list(self._waiting)
        return twin

    def _take(self, tokens: list[int], what: str) -> None:
        engine = self._settled()
        self._shown = self._filled = None
        if self._root is not None and engine.allows(tokens):
            self._waiting.extend(tokens)  # it may never be asked to take them
            return
        self._since += len(tokens)
        if not engine.take(tokens):
            raise DecodeError(f"the grammar does not allow this {what} here", engine.error())

    def _at_root(self, channel: str | None) -> None:
        """Nothing is open here: where the channel is the same, the engine can as well be where it was before."""
        if self._root == (channel,):
            if self._since or self._waiting:
                self._engine.take_back(self._since)
                self._waiting.clear()
                self._filled = None
        else:
            self._settled()
            self._root = (channel,)
        self._since = 0

    def _settled(self) -> EngineState:
        """The engine with every token taken."""
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            self._since += len(waiting)
            if not self._engine.take(waiting):
                raise DecodeError("the grammar does not allow what its mask did", self._engine.error())
        return self._engine

    def _fill(self) -> Allowed:
        if self._filled is None:
            self._filled = self._settled().allowed()
            self._check()
        return self._filled

    def _check(self) -> None:
        if reason := self._engine.error():
            if reason.startswith(_NO_EXTENSION):
                raise EmptyMask("the grammar allows no token", reason)
            raise DecodeError("the grammar engine is in error", reason)
