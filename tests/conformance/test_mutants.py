"""Mutants: each dies of the requirement that it is for, and none can be disarmed unnoticed."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from evalspan.conformance.cli import conformance
from evalspan.conformance.mutants import Edit, Mutant, MutantError
from evalspan.conformance.mutants.catalogue import MUTANTS
from evalspan.conformance.mutants.pool import Verdict, control, run_mutants
from evalspan.conformance.suite.requirements import REQUIREMENTS

NAMES = [mutant.name for mutant in MUTANTS]


def test_every_mutant_is_killed_by_its_requirements() -> None:
    assert control(MUTANTS) == {}
    verdicts = list(run_mutants(MUTANTS))
    assert len(verdicts) == len(MUTANTS) >= 14
    alive = [(one.mutant.name, one.survived, one.error) for one in verdicts if not one.dead]
    assert not alive


def test_names_are_unique_and_each_mutant_has_a_requirement() -> None:
    assert len(set(NAMES)) == len(NAMES)
    ids = {requirement.id for requirement in REQUIREMENTS}
    for mutant in MUTANTS:
        assert mutant.kills and set(mutant.kills) <= ids
        assert mutant.edits and mutant.fault


@pytest.mark.parametrize("source", ["nothing of the kind", "x = 1\nx = 1\n"])
def test_a_place_that_is_not_there_exactly_once_is_an_error(source: str) -> None:
    with pytest.raises(MutantError, match="places, not one"):
        Edit("a.module", "x = 1\n", "x = 2\n").apply(source)


def test_a_mutant_whose_place_is_gone_is_not_counted_as_killed() -> None:
    # The child reads the catalogue, so the one that ships is asked here with an edit that its module has not.
    gone = replace(MUTANTS[0], edits=(Edit("evalspan.orchestrator.machine", "no such line", ""),))
    code = (
        "from evalspan.conformance.mutants import child, mutant\n"
        "edit = mutant.Edit('evalspan.orchestrator.machine', 'no such line', '')\n"
        f"gone = mutant.Mutant({gone.name!r}, '', (edit,), ())\n"
        "child.MUTANTS = (gone,)\n"
        f"child.main({gone.name!r}, [])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode != 0
    assert "has 0 places, not one, with 'no such line'" in done.stderr
    assert not Verdict(gone, error="gone").dead


def test_a_mutant_that_nothing_notices_survives_and_fails_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    harmless = Mutant("error-swallowed", "nothing", MUTANTS[0].edits, ("EVS-TOK-01",))  # its fault is elsewhere
    monkeypatch.setattr("evalspan.conformance.mutants.catalogue.MUTANTS", (harmless,))
    result = CliRunner().invoke(conformance, ["mutants"], standalone_mode=False)
    assert result.return_value == 1
    assert "SURVIVED EVS-TOK-01" in result.stdout


def test_a_requirement_that_does_not_hold_without_a_mutant_kills_nothing() -> None:
    unsupported = Mutant("none", "", (), ("EVS-BAT-04", "EVS-NONE"))
    assert set(control([unsupported])) == {"EVS-BAT-04", "EVS-NONE"}


def test_the_command_says_what_killed_a_mutant(tmp_path: Path) -> None:
    path = tmp_path / "mutants.json"
    arguments = ["mutants", "--only", "spans-not-counted", "--json", str(path)]
    result = CliRunner().invoke(conformance, arguments, standalone_mode=False)
    assert result.return_value == 0
    assert "killed by EVS-BUD-01" in result.stdout
    facts = json.loads(path.read_text())
    assert facts["mutants"][0]["killed_by"] == ["EVS-BUD-01"]
    assert (facts["killed"], facts["survived"]) == (1, 0)


def test_the_list_has_all_and_a_wrong_name_is_an_error() -> None:
    listed = CliRunner().invoke(conformance, ["mutants", "--list"], standalone_mode=False)
    assert [line.split()[0] for line in listed.stdout.splitlines()] == NAMES
    wrong = CliRunner().invoke(conformance, ["mutants", "--only", "nobody"])
    assert wrong.exit_code == 2
    assert "no mutant is called 'nobody'" in wrong.output
