"""What is drawn from: the checks pass on the sampler, and fail on samplers with a fault."""

import json
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from support import SHORT_TAGS, play

from evalspan.conformance.cli import conformance
from evalspan.conformance.probability import (
    Finding,
    check_frequencies,
    check_ledger,
    check_normalization,
    check_steps,
    example_table,
)
from evalspan.conformance.probability.example import check_example
from evalspan.conformance.probability.fit import chi_square_tail, fit
from evalspan.orchestrator import SamplingParams, Step
from evalspan.orchestrator.sampling import Sampler


class WithoutRenormalization(Sampler):
    """Draws with the probabilities over all tokens: what the mask took away goes to the last that is left."""

    def _draw(self, logits: Any, allowed: Any) -> tuple[int, float]:
        ids, shares = self.distribution(logits)
        left = [(int(token), float(share)) for token, share in zip(ids, shares, strict=True) if allowed[token]]
        rest = self._random.random()
        for token, share in left:
            rest -= share
            if rest < 0:
                return token, share
        return left[-1]

    def distribution(self, logits: Any) -> Any:
        ids, shares = super().distribution(np.where(np.isfinite(logits), logits, np.float32(0.0)))
        kept = np.isfinite(logits[ids])
        return ids[kept], shares[kept]


class LateMask(Sampler):
    """Filters all tokens, and masks what the filters left."""

    def _draw(self, logits: Any, allowed: Any) -> tuple[int, float]:
        ids, shares = self.distribution(logits)
        kept = allowed[ids]
        if not kept.any():
            return super()._draw(logits, allowed)
        ids, shares = ids[kept], shares[kept] / shares[kept].sum()
        chosen = int(self._random.choice(len(ids), p=shares))
        return int(ids[chosen]), float(shares[chosen])


class Warmer(Sampler):
    """Draws at a temperature a tenth too high."""

    def distribution(self, logits: Any) -> Any:
        return super().distribution(np.asarray(logits / np.float32(1.1)))


class Forgetful(Sampler):
    """Renormalizes, and tells the model's own probability."""

    def explain(self, logits: Any, allowed: Any = None) -> Any:
        from dataclasses import replace

        drawn = super().explain(logits, allowed)
        return replace(drawn, renormalized=drawn.probability)


def test_the_sampler_passes_every_check() -> None:
    for finding in (check_normalization(), check_ledger(), check_frequencies(draws=5_000), check_example()):
        assert finding.passed, str(finding)


@pytest.fixture
def sampler(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Sampler]]:
    """The driver with another sampler."""
    monkeypatch.setattr("evalspan.orchestrator.starting.Sampler", request.param)
    yield request.param


@pytest.mark.parametrize("sampler", [WithoutRenormalization, LateMask, Warmer, Forgetful], indirect=True)
def test_the_ledger_exposes_a_fault(sampler: type[Sampler]) -> None:
    finding = check_ledger(generations=40)
    assert not finding.passed
    field = "renormalized" if sampler is Forgetful else "drawn"
    assert any(f"{field} is" in fault and "theory" in fault for fault in finding.faults), finding.faults


@pytest.mark.parametrize("sampler", [WithoutRenormalization], indirect=True)
def test_the_steps_alone_expose_a_missing_renormalization(sampler: type[Sampler]) -> None:
    steps = [event for event in play([{"x": 3.0, "y": 1.0}] * 3, **PLAIN) if isinstance(event, Step)]
    assert "its share of what is allowed is" in check_steps(steps, PLAIN["sampling"]).faults[0]


PLAIN: dict[str, Any] = {"registry": SHORT_TAGS, "sampling": SamplingParams(temperature=1.0), "ledger": True}


def test_the_steps_of_a_generation_fit_together() -> None:
    steps = [event for event in play([{"x": 3.0, "y": 1.0}] * 3, **PLAIN) if isinstance(event, Step)]
    finding = check_steps(steps, PLAIN["sampling"])
    assert finding.passed
    assert finding.compared == len(steps) > 0
    assert not check_steps([], PLAIN["sampling"]).passed


@pytest.mark.parametrize("sampler", [WithoutRenormalization, LateMask, Warmer])
def test_frequencies_expose_a_fault(sampler: type[Sampler]) -> None:
    finding = check_frequencies(sampler, draws=8_000)
    assert not finding.passed
    assert "degrees of freedom" in finding.faults[0]


