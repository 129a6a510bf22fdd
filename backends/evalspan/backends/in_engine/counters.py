"""What the processor costs, counted where it runs: host time by what it was spent on, and the steps it was part of."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["COUNTERS", "Counters"]

COUNTERS = "EVALSPAN_VLLM_COUNTERS"
"""The environment variable with the file that the counters are written to, at most once a second and while idle."""


@dataclass(slots=True)
class Counters:
    """Sums since the start, times in nanoseconds on the host. Only steps with rows that opted in are counted."""

    steps: int = 0
    rows: int = 0
    """Rows that opted in, over all steps."""
    pinned: int = 0
    """Tokens that were forced, ends included."""
    masked: int = 0
    """Rows that were masked."""
    failures: int = 0
    """Rows that could not go on."""
    follow_ns: int = 0
    """Reading new tokens: the span machine, evaluations, the grammar."""
    mask_ns: int = 0
    """Computing masks and applying them."""
    pin_ns: int = 0
    """Pinning tokens."""
    update_ns: int = 0
    """Keeping up with the batch: requests that come, go and move."""
    step_ns: int = 0
    """From the update before the forward pass to the end of the processor's own work: the steps themselves, without
    the sampling that comes after."""

    @property
    def share(self) -> float:
        """The part of the steps that was spent here."""
        spent = self.follow_ns + self.mask_ns + self.pin_ns + self.update_ns
        return spent / self.step_ns if self.step_ns else 0.0

    def write(self, path: Path) -> None:
        """Write the sums and the share as one JSON object; a reader sees all of it or an earlier one."""
        text = json.dumps({**asdict(self), "share": self.share})
        # Counting must not end a server: a file that cannot be written is left as it is.
        with contextlib.suppress(OSError):
            descriptor, beside = tempfile.mkstemp(dir=path.parent, prefix=".")
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text + "\n")
            Path(beside).replace(path)
