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
    ├── FuzzError                     evalspan.conformance.fuzz.errors
    ├── GrammarNotationError          evalspan.conformance.generators.notation
    ├── LadderError                   evalspan.conformance.ladder.errors
    ├── SuiteError                    evalspan.conformance.suite.baseline
    ├── MutantError                   evalspan.conformance.mutants.mutant
    ├── RequestError                  evalspan.orchestrator.errors
    ├── ReceiptError                  evalspan.orchestrator.receipts.canonical
    ├── GrammarError                  evalspan.orchestrator.errors
    ├── DecodeError                   evalspan.orchestrator.errors
    │   ├── EmptyMask                 no token is allowed
    │   └── LogitsError               the engine's logits are no finite numbers
    └── BackendError                  evalspan.orchestrator.errors
        ├── ModelError                a model that is missing or cannot be read
        ├── PromptError               a prompt that is empty or longer than the context
        ├── TokenizerError            a text that does not survive the tokenizer
        └── PluginError               a plugin that is unknown, duplicated or misspelt
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["ErrorCode", "EvalspanError", "one_line"]


_MOST_TEXT = 1000
"""Characters of an error's text: a screen of a terminal has some 2,000."""


class EvalspanError(Exception):
    """Base of every error that evalspan raises on purpose; its text is one line fit for a user.

    Messages quote what users and models wrote. Whatever that is, a terminal and a log get printable characters only,
    and not too many of them.
    """

    def __str__(self) -> str:
        return one_line(super().__str__())


def one_line(text: str) -> str:
    """The text for a terminal or a log: cut to 1,000 characters, and what cannot be printed as Python escapes it."""
    if len(text) > _MOST_TEXT:
        text = f"{text[: _MOST_TEXT - 1]}…"
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


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
