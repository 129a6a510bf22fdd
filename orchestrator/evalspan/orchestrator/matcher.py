"""Masks from llguidance: which tokens may come next, and whether an injection is due."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import llguidance
import llguidance.numpy as bitmask
import numpy as np
from numpy.typing import NDArray

from evalspan.orchestrator.backend import Tokenizer
from evalspan.orchestrator.errors import DecodeError, GrammarError
from evalspan.orchestrator.grammar import MARKS, Compilation, Directive, Marks

__all__ = ["CompiledGrammar", "Mask", "Matcher", "Vocabulary", "engine_limits"]

Mask = NDArray[np.bool_]
"""Which tokens are allowed, shape `(vocab_size,)`. Shared and read-only."""

_MEMO_SIZE = 256  # masks; a tag of ten bytes needs about ten, times the states inside a UTF-8 character

# A thousand spans have two thousand tags, which no text may hold; the engine's defaults end at some three hundred.
_COMPILE_FUEL = 50_000_000  # 50,000 a millisecond, once for each grammar
_STEP_FUEL = 2_000_000  # 14,000 a millisecond, on the first visit of a lexer state
_MAX_ROW = 20_000  # items of the parser after one token

_MAX_PIECE_BYTES = 1024  # llguidance's trie counts a depth in ten bits and panics beyond; real tokens have some 128


class Vocabulary:
    """A tokenizer as llguidance sees it, with some tokens more, the marks, that the model does not have.

    The first mark asks for the result of a span, the second ends other forced text, and each further one asks for
    what a grammar's directive says. Building it takes 0.1 to 1 s, by the size of the vocabulary; it serves any
    number of grammars.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        longest = max(map(len, tokenizer.pieces))
        if longest > _MAX_PIECE_BYTES:
            raise GrammarError(
                f"the vocabulary has a token of {longest} bytes; the grammar engine takes {_MAX_PIECE_BYTES}"
            )
        self.size = len(tokenizer.pieces)
        self.marks = Marks(self.size)
        self.ll_tokenizer = llguidance.LLTokenizer(
            llguidance.TokenizerWrapper(_Wrapped(tokenizer)),
            eos_token=sorted(tokenizer.eos_ids),
        )


class _Wrapped:
    """What llguidance asks of a tokenizer; control tokens need a spelling that no text has."""

    bos_token_id = None

    def __init__(self, tokenizer: Tokenizer) -> None:
        control = sorted(tokenizer.special_ids | tokenizer.eos_ids)
        size = len(tokenizer.pieces)
        self.eos_token_id = min(tokenizer.eos_ids)
        self.special_token_ids = [*control, *range(size, size + MARKS)]
        self.tokens = [*tokenizer.pieces, *(b"<|evalspan:%d|>" % mark for mark in range(MARKS))]
        for token in control:
            self.tokens[token] = b"<|control:%d|>" % token
        self._encode = tokenizer.encode

    def __call__(self, text: bytes) -> list[int]:
        return self._encode(text)


def engine_limits() -> Any:
    """What the engine may spend on a grammar of ours."""
    return llguidance.LLParserLimits(
        initial_lexer_fuel=_COMPILE_FUEL, max_items_in_row=_MAX_ROW, step_lexer_fuel=_STEP_FUEL
    )


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
        self._limits = engine_limits()
        self._grammar = llguidance.LLMatcher.grammar_from_lark(compilation.lark)
        self.memo: dict[Hashable, Mask] = {}
        probe = self._new()
        if probe.is_error():
            raise GrammarError(f"the grammar does not compile: {probe.get_error().strip().splitlines()[0]}")

    def _new(self) -> Any:
        return llguidance.LLMatcher(self.vocabulary.ll_tokenizer, self._grammar, log_level=0, limits=self._limits)

    def matcher(self) -> Matcher:
        """A matcher at the start of the grammar."""
        return Matcher(self, self._new())


class Matcher:
    """The state of one output in its grammar. Every error of the engine is raised, never taken for an end."""

    def __init__(self, grammar: CompiledGrammar, engine: Any) -> None:
        self._grammar = grammar
        self._engine = engine
        self._vocabulary = grammar.vocabulary
        self._bits = bitmask.allocate_token_bitmask(1, self._vocabulary.size + MARKS)
        self._filled: Mask | None = None
        self._check()

    def mask(self, key: Hashable = None) -> Mask:
        """The tokens that may come next.

        A caller that stands in plain text gives what its mask depends on as `key`, and the mask is computed once.
        """
        memo = self._grammar.memo
        if not self._grammar.free_text:
            key = None
        if key is not None and (known := memo.get(key)) is not None:
            return known
        allowed: Mask = self._fill()[: self._vocabulary.size]
        allowed.flags.writeable = False
        if key is not None:
            if len(memo) >= _MEMO_SIZE:
                memo.pop(next(iter(memo)))
            memo[key] = allowed
        return allowed

    def result_due(self) -> bool:
        """Whether the grammar waits for the result of a span."""
        return bool(self._fill()[self._vocabulary.marks.result])

    def directive_due(self) -> Directive | None:
        """What the grammar waits for beside a span's result; None where it does not."""
        directives = self._grammar.directives
        if not directives:
            return None
        first = self._vocabulary.marks.directive(0)
        due = np.flatnonzero(self._fill()[first : first + len(directives)])
        return directives[int(due[0])] if len(due) else None

    def accepting(self) -> bool:
        """Whether the output may end here."""
        return bool(self._engine.is_accepting())

    def consume(self, token: int) -> None:
        """Take a token of the output.

        Raises:
            DecodeError: the grammar does not allow it here.
        """
        self._filled = None
        if not self._engine.consume_token(token):
            raise DecodeError(f"the grammar does not allow token {token} here", self._engine.get_error().strip())

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

    def _take(self, tokens: list[int], what: str) -> None:
        self._filled = None
        if not self._engine.consume_tokens(tokens):
            raise DecodeError(f"the grammar does not allow this {what} here", self._engine.get_error().strip())

    def _fill(self) -> Mask:
        if self._filled is None:
            bitmask.fill_next_token_bitmask(self._engine, self._bits)
            self._check()
            self._filled = np.unpackbits(self._bits[0].view(np.uint8), bitorder="little").view(np.bool_)
        return self._filled

    def _check(self) -> None:
        if self._engine.is_error():
            raise DecodeError("the grammar engine is in error", self._engine.get_error().strip())
