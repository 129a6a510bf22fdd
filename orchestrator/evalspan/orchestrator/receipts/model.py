"""The format of a receipt: what is rebuilt, what only the model can confirm, and what nothing can.

Only its form is checked here: types, names, and nothing beside them. `verify.py` says whether it is true.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evalspan.orchestrator.backend import Message
from evalspan.orchestrator.events import TokenKind
from evalspan.orchestrator.grammar import Mode
from evalspan.orchestrator.receipts.canonical import ReceiptError, canonical, json_path, parse_json
from evalspan.orchestrator.requests import Prompt

__all__ = [
    "FORMAT",
    "EvaluatorIdentity",
    "Identity",
    "LedgerRow",
    "ModelClaims",
    "Output",
    "Receipt",
    "RequestFacts",
    "Turn",
    "Unverified",
    "digest_of",
]

FORMAT = "evalspan receipt 1"

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
"""SHA-256, in hexadecimal."""


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class EvaluatorIdentity(_Table):
    """An evaluator of the registry; `sha256` is that of its module's bytes."""

    name: str
    spec: str
    sha256: Digest


class Identity(_Table):
    """What the generation ran on. `registry` is the canonical form, whole."""

    evalspan: str
    tokenizer: Digest
    grammar_engine: str | None
    """Name and version; null where nothing was masked."""
    registry: dict[str, Any]
    registry_sha256: Digest
    evaluators: tuple[EvaluatorIdentity, ...]


class Turn(_Table):
    """A message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class StopFacts(_Table):
    """The stop string that ended the output, and whether it is a part of the text."""

    string: str
    keep: bool


class RequestFacts(_Table):
    """What was asked for, as far as the output depends on it.

    `grammar` is what the grammar was written as, `compiled` what became of it. A limit that was not reached, and a stop
    string that was not written, had no effect and stand under `unverified`.
    """

    mode: Mode
    prompt: str | tuple[Turn, ...]
    prompt_tokens: tuple[int, ...]
    grammar: dict[str, Any]
    compiled: tuple[dict[str, Any], ...]
    stop: StopFacts | None
    limit: int | None
    """The number of tokens at which the output was cut off, where the reason is `length`."""

    @property
    def conversation(self) -> Prompt:
        """The prompt as a request has it."""
        if isinstance(self.prompt, str):
            return self.prompt
        return [Message(turn.role, turn.content) for turn in self.prompt]


class Output(_Table):
    """What came of it. `tokens` are ids with what each is, `events` what was told but for text and times."""

    reason: Literal[
        "eos", "length", "stop_string", "over_budget", "evaluation_error", "assertion_failed", "interrupted"
    ]
    text: str
    tokens: tuple[tuple[int, TokenKind], ...]
    sampled_tokens: int
    forced_tokens: int
    events: tuple[dict[str, Any], ...]


class LedgerRow(_Table):
    """How one token was drawn: `Drawn` in `sampling.py` explains the figures."""

    token: int
    logit: float
    probability: float
    masked_mass: float
    renormalized: float
    drawn: float


class ModelClaims(_Table):
    """What only a run of the model can confirm.

    `sampling` has the parameters that are not at their defaults; where the temperature is 0 nothing is drawn, and
    filters and seed have no effect. `uniform` are the random numbers of the seed, one a token. A row of the `ledger`
    is there for each token drawn, where the engine shows `logits`.
    """

    engine: Literal["logits", "tokens"]
    sampling: dict[str, Any]
    uniform: tuple[float, ...]
    ledger: tuple[LedgerRow, ...]


class Timing(_Table):
    """What an event took."""

    event: int
    microseconds: float | None = None
    milliseconds: float | None = None


class Unverified(_Table):
    """What nothing can confirm. `verify` looks at none of it."""

    created_at: str
    backend: str
    model: str
    cause: str
    max_tokens: int
    stop: tuple[str, ...]
    time_limit: float | None
    timings: tuple[Timing, ...]


class Receipt(_Table):
    """How a generation came about: provenance of its values, no claim that they are what was wanted.

    `digest` is SHA-256 over everything but itself and `unverified`; it finds accidents, not forgeries.
    """

    format: Literal["evalspan receipt 1"]
    digest: Digest
    identity: Identity
    request: RequestFacts
    output: Output
    model: ModelClaims
    unverified: Unverified

    @classmethod
    def parse(cls, data: bytes | str) -> Self:
        """A receipt from its JSON.

        Raises:
            ReceiptError: it is none; the text has the path of what is wrong.
        """
        return cls.of(parse_json(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data))

    @classmethod
    def of(cls, value: Any) -> Self:
        """A receipt from its value.

        Raises:
            ReceiptError: as `parse`.
        """
        if isinstance(value, dict) and value.get("format") != FORMAT:
            raise ReceiptError(f"is {value.get('format')!r}, and this release reads {FORMAT!r}", "format")
        try:
            return cls.model_validate_json(canonical(value))
        except ValidationError as error:
            raise _explained(error, value) from None

    def value(self) -> dict[str, Any]:
        """The receipt as a value of JSON."""
        return self.model_dump(mode="json")

    def json_text(self) -> str:
        """The receipt as canonical JSON, on one line."""
        return canonical(self.value())

    @property
    def drawn(self) -> tuple[int, ...]:
        """The tokens that the model drew, those that were dropped included."""
        return tuple(token for token, kind in self.output.tokens if kind in ("sampled", "dropped"))


def digest_of(value: dict[str, Any]) -> str:
    """The digest of a receipt's value."""
    covered = {name: item for name, item in value.items() if name not in ("digest", "unverified")}
    return hashlib.sha256(canonical(covered).encode()).hexdigest()


def _explained(error: ValidationError, value: Any) -> ReceiptError:
    """The error that is deepest in the receipt: a union has one for each of what it tried."""
    found = [(_place(item["loc"], value, item["type"] == "missing"), item) for item in error.errors(include_url=False)]
    steps, item = max(found, key=lambda each: len(each[0]))
    path = ""
    for step in steps:
        path = json_path(path, step)
    known = {"extra_forbidden": "unknown key", "missing": "this key is required"}
    message = item["msg"]
    return ReceiptError(known.get(item["type"], message[:1].lower() + message[1:]), path)


def _place(location: tuple[int | str, ...], value: Any, is_missing: bool) -> list[int | str]:
    """The steps of a location that lead somewhere in the value: a union adds the name of what it tried."""
    steps: list[int | str] = []
    for number, step in enumerate(location, 1):
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            if number < len(location) or not is_missing:
                continue
        steps.append(step)
    return steps
