"""How generations end, and what one leaves to the next: nothing."""

from __future__ import annotations

from evalspan.conformance.suite.outcome import expect
from evalspan.conformance.suite.requirement import MASKED, STEP, Requirement
from evalspan.conformance.suite.requirements.injection import CALC
from evalspan.conformance.suite.said import Said, essence
from evalspan.conformance.suite.scripts import registry
from evalspan.conformance.suite.subject import ReplaySubject, Subject, step_subject
from evalspan.orchestrator import Cancellation, Finished, Request, Sentence, SpanPart
from evalspan.orchestrator.backend import StepEngine

__all__ = ["REQUIREMENTS"]


def _freed(subject: Subject) -> None:
    """More generations are left than the engine has room for, each after its first event, and one is run to its end."""
    engine = subject.backend.engine
    room = engine.slots if isinstance(engine, StepEngine) else 2
    with subject.driver() as driver:
        for _ in range(room + 1):
            stream = driver.stream(subject.prompt, max_tokens=100)
            next(stream)
            stream.close()
        generation = driver.generate(subject.prompt, max_tokens=3)
    expect(generation.reason in ("length", "eos"), generation.reason)


def _cancelled(subject: Subject) -> None:
    cancellation = Cancellation()
    seen = []
    with subject.driver() as driver:
        for event in driver.stream(subject.prompt, max_tokens=200, cancellation=cancellation):
            seen.append(event)
            cancellation.cancel()
        expect(isinstance(seen[-1], Finished) and seen[-1].reason == "cancelled", f"the last event: {seen[-1]}")
        again = driver.generate(subject.prompt, max_tokens=2)
    expect(again.reason in ("length", "eos"), again.reason)


def _late(subject: Subject) -> None:
    with subject.driver() as driver:
        generation = driver.generate(subject.prompt, max_tokens=200, time_limit=1e-6)
    expect(generation.reason == "time_limit", generation.reason)


def _no_memory(subject: Subject) -> None:
    """A generation, others of every kind, and the same again on one driver."""
    with subject.driver() as driver:
        if isinstance(subject, ReplaySubject):
            tokens = subject.spelling.uncrossed(CALC.written.encode())
            first, again = (subject.play(tokens) for _ in range(2))
        else:
            ask = Request(subject.prompt, grammar=None if subject.level == "request" else CALC.grammar, max_tokens=60)
            first = Said(tuple(driver.begin(ask)))
            stream = driver.stream(subject.prompt, max_tokens=30)
            next(stream)
            stream.close()
            driver.generate("Another prompt altogether, which is longer", max_tokens=5)
            again = Said(tuple(driver.begin(ask)))
    expect(essence(first.events) == essence(again.events), f"{again.text!r} after others, {first.text!r} before them")


def _own_budgets(subject: Subject) -> None:
    """Budgets are a generation's own: one that has used all its spans leaves the next with all of its."""
    step = step_subject(subject)
    text = "<calc>1+1</calc>" * 2
    tokens = step.spelling.uncrossed(text.encode())
    with step.steered([tokens] * 3, registry("max_spans = 2")) as (driver, _):
        texts = {driver.generate(step.prompt, mode="no-grammar", max_tokens=200).text for _ in range(3)}
    expect(texts == {"<calc>1+1</calc><result>2</result>" * 2}, f"three generations: {texts}")


def _stop_string(subject: Subject) -> None:
    said = subject.say(CALC, stop=("said",))
    expect(said.finished.reason == "stop_string" and said.finished.stop_string == "said", f"{said.finished}")
    expect(said.text.lstrip() == CALC.whole.partition("said")[0], said.text)


def _complete(subject: Subject) -> None:
    """A grammar's own sentence ends by itself, with the reason of a model that ended."""
    with subject.driver() as driver:
        grammar = Sentence(("The end: ", SpanPart("calc")))
        generation = driver.generate(subject.prompt, grammar=grammar, max_tokens=200)
    expect(generation.reason == "eos" and generation.text.endswith("<result>482</result>"), f"{generation}")


REQUIREMENTS = (
    Requirement("EVS-LIF-01", "a generation that is left frees its place in the engine", _freed),
    Requirement("EVS-LIF-02", "a generation that is cancelled says so, and others go on", _cancelled),
    Requirement("EVS-LIF-03", "a generation whose time is over says so", _late),
    Requirement("EVS-LIF-04", "a generation leaves nothing to the next", _no_memory),
    Requirement("EVS-LIF-05", "each generation has its own budgets", _own_budgets, STEP),
    Requirement("EVS-LIF-06", "a stop string ends the text before it", _stop_string),
    Requirement("EVS-LIF-07", "where a grammar is complete, the generation ends", _complete, MASKED),
)
