"""The decode driver: generate text in which every span has its exact result."""

from evalspan.orchestrator.backend import Backend, BackendOptions, Message
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
    Evaluated,
    Event,
    Failed,
    Finished,
    FinishReason,
    Injected,
    SpanOpened,
    Text,
    UnclosedSpan,
    Unverified,
)
from evalspan.orchestrator.grammar import FreeText, Mode, Pattern, Restate, Sentence, SpanPart
from evalspan.orchestrator.sampling import SamplingParams

__all__ = [
    "Backend",
    "BackendError",
    "BackendOptions",
    "DecodeError",
    "Driver",
    "Evaluated",
    "Event",
    "Failed",
    "FinishReason",
    "Finished",
    "FreeText",
    "Generation",
    "GrammarError",
    "Injected",
    "Message",
    "Mode",
    "ModelError",
    "Pattern",
    "PluginError",
    "Prompt",
    "PromptError",
    "Request",
    "RequestError",
    "Restate",
    "SamplingParams",
    "Sentence",
    "SpanOpened",
    "SpanPart",
    "Text",
    "TokenizerError",
    "UnclosedSpan",
    "Unverified",
]
