"""Our grammars for engines without a lexer: the Lark text that `lark.py` and its callers write, read back.

Only what they write is known here; anything else is refused, so that nothing is taken to mean what it does not. A
terminal is a regular language; `&` and `~` in it are worked out here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evalspan.orchestrator.engines.regex_reader import read_regex
from evalspan.orchestrator.engines.regular import (
    ALL,
    ANY_TEXT,
    EMPTY,
    Both,
    Chars,
    Complement,
    Concat,
    Either,
    Regular,
    Repeat,
    Without,
    literal,
    literal_text,
)
from evalspan.orchestrator.errors import GrammarError

__all__ = ["Choice", "Json", "Mark", "Name", "Part", "Production", "Sequence", "Times", "read_productions"]


@dataclass(frozen=True, slots=True)
class Part:
    """A text of a regular language."""

    language: Regular


@dataclass(frozen=True, slots=True)
class Mark:
    """A token by its id."""

    token: int


@dataclass(frozen=True, slots=True)
class Name:
    """What a rule stands for."""

    name: str


@dataclass(frozen=True, slots=True)
class Json:
    """A JSON value; `schema` is the text of the schema, with the engine's options in it."""

    schema: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """The items in order."""

    items: tuple[Production, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the items."""

    items: tuple[Production, ...]


@dataclass(frozen=True, slots=True)
class Times:
    """The item from `least` to `most` times; without end where `most` is None."""

    item: Production
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class _Intersection:
    """What is in every item; only in terminals."""

    items: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Negation:
    """What is not in the item; only in intersections."""

    item: Any


Production = Part | Mark | Name | Json | Sequence | Choice | Times
"""The right side of a rule."""

_OPTIONS = ("no_forcing",)  # what a mask allows is the same without forcing

# No alternative can match where another has, so nothing is tried twice.
_TOKENS = re.compile(
    r"""
    (?P<space> [ \t\r]+ )
  | (?P<string> "(?: [^"\\\n] | \\[^\n] )*" )
  | (?P<regex> /(?: [^/\\\n] | \\[^\n] )+/ )
  | (?P<mark> <\[ [0-9]+ \]> )
  | (?P<name> _? [A-Za-z][A-Za-z0-9_]* )
  | (?P<number> [0-9]+ )
  | (?P<operator> \.\. | %json\b | [:|&~(){}*+?,] )
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str


def read_productions(lark: str) -> dict[str, Production]:
    """The rules of a grammar, by their names; it begins at `start`.

    Raises:
        GrammarError: it has something that cannot be followed without llguidance's lexer.
    """
    bodies: dict[str, list[_Token]] = {}
    last: list[_Token] = []
    for line in lark.split("\n"):
        if line.startswith("%"):
            _check_directive(line)
            continue
        tokens = _tokens(line)
        if not tokens:
            continue
        if tokens[0].text == "|":
            last += tokens
            continue
        if len(tokens) < 2 or tokens[0].kind != "name" or tokens[1].text != ":":
            raise _refused(line)
        last = bodies[tokens[0].text] = tokens[2:]
    patterns: dict[str, Regular] = {}
    raw = {name: _Reader(tokens, patterns).read() for name, tokens in bodies.items()}
    return _Terminals(raw).rules()


def _refused(what: str) -> GrammarError:
    return GrammarError(f"the grammar engine xgrammar cannot follow {what.strip()[:120]!r}: use llguidance")


def _check_directive(line: str) -> None:
    word, _, rest = line.partition(" ")
    if word != "%llguidance" or any(key not in _OPTIONS for key in json.loads(rest or "{}")):
        raise _refused(line)


def _tokens(line: str) -> list[_Token]:
    tokens, at = [], 0
    while at < len(line):
        found = _TOKENS.match(line, at)
        if found is None:
            raise _refused(line[at:])
        at = found.end()
        if found.lastgroup == "operator" and found[0] == "%json":
            start = at + len(line[at:]) - len(line[at:].lstrip())
            _, at = json.JSONDecoder().raw_decode(line, start)
            tokens.append(_Token("json", line[start:at]))
        elif found.lastgroup != "space":
            tokens.append(_Token(str(found.lastgroup), found[0]))
    return tokens


