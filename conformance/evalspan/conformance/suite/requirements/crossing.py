"""The same script on every backend: the same bytes, values and fuel, and the same ids where vocabularies are."""

from __future__ import annotations

from typing import Any

from evalspan.conformance.suite.outcome import expect
from evalspan.conformance.suite.requirement import Requirement
from evalspan.conformance.suite.scripts import ANSWERS, Script
from evalspan.conformance.suite.subject import StepSubject, Subject
from evalspan.conformance.suite.toy import toy_backend
from evalspan.orchestrator import Evaluated, SpanPart

__all__ = ["REQUIREMENTS", "observe"]

_SCRIPTS = {name: Script(("So it is ", SpanPart(name))) for name in ANSWERS}
"""One for each span: a model that copies has a line to copy, not a page."""


def _values(subject: Subject) -> None:
    for name, one in observe(subject).items():
        answer = ANSWERS[name]
        expect(one["block"] == answer.block, f"{name}: {one['block']!r}, not {answer.block!r}")
        expect(one["value"] == answer.value, f"{name}: the value is {one['value']!r}, not {answer.value!r}")
        expect(one["input"] == answer.expression, f"{name}: {one['input']!r} was evaluated")


def _as_scripted(subject: Subject) -> None:
    reference = StepSubject("reference", toy_backend())
    wanted = observe(reference)
    for name, one in observe(subject).items():
        for key in ("input", "value", "block", "fuel"):
            expect(
                one[key] == wanted[name][key], f"{name}: {key} is {one[key]!r}, on a script it is {wanted[name][key]!r}"
            )
        if subject.vocabulary == reference.vocabulary:
            expect(one["tokens"] == wanted[name]["tokens"], f"{name}: the ids are {one['tokens']}")


def observe(subject: Subject) -> dict[str, dict[str, Any]]:
    """What each script gives on a backend: the input, the value, the block that was forced, its fuel, its ids."""
    if subject.observed is None:
        subject.observed = _observed(subject)
    return subject.observed


def _observed(subject: Subject) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name, script in _SCRIPTS.items():
        said = subject.say(script)
        expect(len(said.evaluated) == len(said.injected) == 1, f"{name}: {said.kinds}")
        (one,), (block,) = said.evaluated, said.injected
        found[name] = {
            "input": one.input,
            "value": one.value if isinstance(one, Evaluated) else None,
            "block": block.text,
            "fuel": one.fuel,
            "tokens": list(block.tokens),
        }
    return found


REQUIREMENTS = (
    Requirement("EVS-XBK-01", "the script's spans have the values and blocks of the specification", _values),
    Requirement("EVS-XBK-02", "they are evaluated as on a script: input, value, block and fuel", _as_scripted),
)
