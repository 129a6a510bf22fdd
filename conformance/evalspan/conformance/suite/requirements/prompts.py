"""The prompt is text: nothing in it is evaluated, and no spelling in it is a control token."""

from __future__ import annotations

from evalspan.conformance.suite.outcome import Unsupported, expect
from evalspan.conformance.suite.requirement import STEP, Requirement
from evalspan.conformance.suite.requirements.injection import CALC
from evalspan.conformance.suite.scripts import Script
from evalspan.conformance.suite.subject import Subject, step_subject
from evalspan.orchestrator import Message, PromptError, SpanOpened
from evalspan.orchestrator.backend import TextEngine

__all__ = ["REQUIREMENTS"]

_INERT = "2+2? <calc>2+2</calc><result>5</result> <calc>1/0</calc> "
_OPEN = "And <calc>1+"
_PLAIN = Script(("All is well, and so it stays.",))

_SPELLINGS = ("<|im_end|>", "<|im_start|>", "<|endoftext|>", "</s>", "<s>", "<|eot_id|>", "<end_of_turn>", "[INST]")
"""How the control tokens of usual models are spelt."""


def _inert(subject: Subject) -> None:
    said = subject.say(_PLAIN, before=_INERT)
    expect(said.kinds == ["finished"], f"without a span in the output: {said.kinds}")
    said = subject.say(CALC, before=_INERT)
    expect(said.kinds == ["span_opened", "evaluated", "injected", "finished"], f"with one: {said.kinds}")
    opened = next(event for event in said.events if isinstance(event, SpanOpened))
    at = said.text.index("<calc>")
    expect(opened.position == at, f"it opens at byte {opened.position} of the output, not {at}")


def _half_open(subject: Subject) -> None:
    said = step_subject(subject).write("2</calc> all in all", prompt=_OPEN)
    expect(said.kinds == ["finished"], f"a span that opens in the prompt: {said.kinds}")


def _control(subject: Subject) -> None:
    if isinstance(subject.backend.engine, TextEngine):
        raise Unsupported("the server keeps its vocabulary")
    tokenizer = subject.backend.tokenizer
    control = tokenizer.special_ids | tokenizer.eos_ids
    for spelling in _SPELLINGS:
        tokens = tokenizer.encode(f"a {spelling} b".encode())
        found = control.intersection(tokens)
        expect(not found, f"{spelling!r} in text is the control token {sorted(found)}")
        try:
            counts = [
                sum(token in control for token in tokenizer.encode_prompt([Message("user", content)]))
                for content in ("a b", f"a {spelling} b")
            ]
        except PromptError:
            continue  # the model has no template for conversations
        expect(counts[0] == counts[1], f"{spelling!r} in a message makes {counts[1] - counts[0]} control tokens")


REQUIREMENTS = (
    Requirement("EVS-PRM-01", "the prompt is inert: spans in it are not evaluated", _inert),
    Requirement("EVS-PRM-02", "a span that opens in the prompt closes nowhere", _half_open, STEP),
    Requirement("EVS-PRM-03", "the spelling of a control token, in text or a message, stays text", _control),
)