class _Reader:
    """Reads the right side of a statement. `patterns` keeps what was read: the same stand in many terminals."""

    def __init__(self, tokens: list[_Token], patterns: dict[str, Regular]) -> None:
        self._rest = tokens[::-1]
        self._patterns = patterns
        self._atoms: dict[str, Callable[[str], Any]] = {
            "string": lambda text: Part(literal(json.loads(text))),
            "regex": lambda text: Part(self._language(text[1:-1])),
            "mark": lambda text: Mark(int(text[2:-2])),
            "name": Name,
            "json": Json,
        }

    def read(self) -> Any:
        found = self._choice()
        if self._rest:
            raise _refused(self._rest[-1].text)
        return found

    def _peek(self) -> str:
        token = self._rest[-1] if self._rest else None
        return token.text if token is not None and token.kind == "operator" else ""

    def _take(self, text: str) -> bool:
        if self._peek() != text:
            return False
        self._rest.pop()
        return True

    def _choice(self) -> Any:
        items = [self._sequence()]
        while self._take("|"):
            items.append(self._sequence())
        return items[0] if len(items) == 1 else Choice(tuple(items))

    def _sequence(self) -> Any:
        items: list[Any] = []
        while self._rest and self._peek() not in ("|", ")", "&"):
            items.append(self._item())
        if self._peek() != "&":
            return items[0] if len(items) == 1 else Sequence(tuple(items))
        if len(items) != 1:  # which of the two binds closer is not for us to say
            raise _refused("& beside other items")
        while self._take("&"):
            items.append(_Negation(self._item()) if self._take("~") else self._item())
        if self._rest and self._peek() not in ("|", ")"):
            raise _refused("& beside other items")
        return _Intersection(tuple(items))

    def _item(self) -> Any:
        item = self._atom()
        while self._peek() in ("*", "+", "?", "{"):
            operator = self._rest.pop().text
            if operator == "{":
                least, most = self._count()
            else:
                least, most = int(operator == "+"), 1 if operator == "?" else None
            item = Times(item, least, most)
        return item

    def _count(self) -> tuple[int, int | None]:
        least = self._number()
        most: int | None = least
        if self._take(","):
            most = None if self._peek() == "}" else self._number()
        if not self._take("}"):
            raise _refused("a count")
        return least, most

    def _number(self) -> int:
        if not self._rest or self._rest[-1].kind != "number":
            raise _refused("a count")
        return int(self._rest.pop().text)

    def _atom(self) -> Any:
        if self._take("("):
            found = self._choice()
            if not self._take(")"):
                raise _refused("a group without an end")
            return found
        token = self._rest.pop()
        if token.kind not in self._atoms:
            raise _refused(token.text)
        first = self._atoms[token.kind](token.text)
        if not self._take(".."):
            return first
        last = self._atoms["string"](self._rest.pop().text) if self._rest and self._rest[-1].kind == "string" else None
        low, high = literal_text(first.language) if isinstance(first, Part) else None, None
        high = literal_text(last.language) if last is not None else None
        if low is None or high is None or len(low) != 1 or len(high) != 1 or low > high:
            raise _refused(f"{token.text}..")
        return Part(self._language(f"[\\x{{{ord(low):X}}}-\\x{{{ord(high):X}}}]"))

    def _language(self, pattern: str) -> Regular:
        if pattern not in self._patterns:
            try:
                self._patterns[pattern] = read_regex(pattern)
            except ValueError as error:
                raise GrammarError(f"the grammar engine xgrammar cannot follow {error}: use llguidance") from None
        return self._patterns[pattern]


class _Terminals:
    """Puts the languages of terminals where their names stand."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self._raw = raw
        self._open: set[str] = set()
        self._known: dict[str, Regular] = {}
        self._others: dict[int, tuple[Regular, Regular]] = {}
        """By the identity of a language, it and its complement: that of all tags stands in most terminals."""

    def rules(self) -> dict[str, Production]:
        return {name: self._rule(body) for name, body in self._raw.items() if not _is_terminal(name)}

    def _rule(self, body: Any) -> Production:
        if isinstance(body, Name):
            if not _is_terminal(body.name):
                if body.name not in self._raw:
                    raise _refused(f"the rule {body.name}")
                return body
            return _parts(self._named(body.name))
        if isinstance(body, Sequence | Choice):
            return type(body)(tuple(map(self._rule, body.items)))
        if isinstance(body, Times):
            return Times(self._rule(body.item), body.least, body.most)
        if isinstance(body, _Intersection | _Negation):
            return _parts(self._regular(body))
        return body  # type: ignore[no-any-return]

    def _named(self, name: str) -> Regular:
        if name not in self._known:
            if name not in self._raw or name in self._open:
                raise _refused(f"the terminal {name}")
            self._open.add(name)
            self._known[name] = self._regular(self._raw[name])
            self._open.discard(name)
        return self._known[name]

    def _regular(self, body: Any) -> Regular:
        if isinstance(body, Part):
            return body.language
        if isinstance(body, Name) and _is_terminal(body.name):
            return self._named(body.name)
        if isinstance(body, Sequence):
            items = [self._regular(item) for item in body.items]
            flat = (each for item in items for each in (item.items if isinstance(item, Concat) else (item,)))
            return Concat(tuple(flat))
        if isinstance(body, Choice):
            return Either(tuple(map(self._regular, body.items)))
        if isinstance(body, Times):
            return Repeat(self._regular(body.item), body.least, body.most)
        if isinstance(body, _Intersection):
            return Both(tuple(map(self._regular, body.items)))
        if isinstance(body, _Negation):
            inner = self._regular(body.item)
            if id(inner) not in self._others:
                self._others[id(inner)] = inner, _forbidden(inner) or Complement(inner)
            return self._others[id(inner)][1]
        raise _refused("a rule in a terminal")


def _is_terminal(name: str) -> bool:
    return name.lstrip("_")[:1].isupper()


def _forbidden(inner: Regular) -> Without | None:
    """The complement, where the expression is: any text, one of some strings, any text (which may have to be some)."""
    if not isinstance(inner, Concat) or len(inner.items) < 3:
        return None
    first, *middle, last = inner.items
    if first != ANY_TEXT or last not in (ANY_TEXT, Repeat(ALL, 1, None)):
        return None
    only = middle[0] if len(middle) == 1 else Concat(tuple(middle))
    strings = [literal_text(item) for item in (only.items if isinstance(only, Either) else (only,))]
    if None in strings:
        return None
    return Without(tuple(text for text in strings if text is not None), at_end=last != ANY_TEXT)


def _parts(language: Regular) -> Production:
    """A terminal as the parts that stand side by side in it, so that terminals share those that are the same."""
    if not isinstance(language, Concat):
        return Part(language)
    items: list[Production] = []
    text: list[Regular] = []
    for item in language.items:
        if isinstance(item, Chars) and literal_text(item) is not None:
            text.append(item)
            continue
        if text:
            items.append(Part(Concat(tuple(text))))
            text = []
        items.append(Part(item))
    if text or not items:
        items.append(Part(Concat(tuple(text)) if text else EMPTY))
    return items[0] if len(items) == 1 else Sequence(tuple(items))
