"""What the span machine tells the driver to do next."""

from __future__ import annotations

from dataclasses import dataclass

from evalspan.orchestrator.events import FinishReason, InjectionKind

__all__ = ["Action", "Block", "Continue", "Force", "Stop", "added"]


@dataclass(frozen=True, slots=True)
class Block:
    """A block to inject: its span's name, what it is, its text, its tokens (none where they are not known), and how
    many tokens it costs."""

    span: str
    kind: InjectionKind
    text: str
    tokens: tuple[int, ...]
    cost: int


@dataclass(frozen=True, slots=True)
class Continue:
    """Feed the token; sample the next one under `SpanMachine.mask()`."""


@dataclass(frozen=True, slots=True)
class Force:
    """Feed `tokens`, all in one step: those of the blocks. Where `replaces_token` is set they take the token's place,
    and what is to be kept of it comes first."""

    blocks: tuple[Block, ...]
    tokens: tuple[int, ...]
    replaces_token: bool


@dataclass(frozen=True, slots=True)
class Stop:
    """The generation is over."""

    reason: FinishReason


Action = Continue | Force | Stop
"""What must happen next."""


def added(action: Action, block: Block) -> Force:
    """The action with a forced block more."""
    before = action if isinstance(action, Force) else Force((), (), replaces_token=False)
    return Force((*before.blocks, block), (*before.tokens, *block.tokens), before.replaces_token)
