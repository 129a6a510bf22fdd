"""A vocabulary of the 256 bytes and one end token: with it llguidance answers questions about languages of bytes."""

from __future__ import annotations

from functools import cache
from typing import Any

from llguidance import LLTokenizer, TokenizerWrapper

__all__ = ["END", "byte_tokenizer"]

END = 256
"""The end token, the id after those of the bytes."""


class _Bytes:
    """Token i is byte i."""

    eos_token_id = END
    bos_token_id = None
    tokens = (*(bytes([i]) for i in range(256)), b"<|end|>")
    special_token_ids = (END,)

    def __call__(self, text: bytes) -> list[int]:
        return list(text)


@cache
def byte_tokenizer() -> Any:
    """The vocabulary as llguidance's matchers take it."""
    return LLTokenizer(TokenizerWrapper(_Bytes()), slices=[])
