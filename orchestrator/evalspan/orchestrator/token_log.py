"""What a generation is made of, token by token: what the model drew, and what was forced."""

from __future__ import annotations

from collections.abc import Sequence

from evalspan.orchestrator.actions import Action, Force
from evalspan.orchestrator.events import TokenKind

__all__ = ["TokenLog"]


class TokenLog:
    """The tokens of one generation, in order."""

    def __init__(self, prompt: Sequence[int]) -> None:
        self.prompt = tuple(prompt)
        self.tokens: list[tuple[int, TokenKind]] = []

    def fork(self) -> TokenLog:
        """A log of the same tokens, which goes on by itself."""
        twin = TokenLog(self.prompt)
        twin.tokens = list(self.tokens)
        return twin

    def drawn(self, token: int) -> None:
        """The model drew a token."""
        self.tokens.append((token, "sampled"))

    def followed(self, action: Action) -> None:
        """What the span machine says of the last one."""
        if not isinstance(action, Force):
            return
        if action.replaces_token:
            self.tokens[-1] = (self.tokens[-1][0], "dropped")
        kept = len(action.tokens) - sum(len(block.tokens) for block in action.blocks)
        for index, token in enumerate(action.tokens):
            self.tokens.append((token, "kept" if index < kept else "forced"))
