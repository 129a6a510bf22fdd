"""From the regular expressions of JSON Schema (ECMA-262) to those of the grammar engine, which differ in meaning.

What has the same spelling and another meaning is spelt out: classes, the dot, escapes. What the engine cannot match
in linear time, such as look-around, is refused.
"""

from __future__ import annotations

__all__ = ["MAX_COUNT", "engine_pattern"]

MAX_COUNT = 1_000_000
"""The largest count in a schema: more than any generation has, and far from where the engine's counters end."""

_SPACE = r"\t\n\x0B\x0C\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}"
_CLASSES = {"d": "0-9", "w": "0-9A-Za-z_", "s": _SPACE}
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\0"}
_ANY = r"[^\n\r\x{2028}\x{2029}]"


def engine_pattern(pattern: str) -> str:
    """The pattern in the engine's dialect.

    Raises:
        ValueError: it is no regular expression, or one that cannot be matched in linear time; the text says why.
    """
    return _Reader(pattern).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def read(self) -> str:
        out = []
        while self._at < len(self._text):
            char = self._next()
            if char == "\\":
                single, inner = self._escape()
                out.append(_literal(single) if single is not None else f"[{inner}]")
            elif char == ".":
                out.append(_ANY)
            elif char == "[":
                out.append(self._set())
            elif char == "(":
                if self._peek() == "?" and self._text[self._at : self._at + 2] != "?:":
                    raise ValueError("of the groups with (? only (?: can be matched in linear time")
                out.append(char)
            elif char == "{":
                out.append(self._count())
            elif char in "^$*+?|)":
                out.append(char)
            elif char == ":" and out and out[-1] == "?":
                out.append(char)  # the rest of (?:
            else:
                out.append(_literal(char))
        return "".join(out)

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _next(self) -> str:
        char = self._peek()
        if not char:
            raise ValueError("it ends too early")
        self._at += 1
        return char

    def _count(self) -> str:
        """What follows a brace: a count, or else the brace is a character."""
        end = self._text.find("}", self._at)
        low, comma, high = self._text[self._at : max(end, self._at)].partition(",")
        if end < 0 or not _digits(low) or (high and not _digits(high)):
            return _literal("{")
        for number in (low, high):
            if number and (len(number) > 9 or int(number) > MAX_COUNT):
                raise ValueError(f"a count in it is over {MAX_COUNT}")
        if high and int(low) > int(high):
            raise ValueError(f"its count {{{low},{high}}} is out of order")
        self._at = end + 1
        return f"{{{low}{comma}{high}}}"

    def _escape(self) -> tuple[str | None, str]:
        """What follows a backslash: one character, or the inside of a class."""
        char = self._next()
        if char.lower() in _CLASSES:
            inner = _CLASSES[char.lower()]
            return None, inner if char.islower() else f"[^{inner}]"
        if char in _CONTROLS:
            if char == "0" and self._peek().isdigit():
                raise ValueError("an octal escape is not ECMA-262")
            return _CONTROLS[char], ""
        if char == "x":
            return self._code(2), ""
        if char == "u":
            if self._peek() != "{":
                return self._code(4), ""
            end = self._text.find("}", self._at)
            return self._code(max(end - self._at - 1, 0), braces=1), ""
        if char in "pP" and self._peek() == "{":
            end = self._text.find("}", self._at)
            name = self._text[self._at + 1 : max(end, 0)]
            if not name or not all(c.isascii() and (c.isalnum() or c in "_=") for c in name):
                raise ValueError(f"\\{char} names no property")
            self._at = end + 1
            return None, f"\\{char}{{{name}}}"
        if char.isascii() and char.isalnum():
            raise ValueError(f"\\{char} cannot be matched in linear time, or is unknown")
        return char, ""

    def _code(self, size: int, braces: int = 0) -> str:
        digits = self._text[self._at + braces : self._at + braces + size]
        if not 1 <= len(digits) <= 6 or len(digits) < size or not all(c in "0123456789abcdefABCDEF" for c in digits):
            raise ValueError("an escape by code point has the wrong digits")
        code = int(digits, 16)
        if code > 0x10FFFF or 0xD800 <= code < 0xE000:
            raise ValueError(f"U+{code:04X} is no character")
        self._at += size + 2 * braces
        return chr(code)

    def _set(self) -> str:
        """What follows an opening bracket; a bracket or && inside is a character, unlike in the engine's dialect."""
        negated = self._peek() == "^"
        self._at += negated
        items: list[tuple[str | None, str]] = []
        while (char := self._next()) != "]":
            if char == "\\" and self._peek() == "b":
                self._at += 1
                items.append(("\b", ""))
            elif char == "\\":
                items.append(self._escape())
            else:
                items.append((char, "-" if char == "-" else ""))
        if not items:
            if negated:
                return "(?s:.)"
            raise ValueError("an empty class matches nothing")
        out, at = [], 0
        while at < len(items):
            single, inner = items[at]
            ranged = at + 2 < len(items) and items[at + 1] == ("-", "-")
            if ranged:
                last = items[at + 2][0]
                if single is None or last is None:
                    raise ValueError("a class cannot be the end of a range")
                if single > last:
                    raise ValueError(f"the range {single}-{last} is out of order")
                out.append(f"{_literal(single)}-{_literal(last)}")
                at += 3
            else:
                out.append(_literal(single) if single is not None else inner)
                at += 1
        return f"[{'^' if negated else ''}{''.join(out)}]"


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _literal(char: str) -> str:
    return char if char.isascii() and char.isalnum() else f"\\x{{{ord(char):X}}}"
