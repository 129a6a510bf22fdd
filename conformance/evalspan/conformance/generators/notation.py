"""The notation of grammars: rules of literals, sets of characters and other rules, as text.

    // a comment
    start: term (("+" | "-") term)*
    term: digit+ | "(" start ")"
    digit: /[0-9]/

A rule begins at the start of a line and may go on over the next ones. Literals have JSON's escapes; a set of characters
stands between `/[` and `]/`, with ranges and with `\\` before `]`, `-` and itself. `( )`, `|`, `?`, `*` and `+` are as
usual. The rule `start` is where a derivation begins. An alternative may be empty.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from evalspan.policies import EvalspanError

__all__ = ["Alternative", "Grammar", "GrammarNotationError", "Item", "Repeat", "parse"]

_TOKEN = re.compile(
    r'\s+|//[^\n]*|(?P<rule>^[a-z_][a-z0-9_]*:)|"(?:[^"\\\n]|\\.)*"|/\[(?:[^\]\\\n]|\\.)+\]/|\w+|[()|?*+]', re.M
)
"""One token; what is none is an error. Grammars are files of the user's own, not input of a model."""


class GrammarNotationError(EvalspanError):
    """A grammar that cannot be read; the text names the file, the line and what would be right."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """`item` any number of times; `none` and `some` are the productions of the two ways."""

    item: Item
    least: int
    none: int
    some: int


Item = bytes | tuple[bytes, ...] | int | Repeat
"""What an alternative is made of: a literal, a set of characters, the index of a rule, or a repetition."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to derive a rule. `height` is the least number of rules below it until all is literal."""

    production: int
    items: tuple[Item, ...]
    height: int


@dataclass(frozen=True, slots=True)
class Grammar:
    """Rules by index, of which the first is `start`, and the names of all productions."""

    rules: tuple[tuple[Alternative, ...], ...]
    productions: tuple[str, ...]


def parse(text: str, source: str) -> Grammar:
    """The grammar in `text`; `source` names it in messages.

    Raises:
        GrammarNotationError: it is no grammar, names a rule that is not there, or a rule has no end.
    """
    return _Parser(text, source).grammar()


