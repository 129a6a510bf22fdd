"""A report: the outcomes of requirements on backends, as JSON, and several of them as one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from evalspan.conformance.suite.baseline import SuiteError

__all__ = ["Cell", "Column", "Report", "Row", "differences", "merged", "read_report"]

_MAX_BYTES = 64 * 1024 * 1024
"""Of a report that is read: a thousand times what a run with ten backends writes."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Row(_Part):
    """A requirement."""

    id: str
    statement: str


class Cell(_Part):
    """The outcome of a requirement on a backend; see `Outcome`."""

    status: Literal["pass", "fail", "unsupported"]
    detail: str = ""
    seconds: float = 0.0


class Column(_Part):
    """What there is of one backend."""

    model: str
    level: Literal["step", "request", "span"]
    vocabulary: str
    outcomes: dict[str, Cell]
    known: dict[str, str] = {}
    """Shortfalls that the baseline lists, with their reasons."""
    observed: dict[str, dict[str, Any]] = {}
    """What the script of all backends gave here."""

    @property
    def regressions(self) -> list[str]:
        """Requirements that fail and that the baseline does not list."""
        return [name for name, cell in self.outcomes.items() if cell.status == "fail" and name not in self.known]

    @property
    def improvements(self) -> list[str]:
        """Requirements that the baseline lists and that hold."""
        return [name for name in self.known if self.outcomes[name].status == "pass"]

    def count(self, status: str) -> int:
        """How many outcomes are this."""
        return sum(cell.status == status for cell in self.outcomes.values())


class Difference(NamedTuple):
    """A place where two backends gave different answers to one script."""

    what: str
    first: str
    second: str

    def __str__(self) -> str:
        return f"{self.what}: {self.first}, {self.second}"


class Report(_Part):
    """A matrix."""

    evalspan: str
    """The version that was tested."""
    requirements: tuple[Row, ...]
    backends: dict[str, Column]

    @property
    def passed(self) -> bool:
        """Whether nothing fails but what baselines list, and all backends agree."""
        return not differences(self) and not any(column.regressions for column in self.backends.values())

    def as_json(self) -> dict[str, Any]:
        """As JSON; the summary comes last."""
        summary = {
            name: {
                "passed": column.count("pass"),
                "failed": column.count("fail"),
                "unsupported": column.count("unsupported"),
            }
            for name, column in self.backends.items()
        }
        return {**self.model_dump(mode="json"), "summary": summary}


def read_report(path: Path) -> Report:
    """A report that was written as JSON.

    Raises:
        SuiteError: it cannot be read, or is no report.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise SuiteError(f"{path}: cannot be read: {error.strerror}") from None
    if len(data) > _MAX_BYTES:
        raise SuiteError(f"{path}: has more than {_MAX_BYTES} bytes, which no report has")
    try:
        report = _Written.model_validate_json(data).report()
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise SuiteError(f"{path}: is no report of `conformance run --json`: {where}: {first['msg']}") from None
    ids = [row.id for row in report.requirements]
    for name, column in report.backends.items():
        if list(column.outcomes) != ids:
            raise SuiteError(f"{path}: backend {name!r} has not one outcome for each requirement, in their order")
        if unknown := sorted(set(column.known) - set(ids)):
            raise SuiteError(f"{path}: backend {name!r} knows a shortfall of {unknown[0]!r}, which was not asked")
    return report


class _Written(Report):
    summary: dict[str, dict[str, int]]

    def report(self) -> Report:
        """The report without its summary, which follows from it."""
        return Report(evalspan=self.evalspan, requirements=self.requirements, backends=self.backends)


def merged(reports: Iterable[tuple[str, Report]]) -> Report:
    """Several reports, each with its name, as one.

    Raises:
        SuiteError: a backend is in two, or they are of different versions or requirements.
    """
    whole: Report | None = None
    source = ""
    columns: dict[str, Column] = {}
    for name, report in reports:
        whole, source = whole or report, source or name
        if report.requirements != whole.requirements or report.evalspan != whole.evalspan:
            raise SuiteError(f"{name}: is of other requirements or another version than {source}: run both again")
        for backend, column in report.backends.items():
            if backend in columns:
                raise SuiteError(f"{name}: backend {backend!r} is in another report too")
            columns[backend] = column
    if whole is None:
        raise SuiteError("there is no report to merge")
    return Report(evalspan=whole.evalspan, requirements=whole.requirements, backends=columns)


def differences(report: Report) -> list[Difference]:
    """Where backends answered the same script differently: bytes, values and fuel; ids where vocabularies are equal."""
    found: list[Difference] = []
    names = [name for name, column in report.backends.items() if column.observed]
    for at, other in enumerate(names):
        for first in names[:at]:
            found += _between(first, report.backends[first], other, report.backends[other])
    return found


def _between(first: str, one: Column, second: str, other: Column) -> Iterator[Difference]:
    keys = ["input", "value", "block", "fuel"]
    if one.vocabulary == other.vocabulary:
        keys.append("tokens")
    for span, observed in one.observed.items():
        there: Mapping[str, Any] = other.observed.get(span, {})
        for key in keys:
            # Ids are compared where both show them.
            if observed.get(key) != there.get(key) and not (
                key == "tokens" and not (observed.get(key) and there.get(key))
            ):
                yield Difference(
                    f"{key} of {span}", f"{observed.get(key)!r} on {first}", f"{there.get(key)!r} on {second}"
                )
