"""How far two answers of one model are from each other: engines round differently in batches of different sizes."""

from __future__ import annotations

import numpy as np

from evalspan.orchestrator.backend import Logits

__all__ = ["TOLERANCE", "distance"]

TOLERANCE = 0.1
"""The most that two distributions of the next token may differ, in total variation.

SmolLM2-135M with 4 bits differs by 0.04 between reading a text at once and token by token, since llama.cpp multiplies
blocks and single rows in other ways.
"""


def distance(first: Logits, second: Logits) -> float:
    """The total variation between the distributions that logits mean: 0 is the same, 1 has nothing in common."""
    return float(np.abs(_softmax(first) - _softmax(second)).sum() / 2)


def _softmax(logits: Logits) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    weights = np.exp(logits.astype(np.float64) - float(logits.max()))
    shares: np.ndarray[tuple[int], np.dtype[np.float64]] = weights / weights.sum()
    return shares
