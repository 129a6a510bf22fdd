"""What of an input is moved, repeated or taken out as a whole."""

from __future__ import annotations

import re

__all__ = ["tokens"]

_TOKENS = re.compile(rb"\\u[0-9a-fA-F]{4}|[A-Za-z0-9_]+|[\x80-\xff]+|.", re.DOTALL)
"""An escape, a word, a run that is not ASCII, any other byte."""


def tokens(data: bytes) -> list[bytes]:
    """The tokens of an input in order; together they are the input."""
    return _TOKENS.findall(data)
