"""The conformance suite: every requirement on the scripted backend, a third party's backend, and what a run reports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from evalspan.conformance.cli import conformance
from evalspan.conformance.suite import Fault, Outcome, Requirement, Subject, Unsupported, expect
from evalspan.conformance.suite.backends import models_of, open_subject
from evalspan.conformance.suite.baseline import SuiteError, load_baseline, shipped_baseline
from evalspan.conformance.suite.requirement import MASKED, REQUEST, why_not
from evalspan.conformance.suite.requirements import REQUIREMENTS
from evalspan.conformance.suite.runner import ask, run_suite
from evalspan.orchestrator import PluginError
from evalspan.orchestrator.errors import BackendError

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "examples/backend_plugin"


@pytest.fixture(scope="module")
def scripted() -> Subject:
    return open_subject("scripted", None)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(conformance, arguments, standalone_mode=False)


def statuses(outcomes: Sequence[tuple[Requirement, Outcome]], status: str) -> list[str]:
    return [f"{requirement.id}: {outcome.detail}" for requirement, outcome in outcomes if outcome.status == status]


def test_the_scripted_backend_holds_every_requirement(scripted: Subject) -> None:
    outcomes = [(requirement, ask(requirement, scripted)) for requirement in REQUIREMENTS]
    assert not statuses(outcomes, "fail")
    unsupported = [line.partition(":")[0] for line in statuses(outcomes, "unsupported")]
    assert set(unsupported) <= {"EVS-BAT-04", "EVS-MSK-XGRAMMAR"}, "what a script can be asked has been asked"


def test_ids_are_unique_and_statements_say_something() -> None:
    ids = [requirement.id for requirement in REQUIREMENTS]
    assert len(set(ids)) == len(ids)
    assert all(one.id.startswith("EVS-") and one.levels and len(one.statement) > 20 for one in REQUIREMENTS)
    assert len({requirement.statement for requirement in REQUIREMENTS}) == len(ids)


def test_shipped_baselines_name_requirements_that_exist() -> None:
    ids = {requirement.id for requirement in REQUIREMENTS}
    for name in ("scripted", "llama_cpp", "openai_http", "vllm"):
        assert set(shipped_baseline(name)) <= ids


@pytest.mark.parametrize(
    ("error", "status", "detail"),
    [
        (Fault("seen"), "fail", "seen"),
        (Unsupported("why"), "unsupported", "why"),
        (BackendError("broken"), "fail", "BackendError: broken"),
        (ZeroDivisionError("a bug"), "fail", "the check broke: ZeroDivisionError: a bug"),
    ],
)
def test_an_outcome_is_what_the_check_says(scripted: Subject, error: Exception, status: str, detail: str) -> None:
    def check(subject: Subject) -> None:
        raise error

    outcome = ask(Requirement("EVS-X-01", "something that is asked", check), scripted)
    assert (outcome.status, outcome.detail) == (status, detail)


def test_a_requirement_of_other_engines_is_unsupported_with_a_reason(scripted: Subject) -> None:
    outcome = ask(Requirement("EVS-X-01", "something else", lambda _: None, frozenset({"span"})), scripted)
    assert outcome.status == "unsupported"
    assert "step engine" in outcome.detail
    assert why_not(REQUEST, "span") == "it is about completions that are resumed, and a span engine has none"
    assert "cannot be masked" in why_not(MASKED, "request")


def test_a_backend_of_two_kinds_is_asked_as_each(scripted: Subject) -> None:
    seen: list[str] = []
    ask(Requirement("EVS-X-01", "which levels are asked", lambda subject: seen.append(subject.level)), scripted)
    assert seen == ["request", "step"]

    def only_steps(subject: Subject) -> None:
        expect(subject.level == "step", "no step")

    assert ask(Requirement("EVS-X-02", "one of them fails", only_steps), scripted).status == "fail"


def test_what_is_shared_is_asked_once(scripted: Subject) -> None:
    asked: list[str] = []
    shared = Requirement("EVS-X-01", "no matter of a backend", lambda one: asked.append(one.name), shared=True)
    other = open_subject("scripted", None)
    other.name = "other"
    report = run_suite([scripted, other], [shared], {})
    assert asked == ["scripted"]
    assert [column.outcomes["EVS-X-01"].status for column in report.backends.values()] == ["pass", "pass"]


def test_a_failure_fails_the_run_unless_the_baseline_lists_it(scripted: Subject, tmp_path: Path) -> None:
    def fails(subject: Subject) -> None:
        raise Fault("not yet")

    failing = Requirement("EVS-X-01", "something that fails", fails)
    assert not run_suite([scripted], [failing], {}).passed
    known = run_suite([scripted], [failing], {"scripted": {"EVS-X-01": "it is being written"}})
    assert known.passed
    assert known.backends["scripted"].regressions == []
    better = run_suite([scripted], [replace(failing, check=lambda _: None)], {"scripted": {"EVS-X-01": "old"}})
    assert better.backends["scripted"].improvements == ["EVS-X-01"]


def test_a_run_prints_a_matrix_and_writes_its_report(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    result = run("run", "--only", "EVS-INJ-0[12]", "--json", str(path))
    assert (result.return_value, result.exception) == (0, None)
    assert "EVS-INJ-01" in result.stdout and "pass" in result.stdout
    report = json.loads(path.read_text())
    assert list(report)[-1] == "summary"
    assert report["summary"] == {"scripted": {"passed": 2, "failed": 0, "unsupported": 0}}
    assert report["backends"]["scripted"]["outcomes"]["EVS-INJ-01"]["status"] == "pass"


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        (["--only", "EVS-NONE"], None, "no requirement is called"),
        (["--backend", "no-such"], PluginError, "no backend is called"),
        (["--backend", "scripted:width=2"], BackendError, "has no engine option 'width'"),
        (["--backend", "scripted:width"], SuiteError, "NAME=VALUE"),
        (["--model", "a", "--model", "b"], SuiteError, "NAME=MODEL"),
        (["--backend", "llama_cpp", "--model", "no.gguf"], BackendError, "no.gguf"),
        (["--baseline", "no-such-file"], SuiteError, "cannot be read"),
    ],
)
def test_what_cannot_be_run_is_an_error(arguments: list[str], error: type[Exception] | None, said: str) -> None:
    result = run("run", *arguments)
    assert said in str(result.exception)
    if error is not None:
        assert isinstance(result.exception, error)


def test_models_belong_to_backends() -> None:
    assert models_of(("a", "b"), ("x",)) == {"a": "x", "b": "x"}
    assert models_of(("a", "b"), ("x", "b=http://h/v1#n=1")) == {"a": "x", "b": "http://h/v1#n=1"}
    assert models_of(("a",), ("http://h/?b=1",)) == {"a": "http://h/?b=1"}
    with pytest.raises(SuiteError, match="two models"):
        models_of(("a",), ("a=1", "a=2"))


@pytest.mark.parametrize(
    ("text", "said"),
    [("x = [", "is no TOML"), ("EVS-NONE = 'why'", "no requirement is called"), ("EVS-INJ-01 = ' '", "reason")],
)
def test_a_baseline_that_is_wrong_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "baseline.toml"
    path.write_text(text)
    with pytest.raises(SuiteError, match=said):
        load_baseline(path, ["EVS-INJ-01"])


@pytest.fixture
def plugin_path(tmp_path: Path) -> Path:
    """A folder that Python finds the example plugin in, as pip would have it: its module, and its entry points."""
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text())["project"]
    points = project["entry-points"]["evalspan"]
    facts = tmp_path / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    facts.mkdir()
    facts.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 1\n")
    lines = "\n".join(f"{name} = {value}" for name, value in points.items())
    facts.joinpath("entry_points.txt").write_text(f"[evalspan]\n{lines}\n")
    tmp_path.joinpath("adaptive_backend.py").write_bytes((PLUGIN / "adaptive_backend.py").read_bytes())
    return tmp_path


def test_a_third_partys_backend_is_tested_with_the_same_command(plugin_path: Path, tmp_path: Path) -> None:
    command = [str(Path(sys.executable).with_name("evalspan")), "conformance", "run", "--backend", "adaptive"]
    # The backend has no part in the others, which the first test asks.
    only = [word for one in REQUIREMENTS if not one.shared for word in ("--only", one.id)]
    environment = {**os.environ, "PYTHONPATH": str(plugin_path)}
    done = subprocess.run(
        [*command, *only, "--json", str(tmp_path / "r.json")], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    outcomes = report["backends"]["adaptive"]["outcomes"]
    assert report["summary"]["adaptive"]["failed"] == 0
    assert sum(cell["status"] == "pass" for cell in outcomes.values()) > 40


def test_the_example_backend_is_short() -> None:
    assert len((PLUGIN / "adaptive_backend.py").read_text().splitlines()) < 100
