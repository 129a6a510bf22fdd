"""What a generation is asked for, and what comes of it."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypedDict

from evalspan.orchestrator.backend import Message
from evalspan.orchestrator.errors import DecodeError, RequestError
from evalspan.orchestrator.events import Event, Finished, FinishReason, Injected
from evalspan.orchestrator.grammar import Grammar, Mode
from evalspan.orchestrator.sampling import SamplingParams

if TYPE_CHECKING:
    from evalspan.orchestrator.receipts import Receipt

__all__ = ["Cancellation", "Generation", "Options", "Prompt", "Request", "gathered"]

Prompt = str | Sequence[Message]
"""Raw text to continue, or a conversation to answer. The prompt is inert: no span in it is evaluated."""


class Cancellation:
    """Ends generations from outside: at their next step, with the reason `cancelled`. May be used from any thread."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """End every generation whose request holds this."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._event.is_set()


class Options(TypedDict, total=False):
    """The fields of a request beside its prompt."""

    mode: Mode | None
    grammar: Grammar | None
    max_tokens: int
    sampling: SamplingParams | None
    ledger: bool
    stop: tuple[str, ...]
    keep_stop: bool
    time_limit: float | None
    receipt: bool
    cancellation: Cancellation | None


@dataclass(frozen=True, slots=True)
class Request:
    """A generation to run.

    `max_tokens` counts sampled and forced tokens. `grammar` is free text with spans by default; `mode` is
    `grammar-eval` where the engine can be masked, else `no-grammar`. `ledger` adds a `Step` event to each sampled
    token. The first of the strings in `stop` that the model writes ends the generation and, without `keep_stop`, is no
    part of its text. `time_limit` is in seconds from the first step, waiting for a slot left out. `receipt` adds what a
    receipt is made of: a `Recorded` event, and the ledger where the engine shows logits.
    """

    prompt: Prompt
    mode: Mode | None = None
    grammar: Grammar | None = None
    max_tokens: int = 256
    sampling: SamplingParams | None = None
    ledger: bool = False
    stop: tuple[str, ...] = ()
    keep_stop: bool = False
    time_limit: float | None = None
    receipt: bool = False
    cancellation: Cancellation | None = field(default=None, compare=False)

    def check(self) -> None:
        """What can be checked without a backend.

        Raises:
            RequestError: a parameter is out of its range.
        """
        if self.max_tokens < 1:
            raise RequestError(f"max_tokens must be 1 or more, got {self.max_tokens}")
        if self.time_limit is not None and not 0 < self.time_limit < math.inf:
            raise RequestError(f"time_limit must be a number of seconds above 0, got {self.time_limit}")


@dataclass(frozen=True, slots=True)
class Generation:
    """A finished generation: its text, why it ended, and every event in order."""

    text: str
    reason: FinishReason
    events: tuple[Event, ...] = field(repr=False)
    seed: int | None = None
    """That it was sampled with, where it is one of several samples."""
    receipt: Receipt | None = field(default=None, repr=False)
    """Where the request asked for one, and the generation came to an end."""

    @property
    def injections(self) -> tuple[Injected, ...]:
        """The blocks that were injected."""
        return tuple(event for event in self.events if isinstance(event, Injected))


def gathered(events: Iterable[Event], seed: int | None = None) -> Generation:
    """The events of one generation as its result.

    Raises:
        DecodeError: the last one is not `Finished`.
    """
    seen = tuple(events)
    last = seen[-1]
    if not isinstance(last, Finished):
        raise DecodeError("the generation ended without a reason")
    return Generation(last.text, last.reason, seen, seed)
