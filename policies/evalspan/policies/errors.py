"""The root of the error tree, and the closed set of evaluator error codes.

Every error that evalspan raises on purpose is an `EvalspanError`; each lives beside its raiser::

    EvalspanError
    ├── RegistryError                 evalspan.policies.registry
    ├── EvaluatorError                evalspan.evaluators.errors
    │   ├── ModuleRefused             a module that fails load-time validation
    │   ├── EvaluatorUnavailable      a runtime or a library that is not installed
    │   └── OptionError               an option an evaluator does not take
    ├── ScaffoldError                 evalspan.evaluators.scaffold
    ├── VectorError                   evalspan.conformance.vectors
    ├── RequestError                  evalspan.orchestrator.errors
    ├── GrammarError                  evalspan.orchestrator.errors
    ├── DecodeError                   evalspan.orchestrator.errors
    └── BackendError                  evalspan.orchestrator.errors
        ├── ModelError                a model that is missing or cannot be read
        ├── PromptError               a prompt that is empty or longer than the context
        ├── TokenizerError            a text that does not survive the tokenizer
        └── PluginError               a plugin that is unknown, duplicated or misspelt
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["ErrorCode", "EvalspanError"]


class EvalspanError(Exception):
    """Base of every error that evalspan raises on purpose; its text is one line fit for a user."""


class ErrorCode(StrEnum):
    """Why an evaluation gave no value. The set is closed: an evaluator may answer nothing else."""

    SYNTAX = "syntax"
    DOMAIN = "domain"
    DIVISION_BY_ZERO = "division_by_zero"
    RANGE = "range"
    TOO_LONG = "too_long"
    TOO_DEEP = "too_deep"
    TOO_LARGE = "too_large"
    UNSUPPORTED = "unsupported"
    FUEL_EXHAUSTED = "fuel_exhausted"
    MEMORY_EXHAUSTED = "memory_exhausted"
    REFUSED = "refused"
    OVER_BUDGET = "over_budget"
    INTERNAL = "internal"

    @property
    def from_host_only(self) -> bool:
        """Whether only the host may answer this code; a guest that does is a broken guest."""
        return self in _HOST_ONLY


_HOST_ONLY = frozenset(
    {
        ErrorCode.FUEL_EXHAUSTED,
        ErrorCode.MEMORY_EXHAUSTED,
        ErrorCode.REFUSED,
        ErrorCode.OVER_BUDGET,
        ErrorCode.INTERNAL,
    }
)
