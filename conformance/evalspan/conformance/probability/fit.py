"""Whether a sampler draws as often as it should: Pearson's chi-square test of goodness of fit."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evalspan.conformance.probability.finding import Finding
from evalspan.conformance.probability.normalization import MakeSampler
from evalspan.conformance.probability.settings import FORBIDDEN, SCORES, SETTINGS
from evalspan.conformance.probability.theory import expected
from evalspan.orchestrator.sampling import Sampler

__all__ = ["DRAWS", "SIGNIFICANCE", "Fit", "check_frequencies", "chi_square_tail", "fit"]

DRAWS = 20_000
"""For each setting."""

SIGNIFICANCE = 0.001
"""The chance that a right sampler fails with another seed, over all settings together; the seeds are fixed."""

_LEAST = 5.0  # draws expected in a cell, below which the statistic is no chi-square any more (Cochran 1954)


@dataclass(frozen=True, slots=True)
class Fit:
    """A statistic, its degrees of freedom, and the chance that a right sampler has one as large."""

    statistic: float
    freedom: int
    chance: float


def chi_square_tail(statistic: float, freedom: int) -> float:
    """The chance that a chi-square variable of `freedom` degrees is at least `statistic`.

    The closed forms of the regularized incomplete gamma function at whole and half numbers (Abramowitz and Stegun
    26.4.4 and 26.4.5): a finite sum, and the complementary error function where `freedom` is odd.
    """
    half = statistic / 2
    if freedom % 2:
        total, term, start = math.erfc(math.sqrt(half)), math.sqrt(half) / math.gamma(1.5) * math.exp(-half), 1.5
    else:
        total, term, start = 0.0, math.exp(-half), 1.0
    for index in range(freedom // 2):
        total += term
        term *= half / (start + index)
    return min(1.0, total)


def fit(counts: Mapping[int, int], shares: Mapping[int, float]) -> Fit:
    """How well counts fit probabilities. Cells in which fewer than five draws are expected are one cell.

    A token that was drawn and has no probability fits not at all.
    """
    draws = sum(counts.values())
    if any(not shares.get(token) for token in counts):
        return Fit(math.inf, 0, 0.0)
    cells: list[tuple[float, int]] = []
    rare, rare_count = 0.0, 0
    for token, share in shares.items():
        if share * draws >= _LEAST:
            cells.append((share * draws, counts.get(token, 0)))
        else:
            rare, rare_count = rare + share * draws, rare_count + counts.get(token, 0)
    if rare:
        cells.append((rare, rare_count))
    statistic = math.fsum((count - wanted) ** 2 / wanted for wanted, count in cells)
    freedom = len(cells) - 1
    return Fit(statistic, freedom, chi_square_tail(statistic, freedom) if freedom else 1.0)


def check_frequencies(sampler: MakeSampler = Sampler, draws: int = DRAWS) -> Finding:
    """Draw `draws` tokens under a mask with each setting, and test that they fit the theory.

    The significance is divided by the number of settings (Bonferroni).
    """
    logits = np.array(SCORES, dtype=np.float32)
    mask = np.array([token not in FORBIDDEN for token in range(len(SCORES))])
    table = {token: float(logit) for token, logit in enumerate(logits)}
    faults = []
    for params in SETTINGS:
        drawing = sampler(params)
        counts = Counter(drawing.sample(logits, mask) for _ in range(draws))
        found = fit(counts, expected(table, set(table) - FORBIDDEN, params))
        if found.chance < SIGNIFICANCE / len(SETTINGS):
            faults.append(
                f"chi-square {found.statistic:.1f} with {found.freedom} degrees of freedom has the chance "
                f"{found.chance:.2g} with {params}"
            )
    statement = f"frequencies fit the theory (chi-square, significance {SIGNIFICANCE:g}, {len(SETTINGS)} settings)"
    return Finding("frequencies", statement, draws * len(SETTINGS), tuple(faults))
