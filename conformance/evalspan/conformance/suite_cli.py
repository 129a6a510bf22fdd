"""`evalspan conformance run` and `merge`: the suite on backends, and reports from several environments as one."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalspan.conformance.json_file import json_file_option, write_json, write_text

if TYPE_CHECKING:
    from evalspan.conformance.suite.report import Report

__all__ = ["merge", "run"]

_FILE = click.Path(dir_okay=False, path_type=Path)


def _report_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--html", "html_file", type=_FILE, metavar="FILE", help="Write the matrix as one HTML page."),
        click.option("--junit", "junit_file", type=_FILE, metavar="FILE", help="Write the outcomes as JUnit XML."),
        json_file_option,
    ):
        command = option(command)
    return command


@click.command()
@click.option(
    "--backend",
    "names",
    multiple=True,
    metavar="NAME[:OPTION=VALUE,…]",
    default=("scripted",),
    help="A backend to test (see `evalspan plugins`), with options of its own after a colon. May be repeated.",
)
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="[NAME=]MODEL",
    help="The model of the backends that need one, or with NAME= of one of them. May be repeated.",
)
@click.option(
    "--only",
    "patterns",
    multiple=True,
    default=("*",),
    metavar="GLOB",
    help="Only the requirements whose ids match, such as 'EVS-INJ-*'. May be repeated.",
)
@click.option(
    "--baseline",
    "baseline_file",
    type=_FILE,
    metavar="FILE",
    help='Known shortfalls, lines of REQUIREMENT = "reason" in TOML, in place of those that ship for the backend.',
)
@_report_options
def run(
    names: tuple[str, ...],
    models: tuple[str, ...],
    patterns: tuple[str, ...],
    baseline_file: Path | None,
    json_file: Path | None,
    junit_file: Path | None,
    html_file: Path | None,
) -> int:
    """Ask every requirement of each backend, and print a matrix.

    A cell is `pass`, `FAIL`, `known` (it fails, as the baseline says) or `-` (unsupported, with the reason below). The
    exit status is 1 if anything fails that no baseline lists. A backend that cannot be opened is an error.

    With --json: {"evalspan", "requirements": [{"id", "statement"}], "backends": {NAME: {"model", "level",
    "vocabulary", "outcomes": {ID: {"status", "detail", "seconds"}}, "known", "observed"}}, "summary": {NAME:
    {"passed", "failed", "unsupported"}}}.
    """
    from contextlib import ExitStack

    from evalspan.conformance.suite.backends import check_name, models_of, open_subject
    from evalspan.conformance.suite.baseline import load_baseline, shipped_baseline
    from evalspan.conformance.suite.progress import Progress
    from evalspan.conformance.suite.requirements import REQUIREMENTS
    from evalspan.conformance.suite.runner import run_suite

    names = tuple(dict.fromkeys(names))
    for pattern in patterns:
        if not any(fnmatchcase(requirement.id, pattern) for requirement in REQUIREMENTS):
            groups = ", ".join(_groups(REQUIREMENTS))
            raise click.UsageError(f"no requirement is called {pattern!r}; they begin with {groups}")
    chosen = [one for one in REQUIREMENTS if any(fnmatchcase(one.id, pattern) for pattern in patterns)]
    ids = [requirement.id for requirement in REQUIREMENTS]
    if baseline_file is not None:
        given = load_baseline(baseline_file, ids)
        baselines = dict.fromkeys(names, given)
    else:
        baselines = {name: shipped_baseline(name.partition(":")[0]) for name in names}
    which = models_of(names, models)
    for name in names:
        check_name(name)
    with ExitStack() as opened:
        subjects = []
        for name in names:
            subjects.append(open_subject(name, which[name]))
            opened.callback(subjects[-1].close)
        with Progress(len(chosen) * len(subjects)) as progress:
            report = run_suite(subjects, chosen, baselines, on_progress=progress.tell)
    return _tell(report, json_file, junit_file, html_file)


@click.command()
@click.argument("files", nargs=-1, required=True, type=_FILE)
@_report_options
def merge(files: tuple[Path, ...], json_file: Path | None, junit_file: Path | None, html_file: Path | None) -> int:
    """Print the reports of `run --json` as one matrix: backends that live in different environments run apart.

    What the backends gave for the same script is compared too: bytes, values and fuel, and ids where vocabularies
    are the same. The exit status is 1 if they differ, or if anything fails that no baseline lists.
    """
    from evalspan.conformance.suite.report import merged, read_report

    report = merged((str(path), read_report(path)) for path in files)
    return _tell(report, json_file, junit_file, html_file)


def _tell(report: Report, json_file: Path | None, junit_file: Path | None, html_file: Path | None) -> int:
    from evalspan.conformance.suite.junit import junit_xml
    from evalspan.conformance.suite.matrix import print_matrix
    from evalspan.conformance.suite.page import html_page

    if str(json_file) != "-":
        print_matrix(report)
    if json_file is not None:
        write_json(report.as_json(), json_file)
    if junit_file is not None:
        write_text(junit_xml(report).decode(), junit_file)
    if html_file is not None:
        write_text(html_page(report), html_file)
    return 0 if report.passed else 1


def _groups(requirements: tuple[Any, ...]) -> list[str]:
    return sorted({requirement.id.rpartition("-")[0] for requirement in requirements if requirement.id[-1].isdigit()})
