"""Running a generation again from the tokens that were drawn: masks, evaluations, forced tokens, text and end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalspan.orchestrator.actions import Force, Stop
from evalspan.orchestrator.errors import DecodeError, EmptyMask
from evalspan.orchestrator.events import Event, FinishReason, Injected
from evalspan.orchestrator.grammar import Grammar
from evalspan.orchestrator.machine import SpanMachine
from evalspan.orchestrator.receipts.difference import Problem
from evalspan.orchestrator.receipts.facts import Course, told
from evalspan.orchestrator.receipts.ledger import ModelRun
from evalspan.orchestrator.receipts.model import Receipt
from evalspan.orchestrator.replay import Replayer
from evalspan.orchestrator.stopping import StopStrings
from evalspan.orchestrator.token_log import TokenLog

__all__ = ["Rebuilt", "rebuild"]

_NO_LIMIT = 2**31  # tokens; more than any context holds


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """How a generation goes when it is run again, as far as it goes, and what was not as recorded on the way."""

    course: Course | None
    problems: tuple[Problem, ...]


def rebuild(
    receipt: Receipt, replayer: Replayer, vocabulary_size: int, grammar: Grammar, model: ModelRun | None = None
) -> Rebuilt:
    """Run a receipt's generation again; with a model, look also at how each token came to be drawn.

    Raises:
        GrammarError: the grammar does not compile.
        RequestError: a parameter cannot be honoured.
    """
    for index, (token, _) in enumerate(receipt.output.tokens):
        if not 0 <= token < vocabulary_size:
            problem = Problem(f"output.tokens[{index}]", f"the vocabulary of {vocabulary_size} has no token {token}")
            return Rebuilt(None, (problem,))
    output = receipt.output
    if output.reason != "length":
        return _Rebuilding(receipt, replayer, grammar, _NO_LIMIT).run(model)
    # A block that does not fit is not begun: then there was room for a token more, though not for the block.
    used = output.sampled_tokens + output.forced_tokens
    if used < 1:
        return Rebuilt(None, (Problem("output.sampled_tokens", "no output is so short"),))
    found = _Rebuilding(receipt, replayer, grammar, used).run(model)
    if found.course is None or len(told(found.course.events)) >= len(output.events):
        return found
    again = _Rebuilding(receipt, replayer, grammar, used + 1).run(None)
    return found if again.course is None else Rebuilt(again.course, found.problems)


class _Rebuilding:
    def __init__(self, receipt: Receipt, replayer: Replayer, grammar: Grammar, limit: int) -> None:
        request, self._receipt = receipt.request, receipt
        stop = request.stop
        self._machine: SpanMachine = replayer.reader(
            mode=request.mode,
            grammar=grammar,
            max_tokens=limit,
            stops=StopStrings((stop.string,), keep=stop.keep) if stop is not None else None,
        ).machine
        self._log = TokenLog(request.prompt_tokens)
        self._events: list[Event] = []
        self._reason: FinishReason | None = None

    def run(self, model: ModelRun | None) -> Rebuilt:
        problems: list[Problem] = []
        if model is not None:
            model.feed(self._receipt.request.prompt_tokens)
        drawn = [i for i, (_, kind) in enumerate(self._receipt.output.tokens) if kind in ("sampled", "dropped")]
        for index in drawn:
            if self._reason is not None:
                problems.append(Problem(f"output.tokens[{index}]", f"stands behind the end ({self._reason})"))
                break
            try:
                found = list(self._draw(index, model))
            except DecodeError as error:
                found = [Problem(f"output.tokens[{index}]", str(error))]
                return Rebuilt(None, (*problems, *found))
            problems += found
            if any(problem.path.startswith("output.") for problem in found):
                return Rebuilt(None, tuple(problems))
        self._end()
        if self._reason is None:
            message = f"{self._receipt.output.reason} is recorded, and the output would go on"
            return Rebuilt(None, (*problems, Problem("output.reason", message)))
        finished = self._machine.finished(self._reason, len(self._receipt.request.prompt_tokens))
        reason = "interrupted" if self._reason == "cancelled" else self._reason
        return Rebuilt(Course(reason, self._log.tokens, self._events, finished), tuple(problems))

    def _draw(self, index: int, model: ModelRun | None) -> Iterator[Problem]:
        """Take a token that was drawn; what is wrong with it."""
        token = self._receipt.output.tokens[index][0]
        path = f"output.tokens[{index}]"
        try:
            mask = self._machine.mask()
        except EmptyMask as error:
            yield Problem(path, str(error))
            return
        if mask is not None and not mask[token]:
            yield Problem(path, f"the mask forbids token {token} here")
            return
        if model is not None:
            yield from model.draw(token, mask)
        self._log.drawn(token)
        action = self._machine.advance(token)
        self._log.followed(action)
        self._events += self._machine.drain()
        if isinstance(action, Stop):
            self._reason = action.reason
            return
        fed = [token]
        if isinstance(action, Force):
            fed = [*(() if action.replaces_token else (token,)), *action.tokens]
            self._events += (Injected(b.span, b.kind, b.text, b.tokens, 0.0) for b in action.blocks)
            if self._machine.remaining <= 0:
                self._stop("length")
        if model is not None:
            model.feed(fed)

    def _end(self) -> None:
        """End an output that was cut off from outside."""
        if self._reason is None and self._receipt.output.reason == "interrupted":
            self._stop("cancelled")

    def _stop(self, reason: FinishReason) -> None:
        self._reason = self._machine.stop(reason).reason
        self._events += self._machine.drain()
