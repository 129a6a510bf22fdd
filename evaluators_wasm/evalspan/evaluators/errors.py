"""What goes wrong before an evaluation: a module, a library or an option that cannot be used."""

from __future__ import annotations

from evalspan.policies import EvalspanError

__all__ = ["EvaluatorError", "EvaluatorUnavailable", "ModuleRefused", "OptionError"]


class EvaluatorError(EvalspanError):
    """An evaluator that cannot be used; `evaluator` is its name in the registry."""

    def __init__(self, evaluator: str, reason: str) -> None:
        self.evaluator = evaluator
        self.reason = reason
        super().__init__(f"evaluator {evaluator!r}: {reason}")


class ModuleRefused(EvaluatorError):
    """A module that fails load-time validation. `check` names the rule it broke, `detail` says how.

    The checks, in their order: `file` (cannot be read), `size`, `digest`, `format` (no module, truncated,
    malformed sections), `start` (has a start function), `tables` (too many or too long), `manifest`, `memory`
    (too large from the start), `code` (not valid, or uses a proposal that is off), `imports`, `exports`,
    `instantiate` (cannot start under the limits in force).
    """

    def __init__(self, evaluator: str, check: str, reason: str) -> None:
        self.check = check
        self.detail = reason
        super().__init__(evaluator, f"module refused ({check}): {reason}")


class EvaluatorUnavailable(EvaluatorError):
    """A runtime or a library that is not installed, or an evaluator that a runtime does not have."""


class OptionError(EvaluatorError):
    """An option that the evaluator does not take, or a value outside its range; `option` is its name."""

    def __init__(self, evaluator: str, option: str, reason: str) -> None:
        self.option = option
        super().__init__(evaluator, f"option {option!r}: {reason}")
