"""What goes wrong around a fuzzing run: a target, a corpus folder or a finding that cannot be used."""

from __future__ import annotations

from evalspan.policies import EvalspanError

__all__ = ["FuzzError"]


class FuzzError(EvalspanError):
    """A target that cannot be opened, a folder that cannot be used, a file that is no finding."""
