"""What a sampler should draw from, by plain arithmetic over a table: no array, nothing of the sampler's."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from evalspan.orchestrator import SamplingParams

__all__ = ["expected", "softmax"]


def softmax(scores: Mapping[int, float]) -> dict[int, float]:
    """The probabilities of logits. A score of minus infinity has none."""
    peak = max(scores.values())
    weights = {token: math.exp(score - peak) for token, score in scores.items()}
    total = math.fsum(weights.values())
    return {token: weight / total for token, weight in weights.items()}


def expected(logits: Mapping[int, float], allowed: Collection[int], params: SamplingParams) -> dict[int, float]:
    """The distribution over the allowed tokens: first the mask, then the filters in their order, each on what is left.

    `temperature` divides; `top_k` keeps the k largest, the lower ids where several are equal; `top_p` keeps the
    smallest set of the largest whose mass reaches it (Holtzman et al. 2020); `min_p` keeps those that have at least
    that share of the largest probability (Nguyen et al. 2024).
    """
    scores = {token: logits[token] for token in sorted(allowed) if logits[token] > -math.inf}
    if params.temperature == 0:
        best = min(scores, key=lambda token: (-scores[token], token))
        return {best: 1.0}
    for name in params.order:
        ranked = sorted(scores, key=lambda token: (-scores[token], token))
        if name == "temperature":
            scores = {token: score / params.temperature for token, score in scores.items()}
        elif name == "top_k" and params.top_k:
            scores = {token: scores[token] for token in ranked[: params.top_k]}
        elif name == "top_p" and params.top_p < 1:
            shares, kept, mass = softmax(scores), {}, 0.0
            for token in ranked:
                if mass >= params.top_p:
                    break
                kept[token] = scores[token]
                mass += shares[token]
            scores = kept
        elif name == "min_p" and params.min_p:
            shares = softmax(scores)
            floor = params.min_p * max(shares.values())
            scores = {token: scores[token] for token in scores if shares[token] >= floor}
    return softmax(scores)
