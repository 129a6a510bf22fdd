"""From logits to a token: repetition penalty, bias, mask, then the filters in their order, then one draw.

The default order of the filters is that of Hugging Face transformers and vLLM: top-k, top-p and min-p see the
distribution that temperature has shaped. Another order gives other tokens, so it is a parameter and is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy, deepcopy
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evalspan.orchestrator.errors import EmptyMask, LogitsError, RequestError
from evalspan.orchestrator.masks import Mask, ceiling

__all__ = ["FILTERS", "Drawn", "Filter", "Sampler", "SamplingParams"]

Filter = Literal["temperature", "top_k", "top_p", "min_p"]
"""A step between the mask and the draw."""

FILTERS: tuple[Filter, ...] = ("temperature", "top_k", "top_p", "min_p")
"""The filters in their default order."""

Logits: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How tokens are drawn.

    `temperature` 0 is greedy: the largest logit, the lowest id where several are equal. `top_k` 0, `top_p` 1, `min_p` 0
    and `repetition_penalty` 1 turn these off. The penalty divides positive logits of tokens that the prompt or the
    output has, and multiplies negative ones (Keskar et al. 2019, CTRL); `logit_bias` is added to the logits of
    tokens. The same seed, logits and parameters give the same tokens.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    logit_bias: tuple[tuple[int, float], ...] = ()
    seed: int = 0
    order: tuple[Filter, ...] = FILTERS

    def __post_init__(self) -> None:
        if not 0 <= self.temperature <= 100:
            raise RequestError(f"temperature must be from 0 to 100, got {self.temperature}")
        if self.top_k < 0:
            raise RequestError(f"top_k must be 0 (off) or more, got {self.top_k}")
        if not 0 < self.top_p <= 1:
            raise RequestError(f"top_p must be above 0 and at most 1 (off), got {self.top_p}")
        if not 0 <= self.min_p <= 1:
            raise RequestError(f"min_p must be from 0 (off) to 1, got {self.min_p}")
        if not 0 < self.repetition_penalty <= 100:
            raise RequestError(f"repetition_penalty must be above 0 and at most 100, got {self.repetition_penalty}")
        if not all(token >= 0 and np.isfinite(bias) for token, bias in self.logit_bias):
            raise RequestError("logit_bias must be pairs of a token id and a finite number")
        if self.seed < 0:
            raise RequestError(f"seed must be 0 or more, got {self.seed}")
        if sorted(self.order) != sorted(FILTERS):
            raise RequestError(f"order must name each of {', '.join(FILTERS)} once, got {', '.join(self.order)}")

    @property
    def greedy(self) -> bool:
        """Whether nothing is drawn and no filter is set; penalty and bias may be."""
        return self.temperature == 0 and self.top_k == 0 and self.top_p == 1 and self.min_p == 0


@dataclass(frozen=True, slots=True)
class Drawn:
    """How a token came to be drawn.

    `logit` is the engine's own; `probability` is the model's, over all tokens; `masked_mass` is what the model gave to
    tokens that the mask forbids; `renormalized` is the token's share of the rest; `drawn` is its probability in the
    distribution that was drawn from, after every filter (1 where greedy).
    """

    token: int
    logit: float
    probability: float
    masked_mass: float
    renormalized: float
    drawn: float


class Sampler:
    """Draws the tokens of one sequence."""

    def __init__(self, params: SamplingParams) -> None:
        self.params = params
        self._random = np.random.Generator(np.random.PCG64(params.seed))
        self._seen: set[int] = set()
        self._bias = dict(params.logit_bias)

    def fork(self) -> Sampler:
        """A sampler that has seen the same tokens; both draw the same next."""
        twin = copy(self)
        twin._random = deepcopy(self._random)
        twin._seen = set(self._seen)
        return twin

    def observe(self, tokens: Iterable[int]) -> None:
        """Take note of tokens of the prompt or the output, for the repetition penalty."""
        if self.params.repetition_penalty != 1:
            self._seen.update(tokens)

    def sample(self, logits: Logits, allowed: Mask | None = None) -> int:
        """One token, among those `allowed` (shape `(vocab_size,)`; None allows all).

        Raises:
            EmptyMask: no token is allowed, or the model rules out all that are.
            LogitsError: the logits are no finite numbers.
        """
        return self._draw(self.adjusted(logits), allowed)[0]

    def explain(self, logits: Logits, allowed: Mask | None = None) -> Drawn:
        """As `sample`, with the account of it."""
        token, drawn = self._draw(self.adjusted(logits), allowed)
        return self.account(logits, allowed, token, drawn)

    def account(self, logits: Logits, allowed: Mask | None, token: int, drawn: float) -> Drawn:
        """The account of a token that had the probability `drawn` in the distribution that was drawn from."""
        weights = np.exp(logits.astype(np.float64) - float(logits.max()))
        probabilities = weights / weights.sum()
        mass = 1.0 if allowed is None else float(probabilities[allowed].sum())
        probability = float(probabilities[token])
        # A mask may leave only tokens whose probability is zero in double precision.
        renormalized = probability / mass if mass > 0 else drawn
        return Drawn(token, float(logits[token]), probability, max(0.0, 1.0 - mass), renormalized, drawn)

    def distribution(self, logits: Logits) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """The candidate ids and their probabilities, which add up to one; tokens of logit -inf are not among them."""
        ids = np.flatnonzero(logits > -np.inf)
        scores = logits[ids].astype(np.float64)
        for name in self.params.order:
            ids, scores = _APPLY[name](self.params, ids, scores)
        return ids, _softmax(scores)

    def _draw(self, logits: Logits, allowed: Mask | None) -> tuple[int, float]:
        if allowed is not None:
            logits = np.fmin(logits, ceiling(allowed, len(logits)))
        best = int(np.argmax(logits))
        peak = logits[best]
        if not np.isfinite(peak):
            if peak == -np.inf and allowed is not None:
                raise EmptyMask("no token is allowed")
            raise LogitsError("the logits are not finite numbers")
        if self.params.temperature == 0:
            return best, 1.0
        ids, probabilities = self.distribution(logits)
        chosen = int(self._random.choice(len(ids), p=probabilities))
        return int(ids[chosen]), float(probabilities[chosen])

    def adjusted(self, logits: Logits) -> Logits:
        """The logits with penalty and bias; the engine's own array where there are none."""
        if not self._seen and not self._bias:
            return logits
        logits = logits.copy()
        if self._seen:
            seen = np.fromiter(self._seen, dtype=np.intp)
            penalty = np.float32(self.params.repetition_penalty)
            logits[seen] = np.where(logits[seen] > 0, logits[seen] / penalty, logits[seen] * penalty)
        for token, bias in self._bias.items():
            if token >= len(logits):
                raise RequestError(f"logit_bias names token {token}, the vocabulary has {len(logits)}")
            logits[token] += np.float32(bias)
        return logits


