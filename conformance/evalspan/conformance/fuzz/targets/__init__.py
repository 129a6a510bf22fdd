"""What can be fuzzed: evaluators in the sandbox, Python callables and commands."""

from evalspan.conformance.fuzz.targets.open import open_target, resolve
from evalspan.conformance.fuzz.targets.target import Described, Target, TargetSpec

__all__ = ["Described", "Target", "TargetSpec", "open_target", "resolve"]
