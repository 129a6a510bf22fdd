"""A backend of one's own, complete: a model that knows nothing but what it has read, and writes what is alike.

It gives the next byte by how often it has come so far, after the last byte and at all. A third party's backend looks
like this one: a tokenizer, an engine, a class that opens them, and a hook that offers the class.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from evalspan.orchestrator import Backend, BackendError, BackendOptions, Message, ModelError
from evalspan.orchestrator.backend import Feed, Logits
from evalspan.orchestrator.hookspecs import hookimpl

END = 256
WORDS = (b" the", b" and", b"ing", b"</", b">.", b">\n\n")


class Tokenizer:
    """All bytes, an end token, and some words."""

    pieces = (*(bytes([byte]) for byte in range(256)), b"", *WORDS)
    special_ids = eos_ids = frozenset({END})
    digest = hashlib.sha256(b"adaptive 1 " + b"|".join(WORDS)).hexdigest()

    def encode(self, text: bytes) -> list[int]:
        tokens: list[int] = []
        while text:
            word = next((word for word in WORDS if text.startswith(word)), text[:1])
            tokens.append(self.pieces.index(word))
            text = text[len(word) :]
        return tokens

    def encode_prompt(self, prompt: str | Sequence[Message]) -> list[int]:
        turns = [prompt] if isinstance(prompt, str) else [f"{turn.role}: {turn.content}\n" for turn in prompt]
        return self.encode("".join(turns).encode())


class Engine:
    """What each sequence has read, and the logits after it."""

    def __init__(self, context_tokens: int, slots: int) -> None:
        self.context_tokens, self.slots = context_tokens, slots
        self._read: dict[int, list[int]] = {}

    def open(self) -> int:
        free = [slot for slot in range(self.slots) if slot not in self._read]
        if not free:
            raise BackendError(f"all {self.slots} slots are taken")
        self._read[free[0]] = []
        return free[0]

    def decode(self, feeds: Sequence[Feed]) -> list[Logits | None]:
        for feed in feeds:
            self._read[feed.sequence] += feed.tokens
            if len(self._read[feed.sequence]) > self.context_tokens:
                raise BackendError(f"the context of {self.context_tokens} tokens is full")
        return [self._logits(self._read[feed.sequence]) if feed.wants_logits else None for feed in feeds]

    def close(self, sequence: int) -> None:
        del self._read[sequence]

    def _logits(self, read: list[int]) -> Logits:
        counts = np.full(len(Tokenizer.pieces), 0.01)  # nothing is impossible
        for last, token in zip([END, *read], read, strict=False):
            counts[token] += 1.0 + 10.0 * (last == read[-1])
        return np.log(counts).astype(np.float32)


class AdaptiveBackend:
    """The tokenizer and the engine; there is no model to open."""

    name: ClassVar[str] = "adaptive"
    description: ClassVar[str] = "an example: a model that learns from what it reads"

    def __init__(self, options: BackendOptions) -> None:
        if options.model is not None:
            raise ModelError("the adaptive backend has no models: leave --model out")
        self.model = "nothing but the prompt"
        self.tokenizer = Tokenizer()
        self.engine = Engine(options.context_tokens or 4096, options.slots or 4)

    def shutdown(self) -> None:
        """Nothing to free."""


@hookimpl
def evalspan_backends() -> list[type[Backend]]:
    return [AdaptiveBackend]
