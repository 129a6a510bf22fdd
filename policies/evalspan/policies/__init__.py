"""What is allowed: limits, span rules, the result policy and the TOML registry."""

from evalspan.policies.errors import ErrorCode, EvalspanError
from evalspan.policies.limits import Limits, Tightening
from evalspan.policies.models import BUILTINS, Channel, EvaluatorEntry, Example, Fence, ResultFence, SpanRule
from evalspan.policies.patterns import LinearPattern, PatternError
from evalspan.policies.registry import Registry, RegistryError
from evalspan.policies.result import ResultPolicy, quote_piece
from evalspan.policies.tags import tag_problems

__all__ = [
    "BUILTINS",
    "Channel",
    "ErrorCode",
    "EvalspanError",
    "EvaluatorEntry",
    "Example",
    "Fence",
    "Limits",
    "LinearPattern",
    "PatternError",
    "Registry",
    "RegistryError",
    "ResultFence",
    "ResultPolicy",
    "SpanRule",
    "Tightening",
    "quote_piece",
    "tag_problems",
]
