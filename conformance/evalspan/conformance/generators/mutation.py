"""Broken inputs: bytes with a few things wrong."""

from __future__ import annotations

from collections.abc import Sequence

from evalspan.conformance.generators.chance import Chance
from evalspan.conformance.generators.tokens import tokens

__all__ = ["BYTES", "mutated", "noise", "spliced", "stretched"]

BYTES = (
    *(b" ", b"\t", b"\r\n", b"\n", b"\0", b"\x0b", b"\x1f", b"\x7f", b"\\", b'"', b"'", b"(", b")", b",", b"-", b"."),
    *(b"\x80", b"\xc3", b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xe2\x88", b"\xf0\x9f\x98", b"\xf4\x90\x80\x80"),
    *(one.encode() for one in "\x85\u00a0\u2028\u2212\uff11\u0661\u00b2é×\ufeff😀"),
    *(b"\\u", b"\\u00", b"\\ud83d", b"\\ude00", b"\\x", b"<result>", b"</calc>"),
)
"""Pieces that are wrong, or nearly, in any operator: control characters, bytes that are not UTF-8, foreign digits."""


def mutated(data: bytes, chance: Chance, fragments: Sequence[bytes]) -> bytes:
    """`data` with one to three edits; `fragments` are tokens of the operator."""
    raw = bytearray(data)
    for _ in range(chance.size(3)):
        at = chance.below(len(raw) + 1)
        kind = chance.below(8)
        end = min(len(raw), at + chance.size(12))
        if kind <= 1:
            raw[at:at] = chance.pick(fragments)
        elif kind == 2:
            raw[at:end] = chance.pick(fragments)
        elif kind == 3:
            raw[at : at + chance.below(2)] = chance.pick(BYTES)
        elif kind == 4:
            del raw[at:end]
        elif kind == 5:
            raw[at:at] = raw[at:end] * chance.size(4)
        elif kind == 6:
            start = chance.below(len(raw) + 1)
            piece = raw[start : start + chance.size(12)]
            raw[at:end] = piece
        elif chance.one_in(2):
            del raw[at:]
        elif at < len(raw):
            raw[at] = chance.below(256)
    return bytes(raw)


def noise(chance: Chance, fragments: Sequence[bytes]) -> bytes:
    """Tokens and wrong bytes in any order, or bytes of any kind."""
    if chance.one_in(4):
        return bytes(chance.below(256) for _ in range(chance.size(24)))
    return b"".join(chance.pick(BYTES if chance.one_in(4) else fragments) for _ in range(chance.size(16)))


def spliced(data: bytes, other: bytes, chance: Chance) -> bytes:
    """Tokens of `data` with a run of them replaced by a run of tokens of `other`, or one followed by the other."""
    left, right = tokens(data), tokens(other)
    if not left or not right:
        return data + other
    start, end = chance.below(len(left) + 1), chance.below(len(left) + 1)
    first, last = chance.below(len(right)), chance.size(len(right))
    if chance.one_in(3):
        return b"".join(left[:start] + right[first:])
    low, high = min(start, end), max(start, end)
    return b"".join(left[:low] + right[first : first + last] + left[high:])


def stretched(data: bytes, chance: Chance, most: int) -> bytes:
    """`data` with a run of its tokens repeated, up to `most` bytes: where work grows faster than the input it shows."""
    pieces = tokens(data)
    if not pieces:
        return data
    start = chance.below(len(pieces))
    run = pieces[start : start + chance.size(6)]
    unit = b"".join(run)
    room = max(0, most - len(data)) // len(unit)
    times = room if chance.one_in(3) else chance.size(max(1, room))
    closing = b"".join(_CLOSING.get(piece, b"") for piece in reversed(run)) if chance.one_in(2) else b""
    if closing:
        times = min(times, max(0, most - len(data)) // (len(unit) + len(closing)))
    head, tail = b"".join(pieces[:start]), b"".join(pieces[start + len(run) :])
    return head + unit * (times + 1) + tail + closing * times


_CLOSING = {b"(": b")", b"[": b"]", b"{": b"}"}
