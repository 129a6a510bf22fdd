"""What the tests of llama.cpp share."""

from __future__ import annotations

import numpy as np

from evalspan.backends.llama_cpp import LlamaSteps
from evalspan.orchestrator import Driver
from evalspan.orchestrator.backend import Logits

__all__ = ["engine_of", "softmax"]


def engine_of(driver: Driver) -> LlamaSteps:
    assert isinstance(driver.backend.engine, LlamaSteps)
    return driver.backend.engine


def softmax(logits: Logits | None) -> Logits:
    assert logits is not None
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()
