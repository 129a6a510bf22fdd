"""The backend protocol: what an engine that runs models must offer, and nothing of how.

There are three levels, and a backend offers the one it has. A *step engine* (llama.cpp) gives logits for every
step of many sequences: the driver masks, samples and feeds. A *request engine* (an HTTP server) samples by itself
and yields tokens or text: the driver watches, cancels at a close tag and resumes with the result appended. A *span
engine* (vLLM with the plugin) runs the span machine itself: the driver reads along and tells what was done.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from evalspan.orchestrator.errors import BackendError
from evalspan.orchestrator.sampling import SamplingParams

if TYPE_CHECKING:
    from evalspan.orchestrator.grammar import Grammar, Mode
    from evalspan.policies import Registry

__all__ = [
    "Backend",
    "BackendOptions",
    "Chunk",
    "Completion",
    "CompletionRequest",
    "ConcurrentEngine",
    "Feed",
    "ForkingEngine",
    "Logits",
    "Message",
    "PromptText",
    "RequestEngine",
    "SpanEngine",
    "SpanRequest",
    "Spelling",
    "StepEngine",
    "TextEngine",
    "Tokenizer",
    "check_engine_options",
]

Logits: TypeAlias = NDArray[np.float32]
"""One float per token of the vocabulary, shape `(vocab_size,)`, unnormalized."""


@dataclass(frozen=True, slots=True)
class Message:
    """A turn of a conversation. Its content is text: the spelling of a special token in it stays text."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class BackendOptions:
    """What a user may ask of any backend. None means the backend's default."""

    model: str | None = None
    context_tokens: int | None = None
    """Of each sequence."""
    threads: int | None = None
    slots: int | None = None
    """Sequences at once."""
    engine: Mapping[str, str] = field(default_factory=dict)
    """What one backend alone understands, by name; its class has `engine_options`, names with their meanings."""


class Tokenizer(Protocol):
    """The vocabulary of a model, by bytes."""

    @property
    def pieces(self) -> Sequence[bytes]:
        """The bytes that each token spells; `b""` for control tokens. Length `vocab_size`."""
        ...

    @property
    def special_ids(self) -> frozenset[int]:
        """Control tokens: the model may end with some of them, and text never contains one."""
        ...

    @property
    def eos_ids(self) -> frozenset[int]:
        """Tokens that end a generation; at least one."""
        ...

    @property
    def digest(self) -> str:
        """SHA-256 over pieces and special tokens: the identity of the vocabulary."""
        ...

    def encode(self, text: bytes) -> list[int]:
        """Tokens of plain text: no token is added, and the spelling of a special token stays text."""
        ...

    def encode_prompt(self, prompt: str | Sequence[Message]) -> list[int]:
        """Tokens of a prompt: raw text with the model's start token, or a conversation in its chat template."""
        ...


@dataclass(frozen=True, slots=True)
class Feed:
    """Tokens to append to one sequence; more follow before it is sampled from, unless `wants_logits`."""

    sequence: int
    tokens: Sequence[int]
    wants_logits: bool = True


@runtime_checkable
class StepEngine(Protocol):
    """An engine that is driven step by step."""

    @property
    def slots(self) -> int:
        """How many sequences can be open at once."""
        ...

    @property
    def context_tokens(self) -> int:
        """Tokens that one sequence can hold, prompt included."""
        ...

    def open(self) -> int:
        """Start an empty sequence.

        Raises:
            BackendError: no slot is free.
        """
        ...

    def decode(self, feeds: Sequence[Feed]) -> list[Logits | None]:
        """Run the tokens of every feed through the model in one batch.

        Answers the logits after the last token of each feed that wants them, in order. The arrays are the caller's
        own. No two feeds are of one sequence.
        """
        ...

    def close(self, sequence: int) -> None:
        """Forget a sequence and free its slot."""
        ...


@runtime_checkable
class ForkingEngine(StepEngine, Protocol):
    """A step engine that can copy a sequence; samples of one prompt share its decoding, and beams need it."""

    def fork(self, sequence: int) -> int:
        """Start a sequence that holds what another one does; each goes on by itself.

        Raises:
            BackendError: no slot is free.
        """
        ...


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """A request to an engine that samples by itself: continue these tokens.

    `text` is the same prompt spelt out, for servers that take no token ids; `tokens` is empty where they are not
    known. `stop` are the strings after which the driver has something to say. An engine may end its turn there if what
    it yields includes the string, and may as well yield on: the driver closes the completion. `turn` counts the
    completions of the generation before this one, so that a seed need not give the same draws again.
    """

    tokens: Sequence[int]
    text: bytes
    max_tokens: int
    sampling: SamplingParams
    stop: Sequence[str] = ()
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Chunk:
    """What a request engine yields: some bytes, the tokens that spell them where it shows them, or its end."""

    data: bytes = b""
    tokens: tuple[int, ...] = ()
    end: Literal["eos", "length"] | None = None


