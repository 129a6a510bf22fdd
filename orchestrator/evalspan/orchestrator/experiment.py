"""The experiment that evalspan began with: how many items are in a box of ROWS rows of ITEMS, with ADDED more?

A small model writes the right expression and the wrong number. The output is one sentence with fixed words, and the
prompt has two worked examples, so that only the expression and the number are the model's own.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from evalspan.evaluators import Evaluators, Value
from evalspan.orchestrator.backend import Message
from evalspan.orchestrator.events import Event, Finished
from evalspan.orchestrator.grammar import Mode
from evalspan.orchestrator.sentences import Restate, Sentence, SpanPart
from evalspan.policies import Registry

__all__ = ["MAX_TOKENS", "SENTENCE", "Problem", "Verdict", "conversation", "grammar_for", "judge", "problems"]

SPAN = "calc"

SENTENCE = Sentence(("The expression is ", SpanPart(SPAN), ". The box holds ", Restate(SPAN, "[0-9]{1,7}"), " items."))
"""The whole output. The closing number restates the result, where the engine has one; a model that writes its own has
seven digits for it, more than any problem needs."""

MAX_TOKENS = 96
"""Of one answer; a right one has about 40 tokens, digits being tokens of their own in small models."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A box with `rows` rows of `items` items, and `added` more."""

    rows: int
    items: int
    added: int

    @property
    def question(self) -> str:
        """The problem in words."""
        return (
            f"A box has {self.rows} rows of {self.items} items, then {self.added} more are added. "
            "How many items are in the box?"
        )

    @property
    def expression(self) -> str:
        """The expression that answers it."""
        return f"{self.rows} * {self.items} + {self.added}"

    @property
    def answer(self) -> int:
        """The number of items."""
        return self.rows * self.items + self.added


EXAMPLES = (Problem(4, 6, 5), Problem(12, 15, 40))


def problems(count: int, seed: int) -> Iterator[Problem]:
    """`count` random problems; the same seed gives the same ones."""
    draw = random.Random(seed)  # noqa: S311  an experiment, not a secret
    for _ in range(count):
        yield Problem(draw.randint(2, 40), draw.randint(2, 40), draw.randint(1, 99))


def conversation(problem: Problem, registry: Registry) -> list[Message]:
    """The prompt: what to do, two worked examples, the problem."""
    rule = registry.span(SPAN)
    turns = [Message("system", "You count items. Write the expression; its value is filled in for you.")]
    for example in EXAMPLES:
        block = f"{rule.open}{example.expression}{rule.close}{rule.result.open}{example.answer}{rule.result.close}"
        turns.append(Message("user", example.question))
        turns.append(Message("assistant", f"The expression is {block}. The box holds {example.answer} items."))
    return [*turns, Message("user", problem.question)]


Verdict = Literal["right", "wrong value", "wrong expression", "no expression"]
"""`wrong value`: the expression is right and the number stated is not."""


def judge(problem: Problem, events: Sequence[Event], registry: Registry, evaluators: Evaluators) -> Verdict:
    """What became of a problem: the expression the model wrote, then the number it stated."""
    finished = events[-1]
    if not isinstance(finished, Finished):
        raise ValueError("the events of a generation end with Finished")
    rule = registry.span(SPAN)
    _, opened, rest = finished.text.partition(rule.open)
    expression, closed, rest = rest.partition(rule.close)
    if not opened or not closed:
        return "no expression"
    outcome = evaluators.evaluate(rule.evaluator, expression.encode(), rule)
    if not isinstance(outcome, Value) or outcome.text != str(problem.answer):
        return "wrong expression"
    _, _, stated = rest.partition(". The box holds ")
    number, _, _ = stated.partition(" ")
    return "right" if number == str(problem.answer) else "wrong value"


def grammar_for(mode: Mode) -> Sentence | None:
    """The grammar of a mode: none where nothing is masked."""
    return None if mode == "no-grammar" else SENTENCE
