"""Generations that share an engine: each says what it says alone."""

from __future__ import annotations

from evalspan.conformance.suite.closeness import TOLERANCE, distance
from evalspan.conformance.suite.outcome import Unsupported, expect
from evalspan.conformance.suite.requirement import REQUEST, STEP, Requirement
from evalspan.conformance.suite.requirements.injection import CALC, ENDING, FAILING
from evalspan.conformance.suite.said import essence
from evalspan.conformance.suite.scripts import Script
from evalspan.conformance.suite.subject import StepSubject, Subject, step_subject
from evalspan.orchestrator import Event, Request, SpanPart
from evalspan.orchestrator.backend import ConcurrentEngine, Feed

__all__ = ["REQUIREMENTS"]

_TEXTS = (CALC, FAILING, ENDING, Script(("A day: ", SpanPart("day"), "; a letter: ", SpanPart("words"), ".")), CALC)
"""Five, which is more than the slots that the suite opens: some wait."""


def _together(subject: Subject) -> None:
    """Texts that the grammar leaves no choice in, so that rounding makes no difference."""
    if subject.level == "request":
        raise Unsupported("a request engine's texts depend on its model, which batches may change")
    alone = [subject.say(script) for script in _TEXTS]
    events: dict[int, list[Event]] = {}
    requests = [Request(subject.prompt, grammar=script.grammar, max_tokens=400) for script in _TEXTS]
    with subject.driver() as driver:
        for index, event in driver.stream_many(requests):
            events.setdefault(index, []).append(event)
    for index, said in enumerate(alone):
        together = essence(tuple(events[index]))
        expect(together == essence(said.events), f"together: {together}; alone: {essence(said.events)}")


def _steered(subject: Subject) -> None:
    step = step_subject(subject)
    _need_slots(step)
    scripts = [
        step.spelling.ways(script.written.encode(), 2, crossing=False)[at % 2] for at, script in enumerate(_TEXTS)
    ]
    with step.steered(scripts, step.registry) as (driver, engine):
        requests = [Request(step.prompt, mode="no-grammar", max_tokens=400) for _ in scripts]
        generations = driver.generate_many(requests)
        running = engine.running
    expect(engine.widest > 1, "no step had two generations")
    prompt = len(step.backend.tokenizer.encode_prompt(step.prompt))
    for script, tokens, generation, fed in zip(_TEXTS, scripts, generations, engine.fed, strict=True):
        expect(generation.text == script.whole, f"{generation.text!r}, not {script.whole!r}")
        alone = step.steer(tokens, mode="no-grammar", max_tokens=400)
        expect(alone.fed == tuple(fed[prompt:]), f"{script.written!r}: other tokens together than alone")
    expect(running == 0, f"{running} sequences are still open")


def _logits(subject: Subject) -> None:
    """Two sequences in one step, against each in steps of its own."""
    step = step_subject(subject)
    _need_slots(step)
    texts = [
        step.backend.tokenizer.encode_prompt(text) for text in ("Once upon a time there was", "One, two, three, four,")
    ]
    alone = []
    for tokens in texts:
        sequence = step.engine.open()
        alone.append(step.engine.decode([Feed(sequence, tokens)])[0])
        step.engine.close(sequence)
    sequences = [step.engine.open() for _ in texts]
    feeds = [Feed(sequence, tokens) for sequence, tokens in zip(sequences, texts, strict=True)]
    together = step.engine.decode(feeds)
    for sequence in sequences:
        step.engine.close(sequence)
    for one, other in zip(alone, together, strict=True):
        if one is None or other is None:
            raise Unsupported("the engine gives no logits for a feed that wants some")
        far = distance(one, other)
        expect(far <= TOLERANCE, f"the next token's distribution differs by {far:.4f} in total variation")


def _need_slots(step: StepSubject) -> None:
    if step.engine.slots < 2:
        raise Unsupported("the engine has one slot")


def _many_completions(subject: Subject) -> None:
    engine = subject.backend.engine
    if not isinstance(engine, ConcurrentEngine) or engine.connections < 2:
        raise Unsupported("the engine works on one completion at a time")
    with subject.driver() as driver:
        requests = [Request(f"{subject.prompt}, {word}", max_tokens=12) for word in ("one", "two", "three", "four")]
        generations = driver.generate_many(requests)
    for generation in generations:
        expect(generation.reason in ("length", "eos") and generation.text, f"{generation.reason}: {generation.text!r}")


REQUIREMENTS = (
    Requirement("EVS-BAT-01", "under a grammar generations say together what they say alone", _together),
    Requirement("EVS-BAT-02", "neighbours do not change which tokens a generation is fed", _steered, STEP),
    Requirement(
        "EVS-BAT-03",
        f"logits in a batch are those alone, within {TOLERANCE} of total variation",
        _logits,
        STEP,
    ),
    Requirement(
        "EVS-BAT-04",
        "completions on their way at once all come to their end",
        _many_completions,
        REQUEST,
    ),
)