class _Parser:
    """Reads the tokens; groups become rules of their own, named after the rule that they stand in."""

    def __init__(self, text: str, source: str) -> None:
        self._text = text
        self._source = source
        self._tokens = list(self._scan())
        self._at = 0
        self._indices: dict[str, int] = {"start": 0}
        self._rules: dict[int, list[tuple[int, tuple[Item, ...]]]] = {}
        self._productions: list[str] = []
        self._used: dict[str, int] = {}
        self._rule = ""
        self._groups = 0

    def grammar(self) -> Grammar:
        while self._at < len(self._tokens):
            kind, word, line = self._next()
            if kind != "rule":
                raise self._error(line, f"expected `name:` at the start of a line, found {word!r}")
            self._rule, self._groups = word[:-1], 0
            index = self._index(self._rule)
            if index in self._rules:
                raise self._error(line, f"the rule {self._rule} is there twice")
            self._rules[index] = self._alternatives(self._rule)
        for name, line in self._used.items():
            if self._indices[name] not in self._rules:
                raise self._error(line, f"there is no rule {name}")
        if 0 not in self._rules:
            raise self._error(1, "there is no rule start")
        heights = self._heights()
        rules = tuple(
            tuple(Alternative(production, items, _height(items, heights)) for production, items in self._rules[index])
            for index in sorted(self._rules)
        )
        return Grammar(rules, tuple(self._productions))

    def _scan(self) -> list[tuple[str, str, int]]:
        tokens, at = [], 0
        while at < len(self._text):
            match = _TOKEN.match(self._text, at)
            line = self._text.count("\n", 0, at) + 1
            if match is None:
                raise self._error(line, f"{self._text[at : at + 10]!r} is no token of a grammar")
            word = match.group()
            if not word.isspace() and not word.startswith("//"):
                tokens.append(("rule" if match["rule"] else "token", word, line))
            at = match.end()
        return tokens

    def _peek(self) -> str:
        if self._at == len(self._tokens) or self._tokens[self._at][0] == "rule":
            return ""
        return self._tokens[self._at][1]

    def _next(self) -> tuple[str, str, int]:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _alternatives(self, name: str) -> list[tuple[int, tuple[Item, ...]]]:
        found = []
        while True:
            items: list[Item] = []
            start = self._at
            while self._peek() not in ("", "|", ")"):
                items.append(self._item())
            words = " ".join(word for _, word, _ in self._tokens[start : self._at]) or "(empty)"
            found.append((self._production(f"{name}: {words}"), tuple(items)))
            if self._peek() != "|":
                return found
            self._next()

    def _item(self) -> Item:
        _, word, line = self._next()
        item: Item
        if word.startswith('"'):
            try:
                item = json.loads(word).encode()
            except ValueError:
                raise self._error(line, f"{word} has an escape that JSON has not") from None
        elif word.startswith("/["):
            item = self._set(word[2:-2], line)
        elif word == "(":
            self._groups += 1
            name = f"{self._rule}.{self._groups}"
            index = self._index(name)
            self._rules[index] = self._alternatives(name)
            if self._peek() != ")":
                raise self._error(line, "a group has no closing parenthesis")
            self._next()
            item = index
        elif word[0].isalpha() or word[0] == "_":
            item = self._index(word)
            self._used.setdefault(word, line)
        else:
            raise self._error(line, f"{word!r} repeats nothing")
        if (mark := self._peek()) in ("?", "*", "+") and mark:
            self._next()
            return self._repeated(item, mark)
        return item

    def _repeated(self, item: Item, mark: str) -> Item:
        self._groups += 1
        name = f"{self._rule}.{self._groups}{mark}"
        if mark == "?":
            index = self._index(name)
            self._rules[index] = [
                (self._production(f"{name} absent"), ()),
                (self._production(f"{name} there"), (item,)),
            ]
            return index
        fewest = 0 if mark == "*" else 1
        few, more = ("none", "some") if mark == "*" else ("one", "more")
        return Repeat(item, fewest, self._production(f"{name} {few}"), self._production(f"{name} {more}"))

    def _set(self, body: str, line: int) -> tuple[bytes, ...]:
        marks = re.findall(r"\\.|.", body, re.DOTALL)
        characters: list[str] = []
        at = 0
        while at < len(marks):
            first = marks[at][-1]
            if at + 2 < len(marks) and marks[at + 1] == "-":
                last = marks[at + 2][-1]
                if last < first:
                    raise self._error(line, f"the range {first}-{last} is empty")
                characters += (chr(code) for code in range(ord(first), ord(last) + 1))
                at += 3
            else:
                characters.append(first)
                at += 1
        return tuple(one.encode("utf-8", "surrogatepass") for one in characters)

    def _production(self, name: str) -> int:
        self._productions.append(name)
        return len(self._productions) - 1

    def _index(self, name: str) -> int:
        return self._indices.setdefault(name, len(self._indices))

    def _heights(self) -> dict[int, int]:
        """The least height of each rule, by going over the rules until nothing changes."""
        heights: dict[int, int] = {}
        while True:
            before = len(heights)
            for index, alternatives in self._rules.items():
                known = [_height(items, heights) for _, items in alternatives if _ends(items, heights)]
                if index not in heights and known:
                    heights[index] = 1 + min(known)
            if len(heights) == len(self._rules):
                return heights
            if len(heights) == before:
                name = next(name for name, index in self._indices.items() if index not in heights)
                raise self._error(1, f"the rule {name} never ends: each of its alternatives needs itself")

    def _error(self, line: int, message: str) -> GrammarNotationError:
        return GrammarNotationError(f"{self._source}, line {line}: {message}")


def _ends(items: tuple[Item, ...], heights: dict[int, int]) -> bool:
    return all(_known(item, heights) for item in items)


def _known(item: Item, heights: dict[int, int]) -> bool:
    if isinstance(item, Repeat):
        return item.least == 0 or _known(item.item, heights)
    return not isinstance(item, int) or item in heights


def _height(items: tuple[Item, ...], heights: dict[int, int]) -> int:
    height = 0
    for item in items:
        inner = item.item if isinstance(item, Repeat) and item.least else item
        if isinstance(inner, int):
            height = max(height, heights[inner])
    return height
