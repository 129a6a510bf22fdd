"""What can go wrong between a prompt and its text."""

from __future__ import annotations

from typing import ClassVar

from evalspan.policies import EvalspanError

__all__ = [
    "BackendError",
    "DecodeError",
    "EmptyMask",
    "GrammarError",
    "LogitsError",
    "ModelError",
    "PluginError",
    "PromptError",
    "RequestError",
    "TokenizerError",
]

_TAIL_BYTES = 80  # of the text before an error: a line of a terminal


class RequestError(EvalspanError):
    """A parameter of a generation that cannot be honoured."""


class GrammarError(EvalspanError):
    """A grammar that does not compile."""


class DecodeError(EvalspanError):
    """Decoding that cannot go on: an empty mask, logits that are not numbers, a matcher in error.

    `state` is what the matcher says. Where a generation is at fault, `position` is the number of bytes of its text so
    far, `step` the number of its tokens, and `tail` the last bytes of that text; else they are None and empty.
    """

    code: ClassVar[str] = "decode_error"

    def __init__(self, message: str, state: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.state = state
        self.position: int | None = None
        self.step: int | None = None
        self.tail = b""

    def locate(self, text: bytes | bytearray, step: int) -> None:
        """Take note of where a generation stands, unless that is known."""
        if self.position is None:
            self.position, self.step, self.tail = len(text), step, bytes(text[-_TAIL_BYTES:])

    def __str__(self) -> str:
        message = super().__str__()
        if self.position is None:
            return message
        return f"{message} (byte {self.position}, token {self.step}, after {self.tail!r})"


class EmptyMask(DecodeError):
    """No token is allowed: the grammar and the rules beside it leave none, or the model gives none of them a chance."""

    code = "empty_mask"


class LogitsError(DecodeError):
    """The engine's logits are no finite numbers."""

    code = "bad_logits"


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
