"""Turning forced text into tokens, and refusing where the tokens would spell something else."""

from __future__ import annotations

from evalspan.orchestrator.backend import Tokenizer
from evalspan.orchestrator.errors import TokenizerError

__all__ = ["encode_forced", "is_text", "open_character", "spell"]


def is_text(string: str) -> bool:
    """Whether UTF-8 can spell a string: one that JSON gave may hold half a character (a surrogate)."""
    return not any("\ud800" <= char <= "\udfff" for char in string)


def spell(tokenizer: Tokenizer, tokens: list[int]) -> bytes:
    """The bytes that the tokens spell."""
    pieces = tokenizer.pieces
    return b"".join(pieces[token] for token in tokens)


def encode_forced(tokenizer: Tokenizer, text: bytes, context: bytes) -> list[int]:
    """Tokens of `text` as they follow `context`, never of anything else.

    The context keeps a tokenizer from treating the text as the start of a document (a leading space, another
    normalization). Where its last bytes would merge with the first ones of the text, the text is encoded alone: what
    is already decoded is never tokenized anew.

    Raises:
        TokenizerError: no tokens spell `text`, for example since the tokenizer normalizes it.
    """
    got = b""
    for attempt in (_tail(tokenizer, context, text), tokenizer.encode(text)):
        if attempt is None:
            continue
        got = spell(tokenizer, attempt)
        if got == text and tokenizer.special_ids.isdisjoint(attempt):
            return attempt
    raise TokenizerError(text, got)


def _tail(tokenizer: Tokenizer, context: bytes, text: bytes) -> list[int] | None:
    """The last tokens of `context + text` that spell `text`, or None where no token starts there."""
    tokens = tokenizer.encode(context + text)
    pieces = tokenizer.pieces
    missing = len(text)
    for index in range(len(tokens) - 1, -1, -1):
        missing -= len(pieces[tokens[index]])
        if missing == 0:
            return tokens[index:]
        if missing < 0:
            return None
    return None


def open_character(text: bytes | bytearray) -> bytes:
    """The bytes of the UTF-8 character that the text ends inside of; `b""` where it ends between characters."""
    for back in range(1, min(3, len(text)) + 1):
        byte = text[-back]
        if byte >= 0xC0:
            width = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return bytes(text[-back:]) if back < width else b""
        if byte < 0x80:
            return b""
    return b""
