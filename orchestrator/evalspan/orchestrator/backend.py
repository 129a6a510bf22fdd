"""The backend protocol: what an engine that runs models must offer, and nothing of how.

There are two levels, and a backend offers the one it has. A *step engine* (llama.cpp) gives logits for every
step of many sequences: the driver masks, samples and feeds. A *request engine* (vLLM, an HTTP server) samples by
itself and yields tokens or text: the driver watches, cancels at a close tag and resumes with the result appended.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from evalspan.orchestrator.sampling import SamplingParams

__all__ = [
    "Backend",
    "BackendOptions",
    "Chunk",
    "CompletionRequest",
    "Feed",
    "Logits",
    "Message",
    "RequestEngine",
    "StepEngine",
    "Tokenizer",
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


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """A request to an engine that samples by itself: continue these tokens.

    `text` is the same prompt spelt out, for servers that take no token ids. `stop` are strings at which the
    engine should end its turn, itself included in what it yields where it can; the driver copes with both.
    """

    tokens: Sequence[int]
    text: bytes
    max_tokens: int
    sampling: SamplingParams
    stop: Sequence[str] = ()


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
        """The model's vocabulary."""
        ...

    @property
    def engine(self) -> StepEngine | RequestEngine:
        """The engine, at the level it offers."""
        ...

    @property
    def model(self) -> str:
        """What is loaded, for people."""
        ...

    def shutdown(self) -> None:
        """Free the model; further use is an error."""
        ...
