"""Texts of characters that operators on text tell apart: scripts, marks, joiners, white space, odd case."""

from __future__ import annotations

from evalspan.conformance.generators.chance import Chance

__all__ = ["characters"]

_ALPHABETS = (
    "ab",
    "strawbey ",
    "aA bB",
    "mississippi",
    "e\u0301\u0308a",
    "\u0301\u200d\u0600a\u00ad",
    "\r\n\ta",
    " \u00a0\u2003\u3000x\u0085\u2028",
    "\U0001f469\u200d\U0001f467\U0001f3fd\ufe0f\u2764",
    "\U0001f1e9\U0001f1ea\U0001f1eb",
    "\u1100\u1161\u11a8\uac00\uac01\ud7b0\ud7cb",
    "\u0915\u094d\u0937\u093f\u093c\u200d",
    "\u0d15\u0d4d\u0d30\u200c\u0d3e",
    "\u0b95\u0bcd\u0bb7\u0bbf",
    "ΑΣσς.'Σ\u0301 1",
    "ßŉİiıǰΐﬃﬀᾳᾼǅǆ\u1e9e",
    "ΣΣʰªⅰⓐ\u00b7\u0345",
    "żółć№½①",
    "жЖЁё",
    "中文字",
    "עברית",
    "\U00010400\U00010428\U0001e900",
    "0123",
    "<>/&",
    "\"'\\/",
    "\0\x1f\x7f\ufeff\ufffe\U0010ffff",
)
_RANGES = (
    *((0x20, 0x7F), (0xA0, 0x250), (0x250, 0x800), (0x800, 0x2000), (0x2000, 0x3000), (0xA640, 0xABFF)),
    *((0xAC00, 0xD7FF), (0xF900, 0xFFFF), (0x10000, 0x12000), (0x1D000, 0x1FBFF), (0, 0xD800), (0xE000, 0x110000)),
)


def characters(chance: Chance, count: int) -> str:
    """So many code points, none a surrogate: of one or two small alphabets, or of all of Unicode."""
    kind = chance.random()
    if kind < 0.6:
        alphabet = chance.pick(_ALPHABETS)
    elif kind < 0.85:
        alphabet = chance.pick(_ALPHABETS) + chance.pick(_ALPHABETS)
    else:
        return "".join([_any(chance) for _ in range(count)])
    return "".join([chance.pick(alphabet) for _ in range(count)])


def _any(chance: Chance) -> str:
    start, end = chance.pick(_RANGES)
    return chr(start + chance.below(end - start))