Candidates: TypeAlias = tuple[NDArray[np.intp], NDArray[np.float64]]


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.exp(scores - scores.max())
    return np.asarray(weights / weights.sum())


def _temperature(params: SamplingParams, ids: NDArray[np.intp], scores: NDArray[np.float64]) -> Candidates:
    return ids, scores / params.temperature


def _top_k(params: SamplingParams, ids: NDArray[np.intp], scores: NDArray[np.float64]) -> Candidates:
    if not 0 < params.top_k < len(ids):
        return ids, scores
    keep = np.sort(np.argsort(-scores, kind="stable")[: params.top_k])
    return ids[keep], scores[keep]


def _top_p(params: SamplingParams, ids: NDArray[np.intp], scores: NDArray[np.float64]) -> Candidates:
    if params.top_p == 1:
        return ids, scores
    probabilities = _softmax(scores)
    order = np.argsort(-probabilities, kind="stable")
    # The smallest set whose mass reaches top_p: a token stays if the mass before it is below.
    before = np.cumsum(probabilities[order]) - probabilities[order]
    keep = np.sort(order[before < params.top_p])
    return ids[keep], scores[keep]


def _min_p(params: SamplingParams, ids: NDArray[np.intp], scores: NDArray[np.float64]) -> Candidates:
    if params.min_p == 0:
        return ids, scores
    keep = scores >= scores.max() + np.log(params.min_p)
    return ids[keep], scores[keep]


_APPLY: dict[Filter, Callable[[SamplingParams, NDArray[np.intp], NDArray[np.float64]], Candidates]] = {
    "temperature": _temperature,
    "top_k": _top_k,
    "top_p": _top_p,
    "min_p": _min_p,
}
