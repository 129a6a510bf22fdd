"""Runs from the command line: what they find, keep, print and repeat."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from evalspan.conformance.fuzz import FuzzError
from evalspan.conformance.fuzz.findings import Finding, load_finding, load_input, save_finding
from evalspan.conformance.fuzz.session import Session
from evalspan.conformance.fuzz.store import Store
from evalspan.conformance.fuzz.targets import TargetSpec, open_target
from evalspan.conformance.generators import Sample

EVALSPAN = str(Path(sys.executable).parent / "evalspan")
FAULTY = str(Path(__file__).parent)


def fuzz(folder: Path, *arguments: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": FAULTY, "EVALSPAN_CACHE": str(folder / "cache")}
    return subprocess.run(
        [EVALSPAN, "fuzz", *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        timeout=120,
        **settings,
    )


@pytest.mark.parametrize("name", ["arithmetic", "strings", "dates", "checksums"])
def test_3000_inputs_of_each_evaluator_have_no_finding(name: str) -> None:
    target = open_target(TargetSpec("evaluator", name))
    try:
        session = Session(target, seed=5, name=name)
        session.run(3000)
    finally:
        target.close()
    tally = session.count()
    assert session.findings == []
    assert tally.inputs == 3000
    assert tally.covered > 0.9 * tally.productions > 90
    assert tally.answers["value"] > 400, "most inputs of an operator's grammar mean something"
    assert tally.corpus > 200


def test_faults_are_found_minimized_saved_and_repeated(tmp_path: Path) -> None:
    ran = fuzz(
        tmp_path, "faulty:ask", "--inputs", "400", "--allow", "ValueError", "--timeout", "0.3", "--json", "out.json"
    )
    assert ran.returncode == 1, ran.stderr
    report = json.loads((tmp_path / "out.json").read_text())
    found = {(entry["oracle"], entry["input"]) for entry in report["findings"]}
    faults = {("exception", "&"), ("hang", ";"), ("memory", "|"), ("died", "~"), ("two runs", "!")}
    assert faults <= found <= faults | {("exception", "@")}
    assert len({(entry["oracle"], entry["cause"]) for entry in report["findings"]}) == len(report["findings"])
    assert report["inputs"] == 400
    for entry in report["findings"]:
        line = next(line for line in ran.stdout.splitlines() if "repeat with" in line and entry["file"] in line)
        assert f"faulty:ask --allow ValueError --repeat {entry['file']}" in line
    died = next(entry["file"] for entry in report["findings"] if entry["oracle"] == "died")
    again = fuzz(tmp_path, "faulty:ask", "--allow", "ValueError", "--repeat", died)
    assert (again.returncode, again.stdout.splitlines()[0]) == (1, "DIED: ended with status 3")
    harmless = tmp_path / "harmless"
    harmless.write_bytes(b"1")
    assert fuzz(tmp_path, "faulty:ask", "--repeat", "harmless").stdout == "no oracle objects\n"


def test_a_run_goes_on_where_the_last_one_stopped(tmp_path: Path) -> None:
    first = fuzz(tmp_path, "checksums", "--inputs", "1500", "--corpus", "c", "--json", "-")
    second = fuzz(tmp_path, "checksums", "--inputs", "100", "--corpus", "c", "--json", "-")
    assert first.returncode == second.returncode == 0
    one, two = json.loads(first.stdout), json.loads(second.stdout)
    assert (one["inputs"], one["inputs_before"], two["inputs"], two["inputs_before"]) == (1500, 0, 100, 1500)
    assert two["corpus"] > 0.8 * one["corpus"] > 80, "an input may show nothing new beside those before it in order"
    assert json.loads((tmp_path / "c/state.json").read_text())["inputs"] == 1600
    assert not list((tmp_path / "c").rglob(".*")), "nothing half written is left"
    kept = len(list((tmp_path / "c/inputs").iterdir()))
    (tmp_path / "c/inputs/mine").write_bytes(b'crc32("mine")')
    store = Store.open(tmp_path / "c", "checksums", 0)
    assert len(store.samples) == kept + 1
    assert Sample(b'crc32("mine")', {}) in store.samples
    assert {len(sample.options) for sample in store.samples} > {0}, "options are kept beside the bytes"
    other = fuzz(tmp_path, "dates", "--inputs", "10", "--corpus", "c")
    assert other.returncode == 2
    assert other.stderr == "evalspan: c: is the corpus of 'checksums', not of 'dates': use another folder\n"


def test_the_same_seed_finds_the_same_and_known_findings_are_not_found_twice(tmp_path: Path) -> None:
    options = ("faulty:ask", "--inputs", "150", "--timeout", "0.2", "--corpus", "c", "--json", "-")
    first = json.loads(fuzz(tmp_path, *options).stdout)
    second = json.loads(fuzz(tmp_path, *options).stdout)
    causes = [[entry["cause"] for entry in run["findings"]] for run in (first, second)]
    assert sorted(causes[0]) == sorted(set(causes[0]))
    assert sorted(causes[1])[: len(causes[1])] == sorted(set(causes[1]))
    assert set(causes[0]) <= set(causes[1])


def test_several_processes_share_what_they_keep(tmp_path: Path) -> None:
    ran = fuzz(tmp_path, "checksums", "--inputs", "3000", "--jobs", "2", "--json", "-")
    report = json.loads(ran.stdout)
    assert (ran.returncode, report["inputs"], report["jobs"]) == (0, 3000, 2)
    ran = fuzz(tmp_path, "no.such:thing", "--inputs", "10", "--jobs", "2")
    assert ran.returncode == 2
    assert "cannot be imported" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_stops_with_the_summary(tmp_path: Path, jobs: str) -> None:
    process = subprocess.Popen(
        [EVALSPAN, "fuzz", "dates", "--seconds", "100", "--corpus", "c", "--jobs", jobs],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "EVALSPAN_CACHE": str(tmp_path / "cache")},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    for _ in range(600):
        if any((tmp_path / "c/inputs").glob("*")):
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "interrupted" in out.splitlines()[-1]
    assert "Traceback" not in err
    assert json.loads((tmp_path / "c/state.json").read_text())["inputs"] >= 0


def test_seconds_are_kept(tmp_path: Path) -> None:
    began = time.monotonic()
    ran = fuzz(tmp_path, "checksums", "--seconds", "1")
    assert ran.returncode == 0
    assert time.monotonic() - began < 60
    assert "productions" in ran.stdout
    assert "worst fuel per byte" in ran.stdout


def test_a_finding_survives_its_file(tmp_path: Path) -> None:
    finding = Finding("t", "hang", "c", "d", Sample(b"\xff\n", {"max_depth": 2}), (b"a", b"\xfe"), 3, 4, 1.5)
    path = save_finding(tmp_path, finding)
    assert load_finding(path) == finding
    assert load_input(path) == (finding.sample, (b"a", b"\xfe"))


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"target": 1}', "[" * 100_000, '{"options": 3}'])
def test_a_file_that_is_no_finding_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "finding.json"
    path.write_text(text)
    with pytest.raises(FuzzError, match="is no finding"):
        load_finding(path)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"version": 2, "target": "t", "inputs": 0, "seconds": 0, "options": {}}']
)
def test_a_state_that_cannot_be_used_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "state.json").write_text(text)
    with pytest.raises(FuzzError, match=r"state\.json: is (no state|of version 2)"):
        Store.open(tmp_path, "t", 0)
