"""A logits processor that changes nothing and writes down how long the prompts are that a worker is given."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from vllm.v1.sample.logits_processor.interface import LogitsProcessor

__all__ = ["VARIABLE", "PromptLengths"]

VARIABLE = "EVALSPAN_TEST_PROMPTS"
"""The environment variable with the file."""


class PromptLengths(LogitsProcessor):
    """A line for each request, or turn of a session, that enters the batch: the tokens of its prompt."""

    def __init__(self, *given: Any) -> None:
        self._path = Path(os.environ[VARIABLE])

    def is_argmax_invariant(self) -> bool:
        return True

    def update_state(self, batch_update: Any) -> None:
        for _, _, prompt, _ in batch_update.added if batch_update is not None else ():
            with self._path.open("a") as file:
                file.write(f"{len(prompt)}\n")

    def apply(self, logits: Any) -> Any:
        return logits
