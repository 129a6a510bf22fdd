"""From logits to a token: mask, temperature, top-k, top-p, in this order, then one draw.

The order is that of Hugging Face transformers and vLLM: both filters see the distribution that temperature has
shaped. Another order would give other tokens, so `SamplingParams.order` records it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evalspan.orchestrator.errors import DecodeError, RequestError

__all__ = ["Sampler", "SamplingParams"]


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How tokens are drawn.

    `temperature` 0 is greedy: the largest logit, the lowest id where several are equal. `top_k` 0 and `top_p` 1
    turn these filters off. The same seed, logits and parameters give the same tokens.
    """

    order: ClassVar[tuple[str, ...]] = ("mask", "temperature", "top_k", "top_p")

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.temperature <= 100:
            raise RequestError(f"temperature must be from 0 to 100, got {self.temperature}")
        if self.top_k < 0:
            raise RequestError(f"top_k must be 0 (off) or more, got {self.top_k}")
        if not 0 < self.top_p <= 1:
            raise RequestError(f"top_p must be above 0 and at most 1 (off), got {self.top_p}")
        if self.seed < 0:
            raise RequestError(f"seed must be 0 or more, got {self.seed}")


class Sampler:
    """Draws the tokens of one sequence."""

    def __init__(self, params: SamplingParams) -> None:
        self.params = params
        self._random = np.random.Generator(np.random.PCG64(params.seed))

    def sample(self, logits: NDArray[np.float32], allowed: NDArray[np.bool_] | None = None) -> int:
        """One token, among those `allowed` (shape `(vocab_size,)`; None allows all).

        Raises:
            DecodeError: no token is allowed, or the logits of those that are hold no number.
        """
        if allowed is not None:
            logits = np.where(allowed, logits, np.float32(-np.inf))
        best = int(np.argmax(logits))
        peak = logits[best]
        if not np.isfinite(peak):
            raise DecodeError("no token is allowed" if peak == -np.inf else "the logits are not finite numbers")
        if self.params.temperature == 0:
            return best
        ids, probabilities = self.distribution(logits)
        return int(ids[self._random.choice(len(ids), p=probabilities)])

    def distribution(self, logits: NDArray[np.float32]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """The candidate ids and their probabilities, which add up to one; masked tokens are not among them."""
        ids = np.flatnonzero(logits > -np.inf)
        scaled = logits[ids].astype(np.float64) / self.params.temperature
        if 0 < self.params.top_k < len(ids):
            keep = np.sort(np.argsort(-scaled, kind="stable")[: self.params.top_k])
            ids, scaled = ids[keep], scaled[keep]
        weights = np.exp(scaled - scaled.max())
        probabilities = weights / weights.sum()
        if self.params.top_p < 1:
            order = np.argsort(-probabilities, kind="stable")
            # The smallest set whose mass reaches top_p: a token stays if the mass before it is below.
            before = np.cumsum(probabilities[order]) - probabilities[order]
            keep = np.sort(order[before < self.params.top_p])
            ids, probabilities = ids[keep], probabilities[keep]
            probabilities = probabilities / probabilities.sum()
        return ids, probabilities
