"""Making the blocks that are forced into a sequence: their text, their tokens, the budget of a generation."""

from __future__ import annotations

from collections.abc import Callable

from evalspan.evaluators import Failure, Outcome, Value
from evalspan.orchestrator.actions import Block
from evalspan.orchestrator.backend import Spelling, Tokenizer
from evalspan.orchestrator.encoding import encode_forced
from evalspan.orchestrator.errors import TokenizerError
from evalspan.orchestrator.events import Evaluated, Failed, InjectionKind
from evalspan.policies import ErrorCode, SpanRule

__all__ = ["BlockMaker", "Spell", "told"]

Spell = Callable[[bytes, bytes], Spelling]
"""Spells a forced text that follows a context, or raises TokenizerError."""


class BlockMaker:
    """Makes the blocks of one generation, which has `max_tokens` for them."""

    def __init__(self, tokenizer: Tokenizer | None, spell: Spell | None, max_tokens: int) -> None:
        """Without a tokenizer, `spell` says what a text costs; without either it costs nothing."""
        self._tokenizer = tokenizer
        self._spell = spell
        self._max_tokens = max_tokens

    @property
    def spells(self) -> bool:
        """Whether it is known how a text is spelt."""
        return self._tokenizer is not None or self._spell is not None

    def answer(self, rule: SpanRule, outcome: Outcome, forced: int) -> Block | Failure:
        """The block for an outcome, or why it cannot be injected; `forced` is how many tokens were so far."""
        context = rule.close.encode()
        if isinstance(outcome, Value):
            text = f"{rule.result.open}{outcome.text}{rule.result.close}"
            return self.block(rule.name, "result", text, context, forced)
        body = f"{outcome.code}: {outcome.message}" if outcome.message else str(outcome.code)
        block = self.block(rule.name, "error", f"{rule.error.open}{body}{rule.error.close}", context, forced)
        if isinstance(block, Failure) and block.code is ErrorCode.REFUSED and outcome.message:
            # Only the quoted piece can be at fault; the code alone says enough.
            return self.answer(rule, Failure(outcome.code, ""), forced)
        return block

    def block(self, span: str, kind: InjectionKind, text: str, context: bytes, forced: int) -> Block | Failure:
        """The block with its tokens, or why it cannot be injected."""
        try:
            spelling = self.spelling(text.encode(), context)
        except TokenizerError:
            return Failure(ErrorCode.REFUSED, f"the {kind} does not survive the tokenizer")
        if forced + spelling.count > self._max_tokens:
            return Failure(ErrorCode.OVER_BUDGET, f"the generation has had its {self._max_tokens} injected tokens")
        return Block(span, kind, text, spelling.tokens, spelling.count)

    def spelling(self, text: bytes, context: bytes) -> Spelling:
        """How a text after this context is spelt.

        Raises:
            TokenizerError: no tokens spell it.
        """
        context = context.decode("utf-8", "ignore").encode()  # a cut character is none
        if self._spell is not None:
            return self._spell(text, context)
        if self._tokenizer is None:
            return Spelling((), 0)
        tokens = tuple(encode_forced(self._tokenizer, text, context))
        return Spelling(tokens, len(tokens))


def told(rule: SpanRule, content: bytes, outcome: Outcome, microseconds: float) -> Evaluated | Failed:
    """The event of an evaluation."""
    text = content.decode("utf-8", "replace")
    if isinstance(outcome, Failure):
        place = (outcome.code, outcome.message, outcome.offset)
        return Failed(rule.name, rule.evaluator, text, *place, outcome.fuel, microseconds)
    return Evaluated(rule.name, rule.evaluator, text, outcome.text, outcome.exact, outcome.fuel, microseconds)
