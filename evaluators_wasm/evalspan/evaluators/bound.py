"""One evaluator under one set of limits: bytes limit, then the runtime, then the result policy."""

from __future__ import annotations

from collections.abc import Iterable

from evalspan.evaluators.outcome import Failure, Outcome, Value
from evalspan.evaluators.runtime import Run
from evalspan.policies import ErrorCode, Limits, ResultPolicy, SpanRule, quote_piece

__all__ = ["BoundEvaluator"]

_MAX_MESSAGE_BYTES = 256
"""`code: message: piece`: 17, 200 and 32 bytes at most, and what separates them."""


class BoundEvaluator:
    """Evaluates bytes under `limits`; `options` are the values the evaluator is given. For one thread."""

    def __init__(
        self,
        run: Run,
        limits: Limits,
        options: tuple[int, ...],
        results: ResultPolicy,
        tags: Iterable[str],
        rule: SpanRule | None,
    ) -> None:
        self.limits = limits
        self.options = options
        self.rule = rule
        """Kept so that the rule lives as long as what was derived from it."""
        self._run = run
        self._max_input = limits.max_input_bytes
        self._objection = results.objection
        self._messages = ResultPolicy(tags, _MAX_MESSAGE_BYTES)

    def __call__(self, data: bytes) -> Outcome:
        """The answer to `data`, fit to be injected."""
        outcome = self.answer(data)
        if isinstance(outcome, Value):
            objection = self._objection(outcome.text)
            if objection is None:
                return outcome
            outcome = Failure(ErrorCode.REFUSED, objection, fuel=outcome.fuel)
        return self._final(outcome, data)

    def answer(self, data: bytes) -> Outcome:
        """The evaluator's own answer, before the result policy. For comparing evaluators, never to be injected."""
        if len(data) > self._max_input:
            message = f"the input has {len(data)} bytes, the limit is {self._max_input}"
            return Failure(ErrorCode.TOO_LONG, message, self._max_input)
        return self._run(data)

    def _final(self, failure: Failure, data: bytes) -> Failure:
        """The failure with its final message: with the piece, without it, or none, as the policy allows."""
        code, message, offset, length = failure.code, failure.message, failure.offset, failure.piece_length
        piece = quote_piece(data, offset, length)
        for text in (f"{message}: {piece}", message) if piece else (message,):
            if self._messages.objection(f"{code}: {text}") is None:
                return Failure(code, text, offset, length, failure.fuel)
        return Failure(code, "", offset, length, failure.fuel)
