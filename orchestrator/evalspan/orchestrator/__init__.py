"""The decode driver: generate text in which every span has its exact result.

Names are imported when they are first used: the command line lives in this package and must answer at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalspan.orchestrator.asynchronous import AsyncDriver
    from evalspan.orchestrator.backend import Backend, BackendOptions, Message
    from evalspan.orchestrator.beam import Hypothesis
    from evalspan.orchestrator.counters import Counters
    from evalspan.orchestrator.driver import Driver
    from evalspan.orchestrator.errors import (
        BackendError,
        DecodeError,
        EmptyMask,
        GrammarError,
        LogitsError,
        ModelError,
        PluginError,
        PromptError,
        RequestError,
        TokenizerError,
    )
    from evalspan.orchestrator.events import (
        AssertionFailed,
        DecodeFailed,
        Evaluated,
        Event,
        Failed,
        Finished,
        FinishReason,
        Injected,
        Recorded,
        Refused,
        RequestFailed,
        SpanOpened,
        Step,
        Text,
        UnclosedSpan,
        Unverified,
    )
    from evalspan.orchestrator.formats.gbnf import Gbnf
    from evalspan.orchestrator.formats.lark_text import LarkText
    from evalspan.orchestrator.formats.regex import Regex
    from evalspan.orchestrator.formats.structural_tag import StructuralTag
    from evalspan.orchestrator.grammar import Grammar, Mode
    from evalspan.orchestrator.json.schema import JsonSchema
    from evalspan.orchestrator.receipts.canonical import ReceiptError
    from evalspan.orchestrator.receipts.model import Receipt
    from evalspan.orchestrator.receipts.record import receipt_of
    from evalspan.orchestrator.requests import Cancellation, Generation, Options, Prompt, Request
    from evalspan.orchestrator.sampling import SamplingParams
    from evalspan.orchestrator.sentences import FreeText, Pattern, Restate, Sentence, SpanPart
    from evalspan.orchestrator.windows import Window, Windows

__all__ = [
    "AssertionFailed",
    "AsyncDriver",
    "Backend",
    "BackendError",
    "BackendOptions",
    "Cancellation",
    "Counters",
    "DecodeError",
    "DecodeFailed",
    "Driver",
    "EmptyMask",
    "Evaluated",
    "Event",
    "Failed",
    "FinishReason",
    "Finished",
    "FreeText",
    "Gbnf",
    "Generation",
    "Grammar",
    "GrammarError",
    "Hypothesis",
    "Injected",
    "JsonSchema",
    "LarkText",
    "LogitsError",
    "Message",
    "Mode",
    "ModelError",
    "Options",
    "Pattern",
    "PluginError",
    "Prompt",
    "PromptError",
    "Receipt",
    "ReceiptError",
    "Recorded",
    "Refused",
    "Regex",
    "Request",
    "RequestError",
    "RequestFailed",
    "Restate",
    "SamplingParams",
    "Sentence",
    "SpanOpened",
    "SpanPart",
    "Step",
    "StructuralTag",
    "Text",
    "TokenizerError",
    "UnclosedSpan",
    "Unverified",
    "Window",
    "Windows",
    "receipt_of",
]

_MODULES = {
    "asynchronous": "AsyncDriver",
    "backend": "Backend BackendOptions Message",
    "beam": "Hypothesis",
    "counters": "Counters",
    "driver": "Driver",
    "errors": "BackendError DecodeError EmptyMask GrammarError LogitsError ModelError PluginError PromptError "
    "RequestError TokenizerError",
    "events": "AssertionFailed DecodeFailed Evaluated Event Failed Finished FinishReason Injected Recorded Refused "
    "RequestFailed SpanOpened Step Text UnclosedSpan Unverified",
    "formats.gbnf": "Gbnf",
    "formats.lark_text": "LarkText",
    "formats.regex": "Regex",
    "formats.structural_tag": "StructuralTag",
    "grammar": "Grammar Mode",
    "json.schema": "JsonSchema",
    "receipts.canonical": "ReceiptError",
    "receipts.model": "Receipt",
    "receipts.record": "receipt_of",
    "requests": "Cancellation Generation Options Prompt Request",
    "sampling": "SamplingParams",
    "sentences": "FreeText Pattern Restate Sentence SpanPart",
    "windows": "Window Windows",
}
"""The names of each module; a test compares them with the imports above."""


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names.split():
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
