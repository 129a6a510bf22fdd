"""A vocabulary as a tuple of pieces, and its identity."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

__all__ = ["vocabulary_digest"]


def vocabulary_digest(pieces: Sequence[bytes], special: Iterable[int], eos: Iterable[int]) -> str:
    """SHA-256 over every piece with its length, the special tokens and the end tokens."""
    digest = hashlib.sha256(b"evalspan vocabulary 1\n")
    for piece in pieces:
        digest.update(len(piece).to_bytes(4, "little") + piece)
    for ids in (sorted(special), sorted(eos)):
        digest.update(b"".join(token.to_bytes(4, "little") for token in (len(ids), *ids)))
    return digest.hexdigest()
