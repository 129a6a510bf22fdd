"""The zoo of hostile modules: each gets its verdict, in one process that survives them all."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest
from evaluators.guests import guest, registry
from evaluators.zoo import Case, cases, plain

from evalspan.evaluators import Evaluators, Failure, ModuleRefused, OptionError, Value
from evalspan.evaluators.runtime import SandboxMode

CASES = cases()
SPAN = """
[[span]]
name = "zoo"
open = "<calc>"
close = "</calc>"
evaluator = "{id}"
"""


def check(case: Case, folder: Path, sandbox: SandboxMode) -> None:
    """Load the module and evaluate twice; the verdict must be the case's both times."""
    found = registry(
        folder,
        {case.id: case.code()},
        SPAN.format(id=case.id),
        memory_pages=case.pages,
        fuel=case.fuel,
        max_result_bytes=case.max_result_bytes,
    )
    with Evaluators(found, sandbox=sandbox) as evaluators:
        if case.refused:
            with pytest.raises((ModuleRefused, OptionError)) as refusal:
                evaluators.describe(case.id)
            check_of = refusal.value.check if isinstance(refusal.value, ModuleRefused) else "option"
            assert (check_of, case.says in str(refusal.value)) == (case.refused, True), refusal.value
            assert str(refusal.value).isprintable()
            return
        for _ in range(2):
            outcome = evaluators.evaluate(case.id, case.input.encode())
            if case.value is not None:
                assert isinstance(outcome, Value) and outcome.text == case.value, outcome
            else:
                assert isinstance(outcome, Failure) and outcome.code == case.error, outcome
                assert case.says in outcome.message
                assert not case.silent or case.silent not in outcome.message
            assert outcome.fuel is not None and 0 <= outcome.fuel <= case.fuel


@pytest.mark.parametrize("sandbox", ["fast", "portable"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_module_gets_its_verdict(case: Case, sandbox: SandboxMode, tmp_path: Path) -> None:
    check(case, tmp_path, sandbox)


def test_zoo_has_ids_once_and_one_verdict_each() -> None:
    assert len(CASES) >= 40
    assert len({case.id for case in CASES}) == len(CASES)
    for case in CASES:
        assert [bool(case.refused), case.value is not None, bool(case.error)].count(True) == 1, case.id


def test_one_process_survives_the_zoo_in_little_memory_and_answers_right_after(tmp_path: Path) -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    with Evaluators(registry(tmp_path, {"echo": guest()})) as evaluators:
        assert evaluators.evaluate("echo", b"before") == Value("before", fuel=12)
        before = resident()
        for case in CASES:
            check(case, tmp_path, "auto")
        grown = resident() - before
        assert evaluators.evaluate("echo", b"after") == Value("after", fuel=12)
    assert grown < 16 * 1024 * 1024


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALSPAN_CACHE", "off")


@pytest.mark.parametrize("sandbox", ["fast", "portable"])
def test_no_flipped_bit_and_no_cut_ends_the_host(sandbox: SandboxMode, tmp_path: Path) -> None:
    good = plain()
    verdicts = set()
    damaged = [good[:end] for end in range(0, len(good), 7)]
    for bit in range(0, 8 * len(good), 5 if sandbox == "fast" else 41):
        flipped = bytearray(good)
        flipped[bit // 8] ^= 1 << bit % 8
        damaged.append(bytes(flipped))
    for code in damaged:
        with Evaluators(registry(tmp_path, {"damaged": code}), sandbox=sandbox) as evaluators:
            try:
                verdicts.add(type(evaluators.evaluate("damaged", b"x")).__name__)
            except (ModuleRefused, OptionError) as error:
                verdicts.add(type(error).__name__)
    assert {"ModuleRefused", "Value", "Failure"} <= verdicts
