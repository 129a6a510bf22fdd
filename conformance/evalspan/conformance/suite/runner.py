"""Asking requirements of subjects: every one gets an answer, whatever the check raises."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import metadata

from evalspan.conformance.suite.outcome import Fault, Outcome, Unsupported
from evalspan.conformance.suite.report import Cell, Column, Report, Row
from evalspan.conformance.suite.requirement import Requirement, why_not
from evalspan.conformance.suite.requirements.crossing import observe
from evalspan.conformance.suite.subject import Subject
from evalspan.policies import EvalspanError

__all__ = ["ask", "run_suite"]

_DETAIL = 2_000  # characters of what was seen: a page, where an event list could be ten


def run_suite(
    subjects: Iterable[Subject],
    requirements: Sequence[Requirement],
    baselines: Mapping[str, Mapping[str, str]],
    *,
    on_progress: Callable[[str, Requirement, Outcome], None] | None = None,
) -> Report:
    """Ask every requirement of every subject; `baselines` has the known shortfalls by the name of the subject.

    What does not depend on the backend is asked once.
    """
    shared: dict[str, Outcome] = {}
    columns: dict[str, Column] = {}
    for subject in subjects:
        outcomes: dict[str, Outcome] = {}
        for requirement in requirements:
            outcome = shared.get(requirement.id) or ask(requirement, subject)
            if requirement.shared:
                shared[requirement.id] = outcome
            outcomes[requirement.id] = outcome
            if on_progress is not None:
                on_progress(subject.name, requirement, outcome)
        columns[subject.name] = _column(subject, outcomes, baselines.get(subject.name, {}))
    rows = tuple(Row(id=requirement.id, statement=requirement.statement) for requirement in requirements)
    return Report(evalspan=metadata.version("evalspan"), requirements=rows, backends=columns)


def ask(requirement: Requirement, subject: Subject) -> Outcome:
    """The outcome of one requirement. A subject that is several kinds of engine is asked as each."""
    faces = [face for level in sorted(requirement.levels) if (face := subject.at(level)) is not None]
    if requirement.shared:
        faces = [subject]
    if not faces:
        return Outcome("unsupported", why_not(requirement.levels, subject.level))
    start = time.perf_counter()
    answers = [_checked(requirement, face) for face in faces]
    seconds = round(time.perf_counter() - start, 3)
    for status in ("fail", "pass"):
        for answer in answers:
            if answer.status == status:
                return Outcome(answer.status, answer.detail, seconds)
    return Outcome("unsupported", answers[0].detail, seconds)


def _checked(requirement: Requirement, subject: Subject) -> Outcome:
    try:
        requirement.check(subject)
    except Unsupported as reason:
        return Outcome("unsupported", str(reason))
    except Fault as fault:
        return Outcome("fail", str(fault)[:_DETAIL])
    except EvalspanError as error:
        return Outcome("fail", f"{type(error).__name__}: {error}"[:_DETAIL])
    except Exception as error:  # noqa: BLE001  a check that breaks has an outcome too, and others are to be asked
        return Outcome("fail", f"the check broke: {type(error).__name__}: {error}"[:_DETAIL])
    return Outcome("pass")


def _column(subject: Subject, outcomes: dict[str, Outcome], baseline: Mapping[str, str]) -> Column:
    known = {name: reason for name, reason in baseline.items() if name in outcomes}
    try:
        observed = observe(subject) if any(name.startswith("EVS-XBK") for name in outcomes) else {}
    except (Fault, Unsupported, EvalspanError):
        observed = {}  # what is wrong with it is in the outcomes of EVS-XBK
    return Column(
        model=subject.backend.model,
        level=subject.level,
        vocabulary=subject.vocabulary,
        outcomes={
            name: Cell(status=outcome.status, detail=outcome.detail, seconds=outcome.seconds)
            for name, outcome in outcomes.items()
        },
        known=known,
        observed=observed,
    )
