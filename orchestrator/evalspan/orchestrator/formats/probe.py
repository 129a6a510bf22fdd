"""Questions about regular languages, answered by the grammar engine itself.

The engine's derivatives know whether a lexeme has any text left, through `&` and `~` too. A terminal that matches
nothing is therefore an error at once, and "no text is in both" is a question that it can be asked.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import llguidance.numpy as bitmask
import numpy as np
from llguidance import LLMatcher

from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.matcher import engine_limits
from evalspan.policies.byte_vocabulary import END, byte_tokenizer

__all__ = ["first_bytes", "is_empty"]

_MEMO_SIZE = 8192  # answers; a structural tag of fifty tags asks some thousand questions


def is_empty(terminal: str, definitions: str = "") -> bool:
    """Whether no text matches a terminal, given as the right side of its rule.

    `definitions` are the terminals that it names.

    Raises:
        GrammarError: it is no terminal, or costs the engine too much.
    """
    return not _next(f"start: T\nT: {terminal}\n{definitions}")


def first_bytes(part: str, definitions: str = "") -> frozenset[int]:
    """The bytes that a text of this part of a rule can begin with.

    Raises:
        GrammarError: it does not compile, or costs the engine too much.
    """
    return _next(f"start: {part}\n{definitions}") - {END}


@lru_cache(maxsize=_MEMO_SIZE)
def _next(lark: str) -> frozenset[int]:
    """The tokens that a grammar allows at its start."""
    matcher = _matcher(lark)
    bits = bitmask.allocate_token_bitmask(1, END + 1)
    bitmask.fill_next_token_bitmask(matcher, bits)
    if matcher.is_error():
        reason = matcher.get_error().strip().splitlines()[0]
        if reason == "NoExtensionBias":  # the engine's word for: nothing can follow, not even the end
            return frozenset()
        raise GrammarError(f"the grammar engine gives up: {reason}")
    allowed = np.unpackbits(bits[0].view(np.uint8), bitorder="little")
    return frozenset(int(token) for token in np.flatnonzero(allowed))


def _matcher(lark: str) -> Any:
    grammar = LLMatcher.grammar_from_lark(lark)
    matcher = LLMatcher(byte_tokenizer(), grammar, log_level=0, limits=engine_limits(lark))
    if matcher.is_error():
        raise GrammarError(f"the grammar does not compile: {matcher.get_error().strip().splitlines()[0]}")
    return matcher
