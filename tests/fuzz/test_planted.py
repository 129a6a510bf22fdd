"""The fuzzer finds what it must: faults put into the built-in evaluators. And no finding there was comes back."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from evalspan.conformance.fuzz import FuzzError
from evalspan.conformance.fuzz.findings import load_finding
from evalspan.conformance.fuzz.planted.bugs import PlantedBug, bugs, guest_sources
from evalspan.conformance.fuzz.planted.run import caught
from evalspan.conformance.fuzz.replay import corpus_files
from evalspan.conformance.fuzz.targets import TargetSpec, open_target
from evalspan.conformance.generators import GENERATORS, Sample

BUGS = {bug.name: bug for bug in bugs()}
MEASURED = Path(__file__).parents[2] / "conformance/evalspan/conformance/fuzz/planted/measured.json"


@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS)
def test_every_planted_bug_still_applies(bug: PlantedBug) -> None:
    source = (guest_sources() / bug.file).read_text("utf-8")
    assert bug.patched(source) != source
    assert f"{bug.operator}/1" in GENERATORS


def test_a_patch_that_applies_nowhere_or_twice_is_an_error() -> None:
    bug = BUGS["crc-table-entry"]
    for source in ("", bug.find * 2):
        with pytest.raises(FuzzError, match="must be there once"):
            bug.patched(source)


def test_the_kinds_of_faults_that_must_be_found_are_all_planted() -> None:
    assert len(BUGS) >= 12
    assert {bug.operator for bug in BUGS.values()} == {spec[:-2] for spec in GENERATORS}


@pytest.mark.parametrize("name", ["month-clamp", "slice-unclamped"])
def test_a_planted_bug_is_found_and_repeats_on_its_own(name: str) -> None:
    row = caught(BUGS[name], seconds=60, seed=0)
    assert row.finding is not None
    assert row.finding.oracle in ("reference", "trap", "there and back", "between", "slices")


@pytest.mark.long
@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS)
def test_every_planted_bug_is_found_within_a_minute_on_one_core(bug: PlantedBug) -> None:
    row = caught(bug, seconds=60, seed=1)
    assert row.finding is not None, bug.fault


def test_the_recorded_table_has_every_planted_bug_and_each_was_found_in_time() -> None:
    rows = {row["bug"]: row for row in json.loads(MEASURED.read_text())["rows"]}
    assert rows.keys() == BUGS.keys()
    for row in rows.values():
        assert row["oracle"] is not None
        assert row["seconds"] <= 60


def test_every_finding_of_the_corpus_stays_fixed() -> None:
    """What was a fault once, in a release or in a planted bug, is none: replayed on every oracle."""
    by_evaluator: dict[str, list[Path]] = defaultdict(list)
    for evaluator, path in corpus_files():
        by_evaluator[evaluator].append(path)
    assert by_evaluator.keys() == {spec[:-2] for spec in GENERATORS}
    for evaluator, paths in by_evaluator.items():
        target = open_target(TargetSpec("evaluator", evaluator))
        try:
            for path in paths:
                finding = load_finding(path)
                assert finding.target == evaluator
                for data in finding.before:
                    target.ask(Sample(data, finding.sample.options))
                assert list(target.complaints(finding.sample)) == [], path.name
        finally:
            target.close()
