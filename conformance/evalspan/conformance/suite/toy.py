"""The model of the scripted backend in the suite: its logits are a function of all the text that it was fed.

So what reaches the engine and what does not makes a difference, as with a real model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np

from evalspan.backends.scripted import ScriptedBackend, ScriptedSteps

__all__ = ["toy_backend"]

_CONTEXT = 4096  # tokens; ten times what any requirement needs
_SLOTS = 3  # enough for neighbours on both sides

_PIECES: tuple[bytes, ...] = (
    *(
        b"<calc>",
        b"</calc>",
        b"<ca",
        b"lc>",
        b"</ca",
        b"calc>",
        b"<words>",
        b"</words>",
        b"<day>",
        b"<result>",
        b"ult>",
    ),
    *(b"<res", b"</result>", b"</res", b"result>5</", b"<result>4", b"0</result>", b"_error>"),  # the engine's tags
    *(b">.", b">\n\n", b"><", b"</calc>.", b"</calc><calc>2", b"c>?!", b")</", b"1</calc>x"),  # over a close tag
    *(b"17 * ", b"23 +", b" 91", b"17", b"+1", b"2024", b"-01", b" month", b"count(", b"berry", b'", "r")'),
    *(b"The ", b" is ", b"and ", b" on", b"total", b"a", b"st", b"raw", b", ", b".\n", b"Wel", b"l."),
    *("😀".encode(), b"\xf0\x9f", b"\x98\x80", "é".encode(), "nÉ".encode(), b"e\xcc\x81"),  # characters, whole and cut
    *(b'{"', b'": ', b'"e": "', b'", "v":', b"2}", b"1/0", b"ab", b"abc", b"c1", b"12"),
)
"""Tokens beside all bytes: tags in several cuts, tokens that run past a tag, cut characters, words."""


def toy_backend() -> ScriptedBackend:
    """The scripted backend with that model."""
    backend = ScriptedBackend.replay([], vocabulary=_PIECES, context_tokens=_CONTEXT, slots=_SLOTS)
    pieces = backend.tokenizer.pieces

    def logits(tokens: Sequence[int]) -> Mapping[int, float]:
        text = b"".join(pieces[token] for token in tokens)
        seed = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest())
        drawn = np.random.Generator(np.random.PCG64(seed)).normal(0, 3, len(pieces))
        return dict(enumerate(drawn.tolist()))

    backend.engine = ScriptedSteps(logits, len(pieces), _CONTEXT, _SLOTS)
    backend.model = "a toy model, of the suite"
    return backend
