"""What a generation tells while it runs. The `text` of text and injection events, in order, is the whole text."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from evalspan.policies import ErrorCode

__all__ = [
    "AssertionFailed",
    "DecodeFailed",
    "Evaluated",
    "Event",
    "Failed",
    "FinishReason",
    "Finished",
    "Injected",
    "InjectionKind",
    "Recorded",
    "Refused",
    "RequestFailed",
    "SpanOpened",
    "Step",
    "Text",
    "TokenKind",
    "UnclosedSpan",
    "Unverified",
    "event_json",
]

InjectionKind = Literal["result", "error", "restated", "bound", "close"]
"""What a forced block is; `bound` is a value of a JSON schema, `close` ends a window whose tokens are used up."""

FinishReason = Literal[
    "eos",
    "length",
    "stop_string",
    "time_limit",
    "over_budget",
    "evaluation_error",
    "assertion_failed",
    "decode_error",
    "refused",
    "cancelled",
]
"""Why a generation ended.

`eos`: the model ended it, or the grammar was complete. `length`: the token limit or the context is reached.
`stop_string`: the model wrote a stop string of the request. `time_limit`: the request's time is used up.
`over_budget`: an error could not be injected within the policy's budget. `evaluation_error`: a span failed
whose rule says `on_error = "stop"`, or a bound value has none. `assertion_failed`: an assertion of a JSON schema does
not hold that says `"on_violation": "stop"`. `decode_error`: decoding could not go on, in a batch whose other
generations do. `refused`: the request could not be honoured, in a batch that reports that. `cancelled`: the caller
ended it.
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

    `kind` is `result`, `error`, `restated` where a grammar says a result again, `bound` where a JSON schema binds a
    value, or `close` where the tokens of a window are used up. `tokens` are its ids where the backend shows them;
    `milliseconds` is the time to decode them, with those forced in the same step.
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


TokenKind = Literal["sampled", "forced", "dropped", "kept"]
"""`sampled`: the model drew it. `forced`: the engine put it in. `dropped`: the model drew it and it ran past a close
tag, so it is no part of the output; what was `kept` of it follows."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The ids of the prompt and those of the output, where a receipt is asked for; it comes before `Finished`."""

    event: ClassVar[str] = "recorded"
    prompt: tuple[int, ...]
    tokens: Sequence[tuple[int, TokenKind]]


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
class Refused:
    """The model wrote a value that a JSON schema names as a refusal.

    `span` is the JSON pointer of the value, `text` a string's text or the JSON of any other value.
    """

    event: ClassVar[str] = "refused"
    span: str
    text: str


@dataclass(frozen=True, slots=True)
class DecodeFailed:
    """Decoding cannot go on: what `DecodeError` says, as an event.

    `code` is `empty_mask`, `bad_logits` or `decode_error`; `position` counts the bytes of the text before the place,
    `step` the tokens, and `tail` is the end of that text.
    """

    event: ClassVar[str] = "decode_failed"
    code: str
    message: str
    position: int
    step: int
    tail: str
    state: str


@dataclass(frozen=True, slots=True)
class RequestFailed:
    """A request that cannot be honoured, in a batch that goes on; `code` is `prompt`, `request` or `grammar`."""

    event: ClassVar[str] = "request_failed"
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The end. `sampled_tokens` and `forced_tokens` add up to the length of the output in tokens.

    `stop_string` is the one that ended it, where the reason says so.
    """

    event: ClassVar[str] = "finished"
    reason: FinishReason
    text: str
    prompt_tokens: int
    sampled_tokens: int
    forced_tokens: int
    stop_string: str | None = None


Event = (
    Text
    | SpanOpened
    | Evaluated
    | Failed
    | AssertionFailed
    | Injected
    | Step
    | Recorded
    | Unverified
    | UnclosedSpan
    | Refused
    | DecodeFailed
    | RequestFailed
    | Finished
)
"""Any event of a generation."""


def event_json(event: Event, before: Mapping[str, Any] | None = None) -> str:
    """The event as one line of JSON, its kind under `event` first but for the fields that come `before` it."""
    fields: dict[str, Any] = {**(before or {}), "event": event.event, **dataclasses.asdict(event)}
    return json.dumps(fields, ensure_ascii=False, allow_nan=False)
