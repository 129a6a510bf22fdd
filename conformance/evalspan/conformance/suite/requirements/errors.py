"""Bad input and failing engines: a typed error in one line, at once, and nothing left behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from evalspan.conformance.suite.outcome import Unsupported, expect
from evalspan.conformance.suite.requirement import REQUEST, STEP, Requirement
from evalspan.conformance.suite.steering import Lent, Steered
from evalspan.conformance.suite.subject import PROMPT, Subject, step_subject
from evalspan.orchestrator import (
    BackendError,
    DecodeError,
    Driver,
    Event,
    Finished,
    PromptError,
    Request,
    RequestError,
    SamplingParams,
)
from evalspan.orchestrator.backend import Feed, Logits
from evalspan.policies import EvalspanError

__all__ = ["REQUIREMENTS"]

_LONG = 100_000
"""Words of a prompt that fits no context that is looked at."""


def _refused(driver: Driver, kind: type[EvalspanError], request: Callable[[], Request]) -> None:
    try:
        driver.begin(request())
    except kind as error:
        expect(str(error).strip() and "\n" not in str(error), f"no line for a user: {error!r}")
    except EvalspanError as error:
        expect(False, f"{type(error).__name__} instead of {kind.__name__}: {error}")
    else:
        expect(False, f"no {kind.__name__} for {request()}")


def _bad_requests(subject: Subject) -> None:
    with subject.driver() as driver:
        for options in ({"max_tokens": 0}, {"time_limit": 0.0}, {"mode": "no-such-mode"}, {"stop": ("",)}):
            _refused(driver, RequestError, lambda options=options: Request(PROMPT, **options))  # type: ignore[misc]
        _refused(driver, RequestError, lambda: Request(PROMPT, sampling=SamplingParams(temperature=-1)))
        _refused(driver, PromptError, lambda: Request(""))


def _long_prompt(subject: Subject) -> None:
    context = subject.backend.engine.context_tokens
    if context > _LONG:
        raise Unsupported("the context is not known, or longer than any prompt here")
    with subject.driver() as driver:
        _refused(driver, PromptError, lambda: Request("word " * (context + 1)))


def _not_masked(subject: Subject) -> None:
    with subject.driver() as driver:
        _refused(driver, RequestError, lambda: Request(PROMPT, mode="grammar-eval"))
        _refused(driver, RequestError, lambda: Request(PROMPT, ledger=True))


def _engine_fails(subject: Subject) -> None:
    step = step_subject(subject)

    def fail(number: int) -> None:
        if number == 3:
            raise BackendError("the engine has failed")

    events: list[Event] = []
    with step.steered([step.spelling.most(b"on and on and on")], step.registry, fail=fail) as (driver, engine):
        try:
            events += driver.stream(step.prompt, mode="no-grammar", max_tokens=50)
        except BackendError as error:
            expect(str(error) == "the engine has failed", f"{error}")
        else:
            expect(False, f"the failure was swallowed: {events[-1:]}")
        expect(engine.running == 0, "the sequence is still open")
    expect(not any(isinstance(event, Finished) for event in events), "a generation whose engine failed has finished")


def _bad_logits(subject: Subject) -> None:
    step = step_subject(subject)
    engine = _Spoilt(step.engine, [step.spelling.most(b"on and on")], step.end)
    events: list[Event] = []
    with Driver(Lent.of(step.backend, engine), step.registry) as driver:
        try:
            events += driver.stream(step.prompt, mode="no-grammar", max_tokens=10)
        except DecodeError as error:
            expect(error.code == "bad_logits", f"{error.code}: {error}")
        else:
            expect(False, f"logits that are no numbers gave {events[-1:]}")
    expect(engine.running == 0, "the sequence is still open")


class _Spoilt(Steered):
    """An engine whose answers, from the second on, are no numbers."""

    def decode(self, feeds: Sequence[Feed]) -> list[Logits | None]:
        answers = super().decode(feeds)
        for logits in answers if len(self.calls[0]) > 1 else ():
            if logits is not None:
                logits[:] = np.nan
        return answers


REQUIREMENTS = (
    Requirement("EVS-ERR-01", "a request that is wrong is refused at once, with a typed error", _bad_requests),
    Requirement("EVS-ERR-02", "a prompt that fits no context is refused at once", _long_prompt),
    Requirement("EVS-ERR-03", "what cannot be masked refuses a mask, and a ledger", _not_masked, REQUEST),
    Requirement("EVS-ERR-04", "an engine that fails is not taken for an end", _engine_fails, STEP),
    Requirement("EVS-ERR-05", "logits that are no numbers are an error", _bad_logits, STEP),
)
