"""Questions about regular languages, answered by the grammar engine itself.

The engine's derivatives know whether a lexeme has any text left, through `&` and `~` too. A terminal that matches
nothing is therefore an error at once, and "no text is in both" is a question that it can be asked.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import llguidance.numpy as bitmask
from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper

from evalspan.orchestrator.errors import GrammarError

__all__ = ["check_lark", "is_empty"]

_END = 256  # the id after the 256 bytes
_MEMO_SIZE = 8192  # answers; a structural tag of fifty tags asks some thousand questions


class _Bytes:
    """The vocabulary: token i is byte i, and one end token."""

    eos_token_id = _END
    bos_token_id = None
    tokens = (*(bytes([i]) for i in range(256)), b"<|end|>")
    special_token_ids = (_END,)

    def __call__(self, text: bytes) -> list[int]:
        return list(text)


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    return LLTokenizer(TokenizerWrapper(_Bytes()), slices=[])


@lru_cache(maxsize=_MEMO_SIZE)
def is_empty(terminal: str) -> bool:
    """Whether no text matches a terminal, given as the right side of its rule.

    Raises:
        GrammarError: it is no terminal, or costs the engine too much.
    """
    matcher = _matcher(f"start: T\nT: {terminal}\n")
    bits = bitmask.allocate_token_bitmask(1, _END + 1)
    bitmask.fill_next_token_bitmask(matcher, bits)
    if not matcher.is_error():
        return False
    reason = matcher.get_error().strip().splitlines()[0]
    if reason != "NoExtensionBias":  # the engine's word for: nothing can follow, not even the end
        raise GrammarError(f"the grammar engine gives up: {reason}")
    return True


def check_lark(lark: str) -> None:
    """Check that a grammar without marks compiles.

    Raises:
        GrammarError: it does not; the text says what in it.
    """
    _matcher(lark)


def _matcher(lark: str) -> Any:
    matcher = LLMatcher(_tokenizer(), LLMatcher.grammar_from_lark(lark), log_level=0)
    if matcher.is_error():
        raise GrammarError(f"the grammar does not compile: {matcher.get_error().strip().splitlines()[0]}")
    return matcher