@pytest.mark.parametrize("sampler", [WithoutRenormalization, Warmer])
def test_distributions_expose_a_fault(sampler: type[Sampler]) -> None:
    assert not check_normalization(sampler).passed


# From printed tables: Fisher and Yates.
@pytest.mark.parametrize(
    ("freedom", "value", "tail"),
    [
        *[(1, 3.841, 0.05), (2, 5.991, 0.05), (3, 7.815, 0.05), (9, 16.919, 0.05), (10, 18.307, 0.05)],
        *[(1, 10.828, 0.001), (4, 18.467, 0.001), (9, 27.877, 0.001), (30, 59.703, 0.001), (5, 1.145, 0.95)],
    ],
)
def test_the_chi_square_tail_is_that_of_the_tables(freedom: int, value: float, tail: float) -> None:
    assert chi_square_tail(value, freedom) == pytest.approx(tail, rel=5e-3)


def test_the_chances_of_a_right_sampler_are_spread_evenly() -> None:
    """A test whose chances crowd at one end would fail too often, or never."""
    shares = {0: 0.5, 1: 0.3, 2: 0.2}
    random = np.random.Generator(np.random.PCG64(3))
    chances = []
    for _ in range(400):
        counts = Counter(map(int, random.choice(3, size=2_000, p=list(shares.values()))))
        chances.append(fit(counts, shares).chance)
    for bound in (0.1, 0.5, 0.9):
        assert abs(sum(chance < bound for chance in chances) / 400 - bound) < 0.08


def test_a_token_that_cannot_be_drawn_fits_nothing() -> None:
    assert fit({0: 10, 1: 1}, {0: 1.0}).chance == 0
    assert fit({0: 10}, {0: 1.0}).chance == 1


def test_rare_tokens_share_a_cell() -> None:
    found = fit({0: 98, 1: 1, 2: 1}, {0: 0.94, 1: 0.03, 2: 0.03})
    assert found.freedom == 1
    assert found.statistic == pytest.approx(16 / 94 + 16 / 6)


def test_the_example_has_the_figures_of_the_grammar_papers() -> None:
    rows = {row.text: row for row in example_table()}
    assert {text: round(float(row.masked), 4) for text, row in rows.items()} == {"ax": 0.6, "bx": 0.2, "by": 0.2}
    assert {text: round(row.driver, 4) for text, row in rows.items()} == {"ax": 0.6, "bx": 0.2, "by": 0.2}
    conditional = {text: round(float(row.conditional), 4) for text, row in rows.items()}
    assert conditional == {"ax": 0.0148, "bx": 0.4926, "by": 0.4926}
    assert sum((row.conditional for row in rows.values()), Fraction(0)) == 1
    assert rows["ax"].model == Fraction(6, 1000)


def test_the_example_notices_a_driver_that_masks_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    from evalspan.orchestrator.machine import SpanMachine

    monkeypatch.setattr(SpanMachine, "mask", lambda self: np.ones(257, dtype=np.bool_))
    assert not check_example().passed


def test_a_check_that_compared_nothing_has_not_passed() -> None:
    assert not Finding("x", "y", 0).passed


def test_the_command_prints_the_table_and_its_exit_status_is_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "report.json"
    result = CliRunner().invoke(conformance, ["probability", "--json", str(out)], standalone_mode=False)
    assert result.return_value == 0, result.output
    assert "0.0148" in result.output and "0.4926" in result.output
    report = json.loads(out.read_text())
    assert all(check["passed"] for check in report["checks"])
    assert math.isclose(sum(row["masked"] for row in report["example"]), 1)
    wrong = Finding("ledger", "", 1, ("a fault",))
    monkeypatch.setattr("evalspan.conformance.probability.check_ledger", lambda: wrong)
    monkeypatch.setattr("evalspan.conformance.probability.check_frequencies", lambda: Finding("x", "", 1))
    result = CliRunner().invoke(conformance, ["probability", "--json", "-"], standalone_mode=False)
    assert result.return_value == 1
    assert [check["check"] for check in json.loads(result.output)["checks"] if not check["passed"]] == ["ledger"]
