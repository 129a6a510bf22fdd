"""The masked distribution is one: it adds up to one, over allowed tokens only, in the right proportions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from evalspan.conformance.probability.finding import Finding
from evalspan.conformance.probability.settings import FORBIDDEN, SCORES, SETTINGS
from evalspan.conformance.probability.theory import expected
from evalspan.orchestrator import SamplingParams
from evalspan.orchestrator.sampling import Sampler

__all__ = ["TOLERANCE", "MakeSampler", "check_normalization"]

TOLERANCE = 1e-12
"""How far a sum of probabilities may be from one, and a probability from theory: double precision has 1e-16 for one
addition, and the widest case adds 50,000."""

MakeSampler = Callable[[SamplingParams], Sampler]
"""Makes the sampler that is tested."""

_WIDE = 50_000  # the size of a real vocabulary


def check_normalization(sampler: MakeSampler = Sampler) -> Finding:
    """Compare a sampler's distributions under masks with theory, over twelve tokens and over a whole vocabulary."""
    faults: list[str] = []
    compared = 0
    wide = np.random.Generator(np.random.PCG64(7)).normal(0, 4, _WIDE).astype(np.float32)
    extreme = np.array([80.0, -80.0, 0.0, 88.0, -np.inf, 1e-30], dtype=np.float32)
    cases = (
        ("twelve tokens", np.array(SCORES, dtype=np.float32), FORBIDDEN),
        ("50,000 tokens", wide, frozenset(range(0, _WIDE, 3))),
        ("one token left", np.array(SCORES, dtype=np.float32), frozenset(range(11))),
        ("far apart", extreme, frozenset({3})),
    )
    for name, logits, forbidden in cases:
        table = {token: float(score) for token, score in enumerate(logits)}
        allowed = set(table) - forbidden
        masked = logits.copy()
        masked[sorted(forbidden)] = -np.inf
        for params in SETTINGS:
            ids, shares = sampler(replace(params, seed=0)).distribution(masked)
            got = dict(zip(map(int, ids), map(float, shares), strict=True))
            wanted = expected(table, allowed, params)
            compared += 1
            total = math.fsum(got.values())
            if abs(total - 1) > TOLERANCE:
                faults.append(f"{name}: adds up to {total!r} with {params}")
            if leaked := sorted(set(got) & forbidden):
                faults.append(f"{name}: has the forbidden token {leaked[0]} with {params}")
            wrong = [token for token in {*got, *wanted} if abs(got.get(token, 0) - wanted.get(token, 0)) > TOLERANCE]
            if wrong:
                token = min(wrong)
                faults.append(
                    f"{name}: token {token} has {got.get(token, 0.0):.9f}, theory {wanted.get(token, 0.0):.9f} "
                    f"with {params}"
                )
    statement = f"masked distributions add up to one and have the right shares, within {TOLERANCE:g}"
    return Finding("normalization", statement, compared, tuple(faults[:5]))