@runtime_checkable
class RequestEngine(Protocol):
    """An engine that is asked for completions."""

    @property
    def context_tokens(self) -> int:
        """Tokens that one request can hold, prompt included."""
        ...

    def complete(self, request: CompletionRequest) -> Generator[Chunk, None, None]:
        """Yield the completion as it comes; closing the generator cancels the request."""
        ...


class Completion(Protocol):
    """A completion on its way, for who waits for several at once."""

    def receive(self) -> Future[Chunk | None]:
        """The next chunk, None after the last; not to be asked for again before it is there.

        Its errors are those of `RequestEngine.complete`.
        """
        ...

    def close(self) -> None:
        """Cancel the request, also while a chunk is awaited. May be called twice."""
        ...


@runtime_checkable
class ConcurrentEngine(RequestEngine, Protocol):
    """A request engine that works on several requests at once."""

    @property
    def connections(self) -> int:
        """How many."""
        ...

    def start(self, request: CompletionRequest) -> Completion:
        """Begin a completion; the engine works on it while others are read."""
        ...


@dataclass(frozen=True, slots=True)
class SpanRequest:
    """A generation for an engine that runs the span machine itself; `max_tokens` counts sampled and forced tokens."""

    tokens: Sequence[int]
    max_tokens: int
    sampling: SamplingParams
    mode: Mode
    grammar: Grammar


@runtime_checkable
class SpanEngine(Protocol):
    """An engine that masks, evaluates and forces by itself, in the way of the span machine.

    Its completions yield every token of the output, forced ones included, and may yield an end token after it. The
    driver reads them through a machine of its own, which must come to the same: a forced token that is another one is
    an error.
    """

    @property
    def context_tokens(self) -> int:
        """Tokens that one generation can hold, prompt included."""
        ...

    @property
    def connections(self) -> int:
        """How many generations it works on at once."""
        ...

    def serve(self, registry: Registry) -> None:
        """Take the spans of this registry. Called before anything is started, and again with an equal one only.

        Raises:
            BackendError: the engine cannot be started, or cannot take this registry; the text says what to do.
        """
        ...

    def check(self, mode: Mode, grammar: Grammar, sampling: SamplingParams) -> None:
        """Whether the engine can do this.

        Raises:
            RequestError: it cannot; the text says what to change.
        """
        ...

    def start(self, request: SpanRequest) -> Completion:
        """Begin a generation; the engine works on it while others are read."""
        ...


@dataclass(frozen=True, slots=True)
class PromptText:
    """A prompt as an engine reads it: its text, its tokens (None where they are not known), and how many they are (0
    where nobody says)."""

    text: bytes
    tokens: tuple[int, ...] | None
    count: int


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a forced text is spelt: its tokens, none where they are not known, and how many there are at most."""

    tokens: tuple[int, ...]
    count: int


@runtime_checkable
class TextEngine(RequestEngine, Protocol):
    """A request engine whose vocabulary is not at hand, such as a server's: the driver works on its text.

    The `tokens` of its chunks, where it shows them, belong to the bytes of the same chunk.
    """

    @property
    def digest(self) -> str:
        """SHA-256 of what is known of the model's identity, in place of the vocabulary's."""
        ...

    def check(self, sampling: SamplingParams) -> None:
        """Whether the engine samples as asked.

        Raises:
            RequestError: it would not; the text says what to change.
        """
        ...

    def prompt(self, prompt: str | Sequence[Message]) -> PromptText:
        """A prompt: raw text, or a conversation in the model's chat template.

        Raises:
            PromptError: the engine has no template for a conversation.
        """
        ...

    def spell(self, text: bytes, context: bytes) -> Spelling:
        """The tokens of a forced text that follows `context`.

        Raises:
            TokenizerError: no tokens spell it.
        """
        ...


class Backend(Protocol):
    """A way to run models. Its constructor takes `BackendOptions`, imports the engine and opens the model."""

    name: ClassVar[str]
    """What `--backend` takes."""
    description: ClassVar[str]
    """One line for `evalspan plugins`."""

    def __init__(self, options: BackendOptions) -> None:
        """Open the model.

        Raises:
            ModelError: the model is missing or cannot be read.
            BackendError: the engine is not installed; the text says how to install it.
        """
        ...

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's vocabulary.

        Raises:
            BackendError: the engine is a `TextEngine`, and keeps it to itself.
        """
        ...

    @property
    def engine(self) -> StepEngine | RequestEngine | SpanEngine:
        """The engine, at the level it offers."""
        ...

    @property
    def model(self) -> str:
        """What is loaded, for people."""
        ...

    def shutdown(self) -> None:
        """Free the model; further use is an error."""
        ...


def check_engine_options(backend: type[Backend], given: Mapping[str, str]) -> None:
    """Whether a backend knows these options of its own.

    Raises:
        BackendError: it does not know one; the text names those that it has.
    """
    known: Mapping[str, str] = getattr(backend, "engine_options", {})
    for name in given:
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise BackendError(f"backend {backend.name!r} has no engine option {name!r}: {takes}")
