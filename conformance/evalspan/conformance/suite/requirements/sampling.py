"""What is drawn: the same for the same seed, another for others, and by the distribution that is right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from evalspan.conformance.probability import check_frequencies, check_ledger, check_normalization, check_steps
from evalspan.conformance.probability.example import check_example
from evalspan.conformance.probability.finding import Finding
from evalspan.conformance.suite.outcome import Unsupported, expect
from evalspan.conformance.suite.requirement import STEP, Requirement
from evalspan.conformance.suite.subject import ReplaySubject, Subject
from evalspan.orchestrator import Driver, Regex, SamplingParams, Step

__all__ = ["REQUIREMENTS"]

_LETTERS = Regex("[a-z]{12}")
"""Twelve free letters: a model that draws them alike with two seeds draws nothing."""

_GENERATIONS = 120
"""For each setting of the ledger, whose default is made to see every candidate; here it is one of many requirements."""


def _same_seed(subject: Subject) -> None:
    with subject.driver() as driver:
        first, again = (_draw(subject, driver, subject.warm) for _ in range(2))
    expect(first == again, f"seed {subject.warm.seed} gives {first!r} and {again!r}")


def _other_seeds(subject: Subject) -> None:
    with subject.driver() as driver:
        texts = {_draw(subject, driver, replace(subject.warm, seed=seed)) for seed in range(4)}
    expect(len(texts) > 1, f"four seeds give {texts}")


def _greedy(subject: Subject) -> None:
    with subject.driver() as driver:
        first, again = (_draw(subject, driver, SamplingParams()) for _ in range(2))
    expect(first == again, f"without chance: {first!r} and {again!r}")


def _draw(subject: Subject, driver: Driver, sampling: SamplingParams) -> str:
    if isinstance(subject, ReplaySubject):
        raise Unsupported("a script is replayed, not drawn")
    grammar = None if subject.level == "request" else _LETTERS
    return driver.generate(subject.prompt, max_tokens=16, sampling=sampling, grammar=grammar).text


def _steps(subject: Subject) -> None:
    params = SamplingParams(temperature=1.0, seed=3)
    with subject.driver() as driver:
        events = list(driver.stream(subject.prompt, grammar=_LETTERS, max_tokens=16, sampling=params, ledger=True))
    steps = [event for event in events if isinstance(event, Step)]
    _found(check_steps(steps, params))
    expect(any(step.masked_mass > 0 for step in steps), "the mask forbids nothing that the model would say")


def _found(finding: Finding) -> None:
    expect(finding.passed, f"{finding.compared} compared: {'; '.join(finding.faults[:2])}")


def _shared(check: Callable[[], Finding]) -> Callable[[Subject], None]:
    return lambda subject: _found(check())


REQUIREMENTS = (
    Requirement("EVS-SMP-01", "the same seed gives the same text", _same_seed),
    Requirement("EVS-SMP-02", "other seeds give other texts", _other_seeds),
    Requirement("EVS-SMP-03", "without chance the text is the same each time", _greedy),
    Requirement("EVS-SMP-04", "the ledger of a generation adds up at every step", _steps, STEP),
    Requirement(
        "EVS-PRB-01",
        "masked distributions add up to one, with the right shares",
        _shared(check_normalization),
        shared=True,
    ),
    Requirement(
        "EVS-PRB-02",
        "the ledger is what the logits, the mask and the settings say",
        _shared(lambda: check_ledger(generations=_GENERATIONS)),
        shared=True,
    ),
    Requirement("EVS-PRB-03", "how often tokens are drawn fits the theory", _shared(check_frequencies), shared=True),
    Requirement(
        "EVS-PRB-04",
        "masked and grammar-conditional distributions, each in two ways",
        _shared(check_example),
        shared=True,
    ),
)
