"""Request engines: the completion after a result goes on from the text with it."""

from __future__ import annotations

from typing import Any

from evalspan.conformance.suite.outcome import expect
from evalspan.conformance.suite.requirement import REQUEST, Requirement
from evalspan.conformance.suite.requirements.injection import CALC
from evalspan.conformance.suite.said import Said
from evalspan.conformance.suite.scripts import ANSWERS
from evalspan.conformance.suite.subject import PROMPT, PromptedSubject, ReplaySubject, Subject

__all__ = ["REQUIREMENTS"]


def _resumed(subject: Subject) -> None:
    said, requests = _asked(subject)
    expect(len(requests) == 2, f"{len(requests)} completions for one span")
    first, second = requests
    block = ANSWERS["calc"].block
    before, found, _ = said.text.partition(block)
    head = before + found
    expect(head.strip() == CALC.written.partition("</calc>")[0] + "</calc>" + block, f"the text begins {head!r}")
    expect(second.text == first.text + head.encode(), f"the second is asked to go on after {second.text[-80:]!r}")
    expect((first.turn, second.turn) == (0, 1), f"turns {first.turn}, {second.turn}")
    left = first.max_tokens - second.max_tokens
    expect(0 < left < first.max_tokens, f"{left} tokens are gone after {head!r}")


def _ids(subject: Subject) -> None:
    said, requests = _asked(subject)
    first, second = requests
    if not isinstance(subject, ReplaySubject):
        expect(not second.tokens or second.tokens[: len(first.tokens)] == first.tokens, "the prompt's ids have changed")
        shown = bool(said.injected[0].tokens)
        expect(bool(second.tokens) <= shown, "ids are sent although those of the result are not known")
        return
    spelt = subject.spelling.spell(second.tokens)
    expect(spelt == second.text, f"the ids spell {spelt[-80:]!r}, the text is {second.text[-80:]!r}")
    forced = said.injected[0].tokens
    expect(tuple(second.tokens[-len(forced) :]) == forced, f"the ids end with {second.tokens[-4:]}")


def _stops(subject: Subject) -> None:
    _, requests = _asked(subject)
    tags = {stop for request in requests for stop in request.stop}
    expect("</calc>" in tags, f"a server is told to stop at {sorted(tags)}")


def _asked(subject: Subject) -> tuple[Said, list[Any]]:
    """A generation with one span, and the completions that the engine was asked for."""
    if isinstance(subject, ReplaySubject):
        tokens = subject.spelling.most(CALC.written.encode())
        with subject.replaying(tokens) as (driver, engine):
            return Said(tuple(driver.stream(PROMPT, max_tokens=400))), list(engine.requests)
    if not isinstance(subject, PromptedSubject):
        raise TypeError(f"{subject.name} is no request engine")
    with subject.asked() as (driver, engine):
        said = subject.say_with(driver, CALC)
        return said, list(engine.requests)


REQUIREMENTS = (
    Requirement("EVS-RES-01", "after a result the engine is asked to go on from the text with it", _resumed, REQUEST),
    Requirement("EVS-RES-02", "the ids that it is given are those of that text, to the last", _ids, REQUEST),
    Requirement("EVS-RES-03", "it is told at which tags the driver has something to say", _stops, REQUEST),
)
