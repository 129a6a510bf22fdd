"""The decode driver: generate text in which every span has its exact result."""

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
from evalspan.orchestrator.grammar import Grammar, Mode
from evalspan.orchestrator.sampling import SamplingParams
from evalspan.orchestrator.sentences import FreeText, Pattern, Restate, Sentence, SpanPart

__all__ = [
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
    "Generation",
    "Grammar",
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
    "Step",
    "Text",
    "TokenizerError",
    "UnclosedSpan",
    "Unverified",
]
