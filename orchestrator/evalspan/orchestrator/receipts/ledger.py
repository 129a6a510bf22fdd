"""The ledger of a receipt: whether it holds together, and whether the model gives the same when it runs again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from evalspan.orchestrator.backend import Feed, Logits, StepEngine
from evalspan.orchestrator.masks import Mask
from evalspan.orchestrator.receipts.difference import Problem
from evalspan.orchestrator.receipts.facts import uniform_numbers
from evalspan.orchestrator.receipts.model import LedgerRow, Receipt
from evalspan.orchestrator.sampling import Sampler, SamplingParams

__all__ = ["ROUNDING", "TOLERANCE", "ModelRun", "consistency"]

TOLERANCE = 0.001
"""Logits by which the model may differ when it runs again. The same engine on the same machine, fed in the same steps,
differs by nothing; another batch, thread count or processor rounds differently: then the caller allows more."""

ROUNDING = 1e-9
"""By which probabilities may differ that are computed from the same logits: sums over 250,000 tokens in double
precision are good to some 1e-11."""


def consistency(receipt: Receipt, params: SamplingParams) -> Iterator[Problem]:
    """What in the claims about the model contradicts itself or the tokens; no model is needed."""
    claims = receipt.model
    drawn = receipt.drawn
    if claims.engine == "tokens":
        if claims.ledger or claims.uniform:
            yield Problem("model.ledger" if claims.ledger else "model.uniform", "an engine without logits has none")
        return
    if len(claims.ledger) != len(drawn):
        yield Problem("model.ledger", f"has {len(claims.ledger)} rows for the {len(drawn)} tokens that were drawn")
        return
    if list(claims.uniform) != uniform_numbers(params, len(drawn)):
        yield Problem("model.uniform", f"are not the {len(drawn)} random numbers of seed {params.seed}")
    masked = receipt.request.mode != "no-grammar"
    for index, (row, token) in enumerate(zip(claims.ledger, drawn, strict=True)):
        path = f"model.ledger[{index}]"
        if row.token != token:
            yield Problem(f"{path}.token", f"token {row.token} is recorded where {token} was drawn")
        yield from (Problem(f"{path}.{name}", message) for name, message in _row(row, params, masked))


def _row(row: LedgerRow, params: SamplingParams, masked: bool) -> Iterator[tuple[str, str]]:
    for name in ("probability", "masked_mass", "renormalized", "drawn"):
        if not 0 <= getattr(row, name) <= 1 + ROUNDING:
            yield name, f"{getattr(row, name)} is no probability"
            return
    allowed = 1 - row.masked_mass
    if not masked and row.masked_mass != 0:
        yield "masked_mass", f"is {row.masked_mass} where nothing is masked"
    elif row.probability > allowed + ROUNDING:
        yield "masked_mass", f"{row.masked_mass} leaves {allowed} for a token of probability {row.probability}"
    elif abs(row.renormalized * allowed - row.probability) > ROUNDING:
        yield "renormalized", f"{row.renormalized} is not {row.probability} of the {allowed} that is allowed"
    if params.temperature == 0 and row.drawn != 1:
        yield "drawn", f"is {row.drawn} where nothing is drawn at random"
    elif row.drawn == 0:
        yield "drawn", "is 0, and the token was drawn"


class ModelRun:
    """The model running again along the tokens of a receipt. Close it, or use it as a context manager.

    The steps are those of a generation that runs alone: the prompt at once, then each token with what it forces.
    """

    def __init__(self, engine: StepEngine, receipt: Receipt, params: SamplingParams, tolerance: float) -> None:
        """`tolerance` is in logits."""
        self.largest = 0.0
        """The largest difference of a logit so far."""
        self._engine = engine
        self._claims = receipt.model
        self._sampler = Sampler(params)
        self._uniform = uniform_numbers(params, len(receipt.drawn))
        self._tolerance = tolerance
        self._sequence = engine.open()
        self._logits: Logits | None = None
        self._step = 0

    def __enter__(self) -> ModelRun:
        return self

    def __exit__(self, *exception: object) -> None:
        self._engine.close(self._sequence)

    def feed(self, tokens: Sequence[int]) -> None:
        """Let the model read tokens."""
        self._sampler.observe(tokens)
        (self._logits,) = self._engine.decode([Feed(self._sequence, tokens)])

    def draw(self, token: int, allowed: Mask | None) -> Iterator[Problem]:
        """What is wrong with the claim that the model drew this token here, under this mask."""
        if self._logits is None:
            raise ValueError("the model has read nothing yet")
        step, self._step = self._step, self._step + 1
        logits = self._logits
        adjusted = self._sampler.adjusted(logits)
        masked = adjusted if allowed is None else np.where(allowed, adjusted, np.float32(-np.inf))
        with np.errstate(all="ignore"):  # parameters that no one would use overflow, and are found out below
            probability, wrong = self._drawn(masked, token, step)
        if wrong:
            yield Problem(f"model.ledger[{step}].token", wrong)
        if step >= len(self._claims.ledger):
            return
        row = self._claims.ledger[step]
        now = self._sampler.account(logits, allowed, token, probability)
        apart = abs(row.logit - now.logit)
        self.largest = max(self.largest, apart)
        path = f"model.ledger[{step}]"
        if apart > self._tolerance:
            yield Problem(f"{path}.logit", self._apart(row.logit, now.logit, "the model gives"))
        # Where every logit is off by up to T, a share of them is off by a factor of up to exp(2 T).
        factor = math.expm1(2 * self._tolerance)
        for name in ("probability", "masked_mass", "renormalized", "drawn"):
            recorded, rebuilt = getattr(row, name), getattr(now, name)
            share = 1.0 if name == "masked_mass" else max(recorded, rebuilt)
            if abs(recorded - rebuilt) > factor * share * self._sharpness(name) + ROUNDING:
                yield Problem(f"{path}.{name}", self._apart(recorded, rebuilt, "the model gives"))

    def _sharpness(self, name: str) -> float:
        """By how much the distribution that is drawn from is sharper than the model's."""
        temperature = self._sampler.params.temperature
        return 1 / min(1.0, temperature) if name == "drawn" and temperature > 0 else 1.0

    def _drawn(self, masked: Logits, token: int, step: int) -> tuple[float, str]:
        """The probability of the token where it was drawn, and why it cannot have been drawn."""
        if self._sampler.params.temperature == 0:
            best = int(np.argmax(masked))
            behind = float(masked[best]) - float(masked[token])
            if token != best and not behind <= 2 * self._tolerance:
                return 1.0, f"the model would rather have token {best}, by {behind:.4g} logits"
            return 1.0, ""
        ids, probabilities = self._sampler.distribution(masked)
        places = np.flatnonzero(ids == token)
        if not len(places):
            return 0.0, "the filters leave this token out"
        place = int(places[0])
        ends = np.cumsum(probabilities)
        start = float(ends[place - 1]) if place else 0.0
        slack = math.expm1(2 * self._tolerance) * self._sharpness("drawn") + ROUNDING
        if not start - slack <= self._uniform[step] * float(ends[-1]) <= float(ends[place]) + slack:
            return float(probabilities[place]), f"the random number {self._uniform[step]:.6f} draws another token"
        return float(probabilities[place]), ""

    def _apart(self, recorded: float, now: float, who: str) -> str:
        return (
            f"{recorded:.9g} is recorded and {who} {now:.9g} (a tolerance of {self._tolerance:g} logits: --tolerance)"
        )
