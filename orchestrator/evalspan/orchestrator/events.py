"""What a generation tells while it runs. The `text` of text and injection events, in order, is the whole text."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from evalspan.policies import ErrorCode

__all__ = [
    "AssertionFailed",
    "Evaluated",
    "Event",
    "Failed",
    "FinishReason",
    "Finished",
    "Injected",
    "InjectionKind",
    "SpanOpened",
    "Step",
    "Text",
    "UnclosedSpan",
    "Unverified",
    "event_json",
]

InjectionKind = Literal["result", "error", "restated", "bound"]
"""What a forced block is; `bound` is a value of a JSON schema."""

FinishReason = Literal[
    "eos", "length", "over_budget", "evaluation_error", "assertion_failed", "decode_error", "cancelled"
]
"""Why a generation ended.

`eos`: the model ended it, or the grammar was complete. `length`: the token limit or the context is reached.
`over_budget`: an error could not be injected within the policy's budget. `evaluation_error`: a span failed
whose rule says `on_error = "stop"`, or a bound value has none. `assertion_failed`: an assertion of a JSON schema does
not hold that says `"on_violation": "stop"`. `decode_error`: decoding could not go on, in a batch whose other
generations do. `cancelled`: the caller ended it.
"""


@dataclass(frozen=True, slots=True)
class Text:
    """Text that the model wrote, tags and expressions included; released once, never inside a character."""

    event: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True, slots=True)
class SpanOpened:
    """An open tag is complete. `position` is the byte in the text at which the tag starts."""

    event: ClassVar[str] = "span_opened"
    span: str
    position: int


@dataclass(frozen=True, slots=True)
class Evaluated:
    """An expression has a value. `microseconds` is the time of the evaluation alone."""

    event: ClassVar[str] = "evaluated"
    span: str
    evaluator: str
    input: str
    value: str
    exact: bool
    fuel: int | None
    microseconds: float


@dataclass(frozen=True, slots=True)
class Failed:
    """An expression has no value. `offset` is a byte offset into the expression."""

    event: ClassVar[str] = "error"
    span: str
    evaluator: str
    input: str
    code: ErrorCode
    message: str
    offset: int
    fuel: int | None
    microseconds: float


@dataclass(frozen=True, slots=True)
class AssertionFailed:
    """An assertion of a JSON schema does not hold.

    `span` is the JSON pointer of the field that breaks it, `input` what was evaluated, and `answer` what came of it:
    a value other than `true`, or `code: message`.
    """

    event: ClassVar[str] = "assertion_failed"
    span: str
    evaluator: str
    input: str
    answer: str
    fuel: int | None
    microseconds: float


@dataclass(frozen=True, slots=True)
class Injected:
    """A block that was forced into the sequence and that the model has read.

    `kind` is `result`, `error`, `restated` where a grammar says a result again, or `bound` where a JSON schema binds a
    value. `tokens` are its ids where the
    backend shows them; `milliseconds` is the time to decode them, with those forced in the same step.
    """

    event: ClassVar[str] = "injected"
    span: str
    kind: InjectionKind
    text: str
    tokens: tuple[int, ...]
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Step:
    """How one token was sampled, where a ledger is asked for; `Drawn` in `sampling.py` explains the figures."""

    event: ClassVar[str] = "step"
    token: int
    logit: float
    probability: float
    masked_mass: float
    renormalized: float
    drawn: float


@dataclass(frozen=True, slots=True)
class Unverified:
    """The model wrote a tag of the engine itself; possible only where no mask is in force."""

    event: ClassVar[str] = "unverified"
    tag: str
    position: int


@dataclass(frozen=True, slots=True)
class UnclosedSpan:
    """The generation ended inside a span, which was therefore not evaluated."""

    event: ClassVar[str] = "unclosed_span"
    span: str
    input: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The end. `sampled_tokens` and `forced_tokens` add up to the length of the output in tokens."""

    event: ClassVar[str] = "finished"
    reason: FinishReason
    text: str
    prompt_tokens: int
    sampled_tokens: int
    forced_tokens: int


Event = (
    Text | SpanOpened | Evaluated | Failed | AssertionFailed | Injected | Step | Unverified | UnclosedSpan | Finished
)
"""Any event of a generation."""


def event_json(event: Event) -> str:
    """The event as one line of JSON, its kind under `event` first."""
    fields: dict[str, Any] = {"event": event.event, **dataclasses.asdict(event)}
    return json.dumps(fields, ensure_ascii=False, allow_nan=False)
