"""`evalspan bench overhead`: what it prints, and that it measures what it says. Nothing here depends on speed."""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from evalspan.conformance.bench.figure import check, write
from evalspan.conformance.bench.holds import Hold, holds
from evalspan.conformance.bench.machine import machine_line
from evalspan.conformance.bench.mixes import MIXES
from evalspan.conformance.bench.overhead import Overhead, Row
from evalspan.conformance.bench.subjects import CASES, RUNTIMES, inputs, opened
from evalspan.conformance.bench.timing import interleaved, median_us, percentile_us, timed
from evalspan.orchestrator.errors import RequestError
from evalspan.policies import Limits

EVALUATORS = ("arithmetic", "strings", "dates", "checksums")
COMMAND = [str(Path(sys.executable).parent / "evalspan"), "bench", "overhead"]


@pytest.fixture(scope="module", autouse=True)
def _module_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVALSPAN_CACHE", str(tmp_path_factory.mktemp("cache") / "modules"))
        yield


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=300, env=dict(os.environ))


@pytest.fixture(scope="module")
def in_json(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], Path]:
    """One run in JSON, and the figure that it drew."""
    figure = tmp_path_factory.mktemp("figure") / "overhead.svg"
    return bench("--json", "--rounds", "2", "--plot", str(figure)), figure


def test_the_json_has_the_documented_keys_and_a_row_for_every_cell(in_json: Any) -> None:
    result, _ = in_json
    assert result.returncode == 0
    answer = json.loads(result.stdout)
    assert list(answer) == ["machine", "rows", "longest_hold_us"]
    keys = ["evaluator", "runtime", "case", "p50_us", "p99_us", "ratio_to_in_process", "fuel"]
    assert all(list(row) == keys for row in answer["rows"])
    cells = [(row["evaluator"], row["case"], row["runtime"]) for row in answer["rows"]]
    assert cells == [(e, c, r) for e in EVALUATORS for c in CASES for r in RUNTIMES]


def test_the_figures_are_consistent(in_json: Any) -> None:
    answer = json.loads(in_json[0].stdout)
    rows = {(row["evaluator"], row["case"], row["runtime"]): row for row in answer["rows"]}
    for (evaluator, case, runtime), row in rows.items():
        base = rows[evaluator, case, "in_process"]["p50_us"]
        assert 0 < row["p50_us"] <= row["p99_us"]
        assert row["ratio_to_in_process"] == pytest.approx(row["p50_us"] / base, rel=0.01)
        if runtime in ("wasm", "wasm_fresh"):
            assert row["fuel"] == rows[evaluator, case, "wasm"]["fuel"] > 0
        else:
            assert row["fuel"] is None
    for evaluator in EVALUATORS:
        fuel = [rows[evaluator, case, "wasm"]["fuel"] for case in CASES]
        assert fuel == sorted(fuel)
    assert answer["longest_hold_us"] > max(row["p50_us"] for row in answer["rows"])


def test_progress_and_goals_go_to_standard_error(in_json: Any) -> None:
    result, figure = in_json
    lines = result.stderr.splitlines()
    assert any(line.startswith("rounds: 2 of 2") for line in lines)
    assert any(line.startswith("longest holds: ") for line in lines)
    goals = [line for line in lines if line.startswith(("met ", "not met "))]
    assert len(goals) == 8
    assert lines[-1] == f"{figure} is written"


def test_the_figure_is_written_whole_and_alone(in_json: Any) -> None:
    _, figure = in_json
    text = figure.read_text()
    assert text.startswith("<?xml")
    assert text.rstrip().endswith("</svg>")
    assert [path.name for path in figure.parent.iterdir()] == [figure.name]


def test_the_text_shows_every_evaluator_runtime_and_hold() -> None:
    result = bench("--rounds", "1")
    assert result.returncode == 0
    for word in (
        *EVALUATORS,
        *RUNTIMES,
        *(mix.name for mix in MIXES),
        "Longest hold of a batch: ",
        machine_line()[:20],
    ):
        assert word in result.stdout
    assert "\x1b" not in result.stdout


