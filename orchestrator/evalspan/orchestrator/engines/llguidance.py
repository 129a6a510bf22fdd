"""llguidance, the default engine: a lexer of derivatives under an Earley parser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import llguidance
import llguidance.numpy as bitmask

from evalspan.orchestrator.backend import Tokenizer
from evalspan.orchestrator.engines.base import Allowed, MaskTable, engine_identity, spellings
from evalspan.orchestrator.errors import DecodeError, GrammarError
from evalspan.orchestrator.grammar import MARKS

__all__ = ["LLGuidance", "engine_limits"]

# What a grammar may cost before the first token. A regular expression of a line may demand a text of a million
# characters, and every unit takes 0.2 us and 40 bytes then: 0.6 s and 120 MB are what somebody else's grammar gets.
# The tags of many spans, which no text may hold, need 0.36 units a character of the grammar, so they get more.
_COMPILE_FUEL = 3_000_000
_CHARACTERS_A_UNIT = 2
_STEP_FUEL = 2_000_000  # 14,000 a millisecond, on the first visit of a lexer state
_MAX_ROW = 20_000  # items of the parser after one token

_MAX_PIECE_BYTES = 1024  # llguidance's trie counts a depth in ten bits and panics beyond; real tokens have some 128


def engine_limits(lark: str) -> Any:
    """What the engine may spend on a grammar."""
    return llguidance.LLParserLimits(
        initial_lexer_fuel=_COMPILE_FUEL + len(lark) // _CHARACTERS_A_UNIT,
        max_items_in_row=_MAX_ROW,
        step_lexer_fuel=_STEP_FUEL,
    )


class LLGuidance:
    """See `Engine`. Building it takes 0.1 to 1 s, by the size of the vocabulary.

    Raises:
        GrammarError: the vocabulary has a token that the engine cannot hold.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        longest = max(map(len, tokenizer.pieces))
        if longest > _MAX_PIECE_BYTES:
            raise GrammarError(
                f"the vocabulary has a token of {longest} bytes; the grammar engine takes {_MAX_PIECE_BYTES}"
            )
        self.identity = engine_identity("llguidance")
        self.size = len(tokenizer.pieces) + MARKS
        self.masks = MaskTable(len(tokenizer.pieces))
        self.tokenizer = llguidance.LLTokenizer(
            llguidance.TokenizerWrapper(_Wrapped(tokenizer)),
            eos_token=sorted(tokenizer.eos_ids),
        )

    def compile(self, lark: str) -> _Grammar:
        """See `Engine.compile`."""
        return _Grammar(self, lark)


class _Wrapped:
    """What llguidance asks of a tokenizer; control tokens need a spelling that no text has."""

    bos_token_id = None

    def __init__(self, tokenizer: Tokenizer) -> None:
        size = len(tokenizer.pieces)
        self.eos_token_id = min(tokenizer.eos_ids)
        self.special_token_ids = [*sorted(tokenizer.special_ids | tokenizer.eos_ids), *range(size, size + MARKS)]
        self.tokens = spellings(tokenizer, control="<|control:%d|>", mark="<|evalspan:%d|>")
        self._encode = tokenizer.encode

    def __call__(self, text: bytes) -> list[int]:
        return self._encode(text)


class _Grammar:
    def __init__(self, engine: LLGuidance, lark: str) -> None:
        grammar = llguidance.LLMatcher.grammar_from_lark(lark)
        matcher = llguidance.LLMatcher(engine.tokenizer, grammar, log_level=0, limits=engine_limits(lark))
        # Each matcher would compile the grammar again, 5 to 10 ms; a copy of one that has read nothing takes 2 us.
        self._first = _State(matcher, engine)
        if reason := self._first.error():
            raise GrammarError(f"the grammar does not compile: {reason.splitlines()[0]}")

    def start(self) -> _State:
        return self._first.copy()


class _State:
    def __init__(self, matcher: Any, engine: LLGuidance) -> None:
        self._matcher = matcher
        self._engine = engine
        self._bits = bitmask.allocate_token_bitmask(1, engine.size)

    def allowed(self) -> Allowed:
        bitmask.fill_next_token_bitmask(self._matcher, self._bits)
        return self._engine.masks.allowed(self._bits[0])

    def take(self, tokens: Sequence[int]) -> bool:
        taken = self._matcher.consume_token(tokens[0]) if len(tokens) == 1 else self._matcher.consume_tokens(tokens)
        return bool(taken)

    def allows(self, tokens: Sequence[int]) -> bool:
        return bool(self._matcher.validate_tokens(list(tokens)) == len(tokens))

    def take_back(self, count: int) -> None:
        if not self._matcher.rollback(count):
            raise DecodeError("the grammar engine cannot go back", self.error())

    def accepting(self) -> bool:
        return bool(self._matcher.is_accepting())

    def error(self) -> str:
        return str(self._matcher.get_error()).strip() if self._matcher.is_error() else ""

    def copy(self) -> _State:
        return _State(self._matcher.deep_copy(), self._engine)
