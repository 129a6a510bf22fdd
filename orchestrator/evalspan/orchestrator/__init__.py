"""The decode driver: generate text in which every span has its exact result.

Names are imported when they are first used: the command line lives in this package and must answer at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalspan.orchestrator.asynchronous import AsyncDriver
    from evalspan.orchestrator.backend import Backend, BackendOptions, Message
    from evalspan.orchestrator.counters import Counters
    from evalspan.orchestrator.driver import Driver, Generation, Prompt, Request
    from evalspan.orchestrator.errors import (
        BackendError,
        DecodeError,
        GrammarError,
        ModelError,
        PluginError,
        PromptError,
        RequestError,
        TokenizerError,
    )
    from evalspan.orchestrator.events import (
        AssertionFailed,
        Evaluated,
        Event,
        Failed,
        Finished,
        FinishReason,
        Injected,
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
    from evalspan.orchestrator.sampling import SamplingParams
    from evalspan.orchestrator.sentences import FreeText, Pattern, Restate, Sentence, SpanPart

__all__ = [
    "AssertionFailed",
    "AsyncDriver",
    "Backend",
    "BackendError",
    "BackendOptions",
    "Counters",
    "DecodeError",
    "Driver",
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
    "Injected",
    "JsonSchema",
    "LarkText",
    "Message",
    "Mode",
    "ModelError",
    "Pattern",
    "PluginError",
    "Prompt",
    "PromptError",
    "Regex",
    "Request",
    "RequestError",
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
]

_MODULES = {
    "asynchronous": "AsyncDriver",
    "backend": "Backend BackendOptions Message",
    "counters": "Counters",
    "driver": "Driver Generation Prompt Request",
    "errors": "BackendError DecodeError GrammarError ModelError PluginError PromptError RequestError TokenizerError",
    "events": "AssertionFailed Evaluated Event Failed Finished FinishReason Injected SpanOpened Step Text UnclosedSpan "
    "Unverified",
    "formats.gbnf": "Gbnf",
    "formats.lark_text": "LarkText",
    "formats.regex": "Regex",
    "formats.structural_tag": "StructuralTag",
    "grammar": "Grammar Mode",
    "json.schema": "JsonSchema",
    "sampling": "SamplingParams",
    "sentences": "FreeText Pattern Restate Sentence SpanPart",
}
"""The names of each module; a test compares them with the imports above."""


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names.split():
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
