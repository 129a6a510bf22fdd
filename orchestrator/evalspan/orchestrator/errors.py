"""What can go wrong between a prompt and its text."""

from __future__ import annotations

from evalspan.policies import EvalspanError

__all__ = [
    "BackendError",
    "DecodeError",
    "GrammarError",
    "ModelError",
    "PluginError",
    "PromptError",
    "RequestError",
    "TokenizerError",
]


class RequestError(EvalspanError):
    """A parameter of a generation that cannot be honoured."""


class GrammarError(EvalspanError):
    """A grammar that does not compile."""


class DecodeError(EvalspanError):
    """Decoding that cannot go on: an empty mask, logits that are not numbers, a matcher in error.

    `state` is the evidence: the text so far and what the matcher says.
    """

    def __init__(self, message: str, state: str = "") -> None:
        super().__init__(message)
        self.state = state


class BackendError(EvalspanError):
    """A backend that cannot do what was asked."""


class ModelError(BackendError):
    """A model that is missing, or that cannot be read."""


class PromptError(BackendError):
    """A prompt that is empty, or that leaves no room in the context."""


class TokenizerError(BackendError):
    """A text that does not survive the tokenizer: its tokens spell something else."""

    def __init__(self, text: bytes, got: bytes) -> None:
        super().__init__(f"the tokenizer turns {text!r} into {got!r}")
        self.text = text
        self.got = got


class PluginError(BackendError):
    """A plugin that is unknown, registered twice or has a misspelt hook."""
