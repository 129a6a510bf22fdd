"""Receipts: everything in one is rebuilt from its inputs, and a change of anything is noticed."""

from __future__ import annotations

from typing import Any

from evalspan.conformance.suite.outcome import Fault, Unsupported, expect
from evalspan.conformance.suite.requirement import STEP, Requirement
from evalspan.conformance.suite.requirements.injection import CALC
from evalspan.conformance.suite.subject import PROMPT, PromptedSubject, ReplaySubject, Subject, step_subject
from evalspan.orchestrator import Driver, Generation, Request, RequestError
from evalspan.orchestrator.backend import TextEngine
from evalspan.orchestrator.receipts import Receipt, Report, verify
from evalspan.orchestrator.receipts.model import digest_of
from evalspan.orchestrator.requests import gathered

__all__ = ["REQUIREMENTS"]


def _receipt(subject: Subject) -> Receipt:
    """The receipt of a generation with one span."""
    if isinstance(subject, ReplaySubject):
        with subject.replaying(subject.spelling.uncrossed(CALC.written.encode())) as (driver, _):
            generation = driver.generate(PROMPT, max_tokens=400, receipt=True)
    else:
        with subject.driver() as driver:
            if isinstance(subject.backend.engine, TextEngine):
                raise Unsupported(_refusal(driver))
            if isinstance(subject, PromptedSubject):
                request = subject.asking(CALC, receipt=True)
                generation = driver.with_receipt(request, gathered(driver.begin(request)))
                return _of(generation)
            generation = driver.generate(subject.prompt, grammar=CALC.grammar, max_tokens=200, receipt=True)
    return _of(generation)


def _of(generation: Generation) -> Receipt:
    if generation.receipt is None:
        raise Fault(f"there is no receipt of {generation.text!r}, {generation.reason}")
    return generation.receipt


def _refusal(driver: Driver) -> str:
    """What an engine that shows no ids says where it is asked for a receipt."""
    try:
        driver.check(Request(PROMPT, receipt=True))
    except RequestError as error:
        return str(error)
    raise Fault("an engine that shows no token ids has taken a request for a receipt")


def _verified(subject: Subject, receipt: Receipt) -> Report:
    return verify(receipt, subject.backend.tokenizer, subject.registry)


def _rebuilt(subject: Subject) -> None:
    receipt = _receipt(subject)
    report = _verified(subject, receipt)
    expect(report.holds, f"{'; '.join(map(str, report.problems[:3]))}")
    again = Receipt.parse(receipt.json_text())
    expect(again == receipt, "its JSON is another receipt")


def _confirmed(subject: Subject) -> None:
    step = step_subject(subject)
    report = verify(_receipt(subject), step.backend.tokenizer, step.registry, engine=step.engine)
    expect(report.holds, f"{'; '.join(map(str, report.problems[:3]))}")
    expect(report.model == "confirmed", f"the model's part is {report.model}")


def _changed(value: Any, path: str) -> None:
    """Change the number or the text that stands at a path."""
    *steps, last = (int(step) if step.isdigit() else step for step in path.split("."))
    for step in steps:
        value = value[step]
    was = value[last]
    if isinstance(was, int):
        value[last] = was + 1
    elif isinstance(was, str) and len(was) == 64:
        value[last] = was[::-1]
    else:
        value[last] = f"{was}1"


_CHANGES = (
    "identity.tokenizer",
    "identity.registry_sha256",
    "identity.registry.policy.default.fuel",
    "identity.evaluators.0.sha256",
    "identity.evaluators.0.spec",
    "request.prompt",
    "request.prompt_tokens.0",
    "output.text",
    "output.tokens.3.0",
    "output.forced_tokens",
    "output.events.1.input",
    "output.events.1.value",
    "output.events.1.fuel",
    "output.events.2.text",
)
"""Places in a receipt of a generation with one span; its events are: the span opens, is evaluated, is injected."""


def _forged(subject: Subject) -> None:
    """Also where the digest is made anew, which anybody can do."""
    receipt = _receipt(subject)
    for path in _CHANGES:
        value = receipt.value()
        _changed(value, path)
        kept = _verified(subject, Receipt.of(value))
        expect(any(problem.path == "digest" for problem in kept.problems), f"{path} is not under the digest")
        forged = Receipt.of({**value, "digest": digest_of(value)})
        report = _verified(subject, forged)
        expect(not report.holds, f"{path} was changed, the digest made anew, and nothing is said")
        part = path.partition(".")[0]
        named = [str(problem) for problem in report.problems]
        expect(any(problem.path.startswith(part) for problem in report.problems), f"{path} was changed: {named[:3]}")


REQUIREMENTS = (
    Requirement("EVS-RCT-01", "the receipt of a generation is rebuilt from its inputs, and is the same", _rebuilt),
    Requirement("EVS-RCT-02", "the model, run again, confirms it", _confirmed, STEP),
    Requirement("EVS-RCT-03", "a change of a receipt is noticed, also where its digest is made anew", _forged),
)
