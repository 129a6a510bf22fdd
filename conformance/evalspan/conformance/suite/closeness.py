"""How far two answers of one model are from each other: engines round differently in batches of different sizes."""

from __future__ import annotations

import numpy as np

from evalspan.orchestrator.backend import Logits

__all__ = ["TOLERANCE", "distance"]

TOLERANCE = 0.05
"""The most that two distributions of the next token may differ, in total variation.

Quantized models on CPUs reach some hundredths, since llama.cpp multiplies single rows and blocks in other ways;
another token in the text is tenths as a rule.
"""


def distance(first: Logits, second: Logits) -> float:
    """The total variation between the distributions that logits mean: 0 is the same, 1 has nothing in common."""
    return float(np.abs(_softmax(first) - _softmax(second)).sum() / 2)


def _softmax(logits: Logits) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    weights = np.exp(logits.astype(np.float64) - float(logits.max()))
    shares: np.ndarray[tuple[int], np.dtype[np.float64]] = weights / weights.sum()
    return shares
