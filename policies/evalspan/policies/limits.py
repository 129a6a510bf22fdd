"""Limits: what one evaluation and one generation may use, each with a default and a ceiling."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["Limits", "Tightening"]


class Limits(BaseModel):
    """The limits in force.

    The first group holds for one evaluation, the second for one generation. The guest enforces depth and
    digits, since only it knows the operator's syntax; the host enforces everything else.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_input_bytes: Annotated[int, Field(ge=1, le=16_384)] = 512
    """Bytes between the open and the close tag. 16 KiB is the request buffer of the built-in modules."""
    max_bound_input_bytes: Annotated[int, Field(ge=1, le=16_384)] = 16_384
    """Bytes of the input of a bound JSON value, in place of `max_input_bytes`: a sum over an array is long."""
    max_depth: Annotated[int, Field(ge=1, le=64)] = 32
    """Nested constructs in an expression; the built-in modules' own stack is sized for 64."""
    max_digits: Annotated[int, Field(ge=1, le=1024)] = 1024
    """Decimal digits of a numerator or a denominator."""
    fuel: Annotated[int, Field(ge=1, le=1_000_000_000)] = 60_000_000
    """Wasmtime fuel units. The bound of every built-in operator on 512 bytes is below it (docs/operators). The dearest
    expression of 512 bytes that was found takes 28.5 million, which is 2 ms; what runs longer than `deadline_ms` is no
    ordinary code."""
    memory_pages: Annotated[int, Field(ge=1, le=256)] = 32
    """Pages of 64 KiB of linear memory. rustc and zig start a module with 17 by default, of which 16 are stack; 256
    (16 MiB) is the largest slot of the instance pool."""
    max_stack_bytes: Annotated[int, Field(ge=16_384, le=262_144)] = 262_144
    """Bytes of native stack for guest frames; more could pass the stack of the calling thread."""
    max_result_bytes: Annotated[int, Field(ge=1, le=16_384)] = 1024
    """Bytes of a result's text."""
    deadline_ms: Annotated[int, Field(ge=1, le=60_000)] = 200
    """Milliseconds until an evaluation is interrupted: a backstop only, fuel is the bound that is deterministic."""

    max_spans: Annotated[int, Field(ge=0, le=100_000)] = 64
    """Spans evaluated in one generation."""
    max_injected_tokens: Annotated[int, Field(ge=0, le=1_000_000)] = 1024
    """Forced tokens in one generation."""
    max_evaluation_ms: Annotated[int, Field(ge=1, le=600_000)] = 10_000
    """Milliseconds spent in evaluators in one generation."""

    def tightened(self, change: Tightening) -> Self:
        """These limits with each value that `change` sets; the registry has checked that none is looser."""
        return self.model_copy(update=change.model_dump(exclude_none=True))


class Tightening(BaseModel):
    """The limits that an evaluator or a span sets below the policy's: only those of one evaluation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_input_bytes: Annotated[int, Field(ge=1)] | None = None
    max_depth: Annotated[int, Field(ge=1)] | None = None
    max_digits: Annotated[int, Field(ge=1)] | None = None
    fuel: Annotated[int, Field(ge=1)] | None = None
    memory_pages: Annotated[int, Field(ge=1)] | None = None
    max_stack_bytes: Annotated[int, Field(ge=16_384)] | None = None
    max_result_bytes: Annotated[int, Field(ge=1)] | None = None
    deadline_ms: Annotated[int, Field(ge=1)] | None = None

    def looser_than(self, base: Limits) -> tuple[str, int, int] | None:
        """The first `(limit, wanted, allowed)` that is above `base`, or None."""
        for name, value in self.model_dump(exclude_none=True).items():
            allowed = getattr(base, name)
            if value > allowed:
                return name, value, allowed
        return None