@pytest.mark.model
def test_a_model_adds_what_an_evaluation_is_of_a_decode_step() -> None:
    step = json.loads(bench("--rounds", "1", "--model", "default", "--json").stdout)["decode_step"]
    assert step["model"].endswith(".gguf")
    assert "/" not in step["model"]
    assert [(row["evaluator"], row["runtime"]) for row in step["shares"]] == [
        (e, r) for e in EVALUATORS for r in RUNTIMES
    ]
    for row in step["shares"]:
        assert row["share"] == pytest.approx(row["p50_us"] / step["p50_us"], rel=0.01)
        assert row["share_at_once"] == pytest.approx(row["p50_us_at_once"] / step["p50_us"], rel=0.01)


@pytest.mark.parametrize(
    ("arguments", "says", "status"),
    [
        (("--plot", "overhead.txt"), "must end in .png or .svg", 2),
        (("--plot", "/no/such/folder/overhead.png"), "no file can be written there", 2),
        (("--rounds", "0"), "--rounds", 2),
        (("--model", "/no/such.gguf"), "cannot be read", 4),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_measured(
    arguments: tuple[str, ...], says: str, status: int
) -> None:
    result = bench(*arguments)
    assert says in result.stderr
    assert result.returncode == status
    assert "rounds: " not in result.stderr
    assert result.stdout == ""


def test_a_plot_without_matplotlib_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "matplotlib" else found(name))
    with pytest.raises(RequestError, match=r"pip install 'evalspan\[bench\]'"):
        check(tmp_path / "overhead.png")


class _Figure:
    """A figure whose drawing fails half way."""

    def savefig(self, path: Path, **_: Any) -> None:
        path.write_bytes(b"\x89PNG")
        raise OSError(28, "No space left on device")


def test_a_figure_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "overhead.png"
    path.write_bytes(b"old")
    with pytest.raises(RequestError, match="No space left"):
        write(_Figure(), path)  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_typical_inputs_are_those_of_the_goals_and_the_longest_fill_the_limit() -> None:
    limit = Limits().max_input_bytes
    typical = [inputs(name, limit)["typical"].decode() for name in EVALUATORS]
    assert typical == ["17 * 23 + 91", 'count("strawberry", "r")', "2024-01-31 + 1 month", 'crc32("123456789")']
    for name in EVALUATORS:
        made = inputs(name, limit)
        assert len(made["short"]) < len(made["typical"]) < len(made["limit"]) == limit


def test_every_runtime_is_another_and_pays_the_policy_of_the_span() -> None:
    with opened() as (groups, _):
        assert len(groups) == len(EVALUATORS) * len(CASES)
        for group in groups:
            assert [subject.runtime for subject in group] == list(RUNTIMES)
            for subject in group:
                evaluators, rule = subject.run.func.__self__, subject.run.args[2]  # type: ignore[attr-defined]
                audited = subject.runtime == "wasm"
                entry = evaluators.registry.evaluator(subject.evaluator)
                assert evaluators.runtime == subject.runtime.removesuffix("_fresh")
                assert (entry.builtin is None) == (subject.runtime == "wasm_fresh")
                assert evaluators.registry.tags == groups[0][0].run.func.__self__.registry.tags  # type: ignore[attr-defined]
                assert rule.evaluator == subject.evaluator
                run = evaluators._local.state.bound[subject.evaluator, id(rule)]._run
                assert audited == (type(getattr(run, "__self__", None)).__name__ == "RestoredGuest")
                subject.check()


def test_a_wrong_answer_after_the_measurement_is_an_error() -> None:
    with opened() as (groups, _):
        subject, other = groups[0][0], groups[1][0]
        with pytest.raises(RuntimeError, match="first answer"):
            subject._replace(run=other.run).check()


def test_cells_take_turns_and_each_round_begins_with_another() -> None:
    calls: list[str] = []
    cells = [[lambda name=name: calls.append(name) for name in group] for group in ("abc", "xy")]  # type: ignore[misc]
    marks: list[int] = []
    samples = interleaved(cells, 4, lambda: marks.append(len(calls)))
    rounds = [calls[start:end] for start, end in pairwise(marks)]
    orders = ["".join(dict.fromkeys(part)) for part in rounds]
    assert orders == ["bcayx", "cabxy", "abcyx"]
    assert [len(group) for group in samples] == [3, 2]
    counts = {name: "".join(rounds[0]).count(name) for name in "abcxy"}
    assert [[len(times) for times in group] for group in samples] == [
        [4 * (counts[name] - 1) for name in group] for group in ("abc", "xy")
    ]


def test_no_garbage_is_collected_while_calls_are_timed() -> None:
    seen: list[bool] = []
    interleaved([[lambda: seen.append(gc.isenabled())]], 1, lambda: None)
    assert set(seen) == {False}
    assert gc.isenabled()


def test_each_call_is_one_sample() -> None:
    calls: list[int] = []
    samples = timed(lambda: calls.append(1), 7)
    assert len(samples) == len(calls) == 7
    assert min(samples) > 0


@pytest.mark.parametrize(
    ("count", "percent", "rank"), [(1, 50, 1), (1, 99, 1), (100, 50, 50), (100, 99, 99), (101, 99, 100), (400, 99, 396)]
)
def test_a_percentile_is_the_sample_of_the_nearest_rank(count: int, percent: int, rank: int) -> None:
    samples = [1000 * (i + 1) for i in range(count)]
    assert percentile_us(samples[::-1], percent) == rank
    if percent == 50:
        assert median_us(samples) == rank


def overhead(**p50s: float) -> Overhead:
    """An outcome in which each runtime's median is as given, and those of others 10 us."""
    rows = [
        Row(
            name,
            runtime,
            "typical",
            p50s.get(f"{name}_{runtime}", 10.0),
            99.0,
            p50s.get(f"{name}_{runtime}", 10.0) / 10,
            1,
        )
        for name in EVALUATORS
        for runtime in RUNTIMES
    ]
    lasted = [Hold("a", "", False, 5.0, 7.0, 1, "value"), Hold("b", "", True, 6.0, 6.5, 1, "value")]
    return Overhead("a machine", "none", 1, rows, lasted, None)


@pytest.mark.parametrize(
    ("p50s", "missed"),
    [
        ({}, []),
        ({"arithmetic_wasm": 10.1}, ["arithmetic in wasm"]),
        ({"dates_wasm": 20.0}, []),
        ({"dates_wasm": 20.1}, ["dates in wasm"]),
        ({"strings_wasm_fresh": 20.0}, ["strings in wasm_fresh"]),
    ],
)
def test_a_goal_is_met_up_to_its_limit_and_not_beyond(p50s: dict[str, float], missed: list[str]) -> None:
    goals = overhead(**p50s).goals
    assert len(goals) == 8
    assert [goal.about.partition(":")[0] for goal in goals if not goal.met] == missed


def test_the_longest_hold_is_the_longest_of_all() -> None:
    assert overhead().longest_hold_us == 7.0


def test_every_hold_uses_up_its_fuel_or_gives_a_value() -> None:
    steps: list[int] = []
    found = holds(1, lambda: steps.append(1))
    assert len(steps) == len(found)
    assert [hold.name for hold in found if hold.third_party] == [mix.name for mix in MIXES]
    for hold in found:
        assert 0 < hold.median_us <= hold.longest_us
        if hold.third_party:
            # A slow machine may reach the deadline first.
            ended = hold.end == "internal" and hold.longest_us > Limits().deadline_ms * 1000
            assert (hold.end, hold.fuel) == ("fuel_exhausted", Limits().fuel) or ended
        else:
            assert hold.end in ("value", "fuel_exhausted")
            assert hold.fuel > 0


def test_the_machine_line_names_versions_and_no_place() -> None:
    line = machine_line("wasmtime")
    for word in (" cores", "Python 3.", "wasmtime ", "evalspan "):
        assert word in line
    assert "/" not in line
    assert "\n" not in line
