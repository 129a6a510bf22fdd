"""`evalspan bench vllm` without vLLM: how figures are made of measurements, and what is said where it cannot run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evalspan.backends.vllm_backend import VllmBackend
from evalspan.conformance.bench.vllm_load import Load, prompt
from evalspan.conformance.bench.vllm_rows import BATCHES, Found
from evalspan.orchestrator import BackendError
from evalspan.policies import Registry

GROWN = {"follow_ns": 5e5, "mask_ns": 0.0, "pin_ns": 5e5, "update_ns": 5e5, "step_ns": 1e8, "rows": 40, "steps": 10}


def measured(**changes: float) -> Found:
    """Measurements of a machine on which everything takes what it should, but for the `changes`."""
    found = Found([b"x", b"</result>"])
    found.rounds = 1
    for batch in BATCHES:
        for name in ("plain", "loaded", "used"):
            output = [0] * 29 + [1]
            seconds = changes.get(name, 1.0)
            found.loads[batch, name] = [Load(30 * batch, seconds, [0.01] * 98 + [0.5, 0.5], [output] * batch)]
        found.counted[batch] = [{**GROWN, "mask_ns": changes.get("mask_ns", 1.5e6)}]
    for path in ("in-engine", "sessions", "resume"):
        for crowded in (False, True):
            found.injections[path, crowded] = [0.1, 0.2, 0.9]
    found.calculations = {"in-engine": [0.3], "sessions": [0.2], "tool call": [changes.get("tool", 0.6)]}
    return found


def rows(found: Found) -> dict[str, Any]:
    return {row.name: row for row in found.figures().rows}


def test_a_row_is_ours_over_the_baseline() -> None:
    slow = rows(measured(used=2.0))["batch 8: plugin used, tokens/s against plain"]
    assert (slow.ratio, slow.met, slow.informative) == (0.5, False, True)
    assert rows(measured())["batch 8: plugin loaded and not used, tokens/s against plain"].met


def test_the_gate_is_what_is_counted_in_the_worker() -> None:
    name = "batch 32: what the plugin leaves of a step, in the worker"
    row = rows(measured())[name]
    assert row.ratio == pytest.approx(1 - 3e6 / 1e8) and not row.informative and not row.met
    assert rows(measured(mask_ns=0.0))[name].met


def test_a_tool_call_that_is_twice_as_slow_is_the_goal() -> None:
    found = rows(measured())
    assert found["a calculation by in-engine against a tool call"].met
    assert not rows(measured(tool=0.5))["a calculation by in-engine against a tool call"].met
    assert rows(measured(tool=0.5))["a calculation by sessions against a tool call"].ratio == pytest.approx(2.5)


def test_figures_beside_the_rows() -> None:
    figures = measured().figures()
    assert figures.loads[0]["itl_p50_ms"] == 10.0 and figures.loads[0]["itl_p99_ms"] == 500.0
    assert [load["tokens_per_injection"] for load in figures.loads[:3]] == [None, None, 30.0]
    assert figures.paths[0] == {"path": "in-engine", "alone_ms": 200.0, "crowded_ms": 200.0}
    assert figures.worker[0]["step_us"] == 10_000 and figures.worker[0]["follow_us"] == 12.5


def test_the_prompt_has_a_span_in_each_of_its_lines() -> None:
    rule = Registry.load().span("calc")
    lines = prompt(3).splitlines()
    assert len(lines) == 4 and all(rule.open in line and rule.close in line for line in lines)
    assert prompt(3) != prompt(4)


def vllm_is_here() -> bool:
    try:
        VllmBackend.find()
    except BackendError:
        return False
    return True


@pytest.mark.skipif(vllm_is_here(), reason="the environment has vLLM, where tests/vllm has the tests")
def test_without_vllm_one_line_says_how_to_get_it() -> None:
    evalspan = Path(sys.executable).with_name("evalspan")
    done = subprocess.run([evalspan, "bench", "vllm", "--json"], capture_output=True, text=True)
    assert done.returncode == 4 and done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "scripts/setup_vllm.py" in line


def test_a_path_is_not_for_the_benchmark_to_be_told() -> None:
    from evalspan.conformance.bench.vllm_rows import run

    with pytest.raises(BackendError, match="measures every path"):
        run(1, 8, None, {"path": "sessions"})
