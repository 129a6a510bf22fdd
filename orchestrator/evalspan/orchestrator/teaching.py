"""Teaching a model the registry's spans: a system prompt and worked examples, both generated from the registry."""

from __future__ import annotations

from collections.abc import Iterable

from evalspan.evaluators import Evaluators, Failure
from evalspan.orchestrator.backend import Message
from evalspan.orchestrator.errors import RequestError
from evalspan.policies import Example, Registry, SpanRule

__all__ = ["lesson", "snippet", "worked_example"]


def lesson(
    registry: Registry, evaluators: Evaluators, *, spans: Iterable[str] = (), system: str | None = None
) -> list[Message]:
    """The turns that come before a user's prompt: how to write spans, and one exchange per worked example.

    `spans` are the names to teach, all by default; `system` is said first. The examples of the registry's first span
    come last: small models follow what they have read last.
    """
    wanted = list(spans)
    rules = [rule for rule in registry.spans if not wanted or rule.name in wanted]
    text = "\n".join(([system] if system else []) + [_INTRODUCTION, *map(snippet, rules)])
    turns = [Message("system", text)]
    for rule in reversed(rules):
        for example in rule.examples:
            turns.append(Message("user", example.question))
            turns.append(Message("assistant", worked_example(rule, example, evaluators)))
    return turns


_INTRODUCTION = (
    "You have exact evaluators. Where an answer needs one, write an expression between its tags; "
    "the result is put in right after it, and you go on from there. Never write a result yourself."
)


def snippet(rule: SpanRule) -> str:
    """One line that tells a model what a span is for and how its expressions are written."""
    text = f"{rule.open}…{rule.close}"
    if rule.description:
        text += f" for {rule.description}"
    if rule.syntax:
        text += f": {rule.syntax}"
    return text + "."


def worked_example(rule: SpanRule, example: Example, evaluators: Evaluators) -> str:
    """The answer of an example with its result in place, evaluated like a model's own.

    Raises:
        RequestError: the answer has no span, or its expression has no value.
    """
    before, opened, rest = example.answer.partition(rule.open)
    expression, closed, after = rest.partition(rule.close)
    if not opened or not closed:
        raise RequestError(f"span {rule.name!r}: an example's answer must contain {rule.open}…{rule.close}")
    outcome = evaluators.evaluate(rule.evaluator, expression.encode(), rule)
    if isinstance(outcome, Failure):
        raise RequestError(
            f"span {rule.name!r}: the example {expression!r} has no value: {outcome.code}: {outcome.message}"
        )
    block = f"{rule.result.open}{outcome.text}{rule.result.close}"
    return f"{before}{rule.open}{expression}{rule.close}{block}{after.replace('{result}', outcome.text)}"
