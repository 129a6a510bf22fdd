"""What an evaluation answers: a value or a typed failure."""

from __future__ import annotations

from dataclasses import dataclass

from evalspan.policies.errors import ErrorCode

__all__ = ["Failure", "Outcome", "Value"]


@dataclass(frozen=True, slots=True)
class Value:
    """The canonical text of a result.

    `exact` is true iff the text equals the value and no rounding came before it. `fuel` is what the
    evaluation consumed, in wasmtime fuel units; None where the runtime has no fuel.
    """

    text: str
    exact: bool = True
    fuel: int | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no value.

    `offset` is a byte offset into the raw input and `piece_length` the number of bytes there that the
    message is about (at most 32; 0 where there is no piece). `message` never echoes the input itself:
    the host appends the piece where the result policy lets it.
    """

    code: ErrorCode
    message: str
    offset: int = 0
    piece_length: int = 0
    fuel: int | None = None


Outcome = Value | Failure
"""Either answer of an evaluation."""
