"""Regular expressions in llguidance's dialect (Rust's) as expressions of characters.

A class with anything but single characters and ranges is asked of llguidance itself, so that both engines have the
same tables of Unicode. What has another meaning in the middle of a text, such as an anchor, is refused.
"""

from __future__ import annotations

from functools import lru_cache

import llguidance.numpy as bitmask
import numpy as np
from llguidance import LLMatcher

from evalspan.orchestrator.engines.regular import (
    ALL,
    ANY_TEXT,
    Chars,
    Concat,
    Either,
    Ranges,
    Regular,
    Repeat,
    character_ranges,
    inverted,
)
from evalspan.policies.byte_vocabulary import END, byte_tokenizer

__all__ = ["read_pattern", "read_regex"]

_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "a": "\a", "0": "\0"}
_MAX_COUNT = 10_000  # a count is written out
_NOT_NEWLINE = Chars(inverted(((10, 10),)))


def read_regex(pattern: str) -> Regular:
    """The language of a pattern.

    Raises:
        ValueError: it has something that is not known here; the text says what.
    """
    return _Reader(pattern).read()


def read_pattern(pattern: str) -> Regular:
    """The texts in which a pattern can be found; it may have anchors where one of its alternatives begins or ends.

    Raises:
        ValueError: as `read_regex`.
    """
    found = _Reader(pattern, anchors=True).read()
    items = []
    for item in found.items if isinstance(found, Either) else (found,):
        parts = item.items if isinstance(item, Concat) else (item,)
        starts, ends = parts[:1] == (_START,), parts[-1:] == (_STOP,)
        inner = parts[starts : len(parts) - ends]
        if _anchored(Concat(inner)):
            raise ValueError(f"{pattern!r} has an anchor inside")
        items.append(Concat((*(() if starts else (ANY_TEXT,)), *inner, *(() if ends else (ANY_TEXT,)))))
    return items[0] if len(items) == 1 else Either(tuple(items))


# Characters that are none; only `read_pattern` meets them.
_START, _STOP = Chars(((-1, -1),)), Chars(((-2, -2),))


def _anchored(item: Regular) -> bool:
    if isinstance(item, Concat | Either):
        return any(map(_anchored, item.items))
    return _anchored(item.item) if isinstance(item, Repeat) else item in (_START, _STOP)


