"""String literals: any text in quotes, with what must be escaped and more of it."""

from __future__ import annotations

from evalspan.conformance.generators.chance import Chance

__all__ = ["literal"]

_SHORT = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "/": "\\/"}
_CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
_NEEDED = {
    quote: {ord(quote): f"\\{quote}", ord("\\"): "\\\\"} | {code: f"\\u{code:04x}" for code in _CONTROLS}
    for quote in "\"'"
}
"""What must be escaped between these quotes."""


def literal(chance: Chance, text: str) -> str:
    """A literal of `text`, which has no lone surrogates, in one of the many ways to write it."""
    quote = '"' if chance.random() < 0.7 else "'"
    style = chance.random()
    needed = _NEEDED[quote]
    if style < 0.7:
        inside = text.translate(needed)
    elif style < 0.8:
        inside = _numbers(text)
    else:
        inside = "".join(_spelt(chance, one, needed) for one in text)
    return f"{quote}{inside}{quote}"


def _spelt(chance: Chance, one: str, needed: dict[int, str]) -> str:
    if chance.random() < 0.6:
        return needed.get(ord(one), one)
    return _SHORT[one] if one in _SHORT else _numbers(one)


def _numbers(text: str) -> str:
    """Every UTF-16 code unit as a number."""
    units = text.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
