"""Masks, against languages that are enumerated by other means."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from evalspan.conformance.oracle import CASES, Effort, OracleCase, OracleReport, awkward_driver, check
from evalspan.conformance.suite.outcome import Unsupported, expect
from evalspan.conformance.suite.requirement import STEP, Requirement
from evalspan.conformance.suite.subject import Subject
from evalspan.orchestrator import GrammarError
from evalspan.orchestrator.engines import check_engine
from evalspan.policies import Registry

__all__ = ["REQUIREMENTS"]

_QUICK = Effort(all_paths=100, random_paths=20)
"""Every prefix in its fewest and most tokens, and twenty random ways: a second or two for a case."""

_OWN = Effort(all_paths=0, random_paths=4, length=12)
"""For real vocabularies, of which a thousand tokens begin every prefix."""

_OWN_CASES = ("span", "characters", "guard")


def _oracle(case: OracleCase, subject: Subject) -> None:
    with awkward_driver(case) as driver:
        report = check(case, driver, engine="llguidance", effort=_QUICK)
    expect(report.unsupported is None, f"the engine refuses the grammar: {report.unsupported}")
    _same(report)


def _xgrammar(subject: Subject) -> None:
    """Its masks may be narrower: it leaves out some tokens over several terminals."""
    try:
        check_engine("xgrammar")
    except GrammarError as error:
        raise Unsupported(str(error)) from None
    for case in CASES:
        with awkward_driver(case, "xgrammar") as driver:
            report = check(case, driver, engine="xgrammar", effort=_QUICK)
        wider = [one for one in report.disagreements if not one.oracle.startswith("allowed")]
        expect(not wider, f"{case.id}: {'; '.join(map(str, wider[:2]))}")


def _own_vocabulary(subject: Subject) -> None:
    for case in CASES:
        if case.id in _OWN_CASES:
            with subject.driver(Registry.parse(case.registry)) as driver:
                _same(check(case, driver, engine="llguidance", effort=_OWN))


def _same(report: OracleReport) -> None:
    expect(report.masks > 0, f"{report.case}: nothing was compared")
    found = report.disagreements
    expect(not found, f"{report.case}: {len(found) + report.more} disagreements, such as {found[0] if found else ''}")


def _case(case: OracleCase) -> Requirement:
    ask: Callable[[Subject], None] = partial(_oracle, case)
    return Requirement(f"EVS-MSK-{case.id.upper()}", f"masks are exact: {case.statement}", ask, shared=True)


REQUIREMENTS = (
    *map(_case, CASES),
    Requirement(
        "EVS-MSK-XGRAMMAR", "xgrammar's masks allow nothing that is wrong, in all cases", _xgrammar, shared=True
    ),
    Requirement("EVS-MSK-OWN", "masks over the model's own vocabulary are exact", _own_vocabulary, STEP),
)