class _Reader:
    def __init__(self, text: str, *, anchors: bool = False) -> None:
        self._text = text
        self._at = 0
        self._dot_is_all = False
        self._anchors = anchors

    def read(self) -> Regular:
        found = self._either()
        if self._at < len(self._text):
            raise ValueError(f"{self._text!r} has a ) too many")
        return found

    def _peek(self, size: int = 1) -> str:
        return self._text[self._at : self._at + size]

    def _next(self) -> str:
        char = self._peek()
        if not char:
            raise ValueError(f"{self._text!r} ends too early")
        self._at += 1
        return char

    def _either(self) -> Regular:
        items = [self._concat()]
        while self._peek() == "|":
            self._at += 1
            items.append(self._concat())
        return items[0] if len(items) == 1 else Either(tuple(items))

    def _concat(self) -> Regular:
        items: list[Regular] = []
        while (char := self._peek()) and char not in "|)":
            item = self._counted(self._atom())
            items += item.items if isinstance(item, Concat) else [item]
        return items[0] if len(items) == 1 else Concat(tuple(items))

    def _counted(self, item: Regular) -> Regular:
        counts: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        while (char := self._peek()) and char in "*+?{":
            self._at += 1
            least, most = self._count() if char == "{" else counts[char]
            if self._peek() == "?":  # the shortest first: the texts are the same
                self._at += 1
            item = Repeat(item, least, most)
        return item

    def _count(self) -> tuple[int, int | None]:
        end = self._text.find("}", self._at)
        low, comma, high = self._text[self._at : max(end, self._at)].partition(",")
        if not _is_number(low) or (high and not _is_number(high)):
            raise ValueError(f"{self._text!r} has a brace that is no count")
        self._at = end + 1
        least, most = int(low), int(high) if high else None if comma else int(low)
        if max(least, most or 0) > _MAX_COUNT or (most is not None and most < least):
            raise ValueError(f"{self._text!r} has a count that is over {_MAX_COUNT} or out of order")
        return least, most

    def _atom(self) -> Regular:
        char = self._next()
        if char == "(":
            return self._group()
        if char == "[":
            return self._set()
        if char == "\\":
            return self._escape()
        if char == ".":
            return ALL if self._dot_is_all else _NOT_NEWLINE
        if char in "^$":
            if self._anchors:
                return _START if char == "^" else _STOP
            raise ValueError(f"{self._text!r} has the anchor {char}")
        if char in "*+?{":
            raise ValueError(f"{self._text!r} repeats nothing")
        return _single(char)

    def _group(self) -> Regular:
        outside = self._dot_is_all
        for opening, dot_is_all in (("?:", outside), ("?s:", True), ("?-s:", False)):
            if self._peek(len(opening)) == opening:
                self._at += len(opening)
                self._dot_is_all = dot_is_all
                break
        else:
            if self._peek() == "?":
                raise ValueError(f"{self._text!r} has a group with flags, a name or a look around")
        found = self._either()
        if self._next() != ")":
            raise ValueError(f"{self._text!r} has a ( too many")
        self._dot_is_all = outside
        return found

    def _escape(self) -> Regular:
        start = self._at - 1
        char = self._single_escape()
        if char is not None:
            return _single(char)
        kind = self._next()
        if kind in "pP":
            if self._next() == "{":
                self._at = self._text.find("}", self._at) + 1
        elif kind not in "dDsSwW":
            raise ValueError(f"{self._text!r} has the escape \\{kind}")
        return Chars(_characters(self._text[start : self._at]))

    def _single_escape(self) -> str | None:
        """What follows a backslash, if it is one character; else nothing is read."""
        char = self._peek()
        if char in "xuU":
            self._at += 1
            if self._peek() == "{":
                end = self._text.find("}", self._at)
                digits, self._at = self._text[self._at + 1 : end], end + 1
            else:
                size = {"x": 2, "u": 4, "U": 8}[char]
                digits = self._peek(size)
                self._at += size
            return chr(int(digits, 16))
        if char in _CONTROLS:
            self._at += 1
            return _CONTROLS[char]
        if char and not char.isalnum():
            return self._next()
        return None

    def _set(self) -> Regular:
        start = self._at - 1
        negated = self._peek() == "^"
        self._at += negated
        ranges: list[tuple[int, int]] = []
        first = True
        while (char := self._next()) != "]" or first:
            first = False
            single = self._single_escape() if char == "\\" else char
            if single is None or char == "[" or (char in "&-~" and self._peek() == char):
                self._at = start + 1
                return Chars(_characters(self._skip_set(start)))
            if self._peek() == "-" and self._peek(2) != "-]" and self._peek(2) != "--":
                self._at += 1
                last = self._next()
                high = self._single_escape() if last == "\\" else last
                if high is None or last == "[" or high < single:
                    raise ValueError(f"{self._text!r} has a range that is out of order")
                ranges.append((ord(single), ord(high)))
            else:
                ranges.append((ord(single), ord(single)))
        found = character_ranges(ranges)
        # Twice: without the surrogates, which a range may span.
        return Chars(inverted(found) if negated else inverted(inverted(found)))

    def _skip_set(self, start: int) -> str:
        """The text of a class, whatever it holds."""
        depth = 1
        self._at = start + 1 + (self._peek() == "^")
        if self._peek() == "]":
            self._at += 1
        while depth:
            char = self._next()
            if char == "\\":
                self._next()
            depth += (char == "[") - (char == "]")
        return self._text[start : self._at]


def _single(char: str) -> Chars:
    return Chars(((ord(char), ord(char)),))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 9


@lru_cache(maxsize=64)
def _characters(atom: str) -> Ranges:
    """The characters that match an atom of one character, by walking through all of UTF-8 under it."""
    matcher = LLMatcher(byte_tokenizer(), LLMatcher.grammar_from_regex(atom), log_level=0)
    if matcher.is_error():
        raise ValueError(f"{atom!r} is no class of characters: {matcher.get_error().strip().splitlines()[0]}")
    bits = bitmask.allocate_token_bitmask(1, END + 1)
    found: list[tuple[int, int]] = []

    def meet(code: int) -> None:
        if found and found[-1][1] == code - 1:
            found[-1] = (found[-1][0], code)
        else:
            found.append((code, code))

    def walk(code: int, left: int) -> None:
        """Go through the bytes that may follow; `left` of the character's are still to come, 0 before its first."""
        bitmask.fill_next_token_bitmask(matcher, bits)
        allowed = np.flatnonzero(np.unpackbits(bits[0].view(np.uint8), bitorder="little")[:END]).tolist()
        for byte in allowed:
            if left == 0:
                following = 0 if byte < 0x80 else 1 if byte < 0xE0 else 2 if byte < 0xF0 else 3
                value = byte & (0x3F >> following) if following else byte
            else:
                following, value = left - 1, code << 6 | byte & 0x3F
            if not following:
                meet(value)
                continue
            matcher.consume_token(byte)
            walk(value, following)
            matcher.rollback(1)

    walk(0, 0)
    return tuple(found)
