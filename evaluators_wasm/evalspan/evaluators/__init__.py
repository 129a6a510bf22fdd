"""How evaluators run: the ABI, the sandbox, the in-process references and the subprocess runtime."""

from evalspan.evaluators.errors import EvaluatorError, EvaluatorUnavailable, ModuleRefused, OptionError
from evalspan.evaluators.evaluators import EvaluatorInfo, Evaluators
from evalspan.evaluators.manifest import Manifest, Option
from evalspan.evaluators.outcome import Failure, Outcome, Value
from evalspan.evaluators.runtime import RuntimeName

__all__ = [
    "EvaluatorError",
    "EvaluatorInfo",
    "EvaluatorUnavailable",
    "Evaluators",
    "Failure",
    "Manifest",
    "ModuleRefused",
    "Option",
    "OptionError",
    "Outcome",
    "RuntimeName",
    "Value",
]
