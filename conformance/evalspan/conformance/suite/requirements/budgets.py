"""Budgets of a generation: what is over them is an error that is told, and decoding goes on or ends with a reason."""

from __future__ import annotations

from typing import Any

from evalspan.conformance.suite.outcome import expect
from evalspan.conformance.suite.requirement import CHOSEN, Requirement
from evalspan.conformance.suite.said import Said
from evalspan.conformance.suite.scripts import registry
from evalspan.conformance.suite.subject import Subject, chosen_subject
from evalspan.orchestrator import Evaluated, Failed
from evalspan.policies import Registry

__all__ = ["REQUIREMENTS"]


def _write(subject: Subject, text: str, chosen: Registry, **options: Any) -> Said:
    return chosen_subject(subject).write(text, registry=chosen, **options)


def _spans(subject: Subject) -> None:
    said = _write(subject, "<calc>1+1</calc>" * 4 + " on", registry("max_spans = 2"))
    outcomes = ["2" if isinstance(one, Evaluated) else str(one.code) for one in said.evaluated]
    expect(outcomes == ["2", "2", "over_budget", "over_budget"], f"four spans of two: {outcomes}")
    expect(said.text.endswith(" on"), said.text)


def _tokens(subject: Subject) -> None:
    size = len(_write(subject, "<calc>1+1</calc>", registry()).injected[0].tokens)
    said = _write(subject, "<calc>1+1</calc>" * 3, registry(f"max_injected_tokens = {2 * size}"))
    expect(len(said.injected) == 2, f"room for two blocks of {size} tokens: {[one.text for one in said.injected]}")
    expect(said.finished.reason == "over_budget", said.finished.reason)
    expect(said.finished.forced_tokens <= 2 * size, f"{said.finished.forced_tokens} tokens were forced")


def _input(subject: Subject) -> None:
    said = _write(subject, f"<calc>{'1+' * 40}1</calc> on", registry("max_input_bytes = 32"))
    _one_error(said, "too_long")


def _fuel(subject: Subject) -> None:
    said = _write(subject, "<calc>17 * 23 + 91</calc> on", registry("fuel = 50"))
    _one_error(said, "fuel_exhausted")


def _stopping(subject: Subject) -> None:
    said = _write(subject, "<calc>1/0</calc> on", registry(calc='on_error = "stop"'))
    expect(said.finished.reason == "evaluation_error", said.finished.reason)
    expect(said.text == "<calc>1/0</calc>" and not said.injected, said.text)


def _one_error(said: Said, code: str) -> None:
    (one,) = said.evaluated
    expect(isinstance(one, Failed) and one.code == code, f"{one}")
    (block,) = said.injected
    expect(block.text.startswith(f"<result_error>{code}"), block.text)
    expect(said.text.endswith(f"{block.text} on"), said.text)


REQUIREMENTS = (
    Requirement("EVS-BUD-01", "no more spans are evaluated than the policy has", _spans, CHOSEN),
    Requirement("EVS-BUD-02", "no more tokens are forced than the policy has", _tokens, CHOSEN),
    Requirement("EVS-BUD-03", "an expression over the limit is an error that is told", _input, CHOSEN),
    Requirement("EVS-BUD-04", "an evaluation without fuel is an error that is told", _fuel, CHOSEN),
    Requirement("EVS-BUD-05", "where a rule says so, an error ends the generation", _stopping, CHOSEN),
)
