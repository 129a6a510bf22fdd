"""The settings and the scores that the checks of a sampler run on."""

from __future__ import annotations

from evalspan.orchestrator import SamplingParams

__all__ = ["FORBIDDEN", "SCORES", "SETTINGS"]

SCORES: tuple[float, ...] = (3.0, 2.5, 2.2, 2.0, 1.7, 1.5, 1.0, 0.6, 0.3, 0.0, -0.5, -1.0)
"""Logits of twelve tokens: each has at least a part in a hundred of what is drawn at a temperature of 1."""

FORBIDDEN: frozenset[int] = frozenset({0, 2, 5, 9})
"""Tokens that the mask forbids, the likeliest among them: a filter that looks at them keeps others than it should."""

SETTINGS: tuple[SamplingParams, ...] = (
    SamplingParams(temperature=1.0, seed=1),
    SamplingParams(temperature=0.7, top_k=4, seed=2),
    SamplingParams(temperature=1.0, top_p=0.75, seed=3),
    SamplingParams(temperature=1.3, min_p=0.2, seed=4),
    SamplingParams(temperature=1.6, top_p=0.9, top_k=6, seed=5, order=("top_k", "top_p", "min_p", "temperature")),
)
"""Every filter by itself, and two of them in another order."""
