"""Productions as xgrammar's EBNF.

Each state of an automaton is a rule that says by which characters the text goes on. Classes are written with what is
in them: xgrammar's own negated ones hold surrogates. Rules that no text can end from are left out, since xgrammar
would lead into them.
"""

from __future__ import annotations

from dataclasses import dataclass

from evalspan.orchestrator.engines.automata import Automaton, TooLarge, automaton
from evalspan.orchestrator.engines.json_values import JsonValues
from evalspan.orchestrator.engines.productions import (
    Choice,
    Json,
    Mark,
    Name,
    Part,
    Production,
    Sequence,
    Times,
)
from evalspan.orchestrator.engines.regular import EMPTY, Ranges, Regular, literal_text
from evalspan.orchestrator.errors import GrammarError

__all__ = ["write_ebnf"]

_MAX_RULES = 100_000
"""Of one grammar: xgrammar compiles these in some seconds."""

_MAX_UNFOLDED = 8  # rules in one another that are looked through for what alternatives have in common


@dataclass(frozen=True, slots=True)
class _Symbol:
    """A piece of a rule's body: its text, and the rules that it names, all of which are needed."""

    text: str
    rules: tuple[str, ...] = ()


_Body = list[list[_Symbol]]
"""Alternatives, each with its symbols in order."""


def write_ebnf(rules: dict[str, Production]) -> str:
    """The grammar in EBNF; it begins at `root`.

    Raises:
        GrammarError: it has no text, or is too large.
    """
    writer = _Writer(rules)
    try:
        return writer.write()
    except TooLarge:
        raise GrammarError("the grammar is too large for the grammar engine xgrammar: use llguidance") from None


class _Writer:
    def __init__(self, rules: dict[str, Production]) -> None:
        self._productions = dict(rules)
        self._bodies: dict[str, _Body] = {}
        self._known: dict[Production, _Symbol] = {}
        self._names: dict[str, str] = {}
        """Rules' names in EBNF, where not every character may stand in one."""

    def write(self) -> str:
        while waiting := [name for name in self._productions if self._rule_name(name) not in self._bodies]:
            for name in waiting:
                self._bodies[self._rule_name(name)] = self._alternatives(self._productions[name])
        start = self._rule_name("start")
        bodies = _pruned(self._bodies, start)
        lines = [f"root ::= {start}"]
        for name, body in bodies.items():
            alternatives = [" ".join(symbol.text for symbol in symbols) or '""' for symbols in body]
            lines.append(f"{name} ::= {' | '.join(dict.fromkeys(alternatives))}")
        return "\n".join(lines) + "\n"

    def _rule_name(self, name: str) -> str:
        return self._names.setdefault(name, f"r{len(self._names)}")

    def _new(self, body: _Body, prefix: str = "n") -> _Symbol:
        if len(self._bodies) >= _MAX_RULES:
            raise TooLarge
        name = f"{prefix}{len(self._bodies)}"
        self._bodies[name] = body
        return _Symbol(name, (name,))

    def _alternatives(self, production: Production) -> _Body:
        if not isinstance(production, Choice):
            return [self._symbols(production)]
        grouped: dict[Production | int, list[tuple[Production, ...]]] = {}
        for number, item in enumerate(production.items):
            items = self._unfolded(item)
            shared = items and isinstance(items[0], Part) and literal_text(items[0].language) is None
            grouped.setdefault(items[0] if shared else number, []).append(items)
        body: _Body = []
        for first, group in grouped.items():
            if isinstance(first, int) or len(group) == 1:
                body += [self._symbols(Sequence(items)) for items in group]
            else:
                rests = Choice(tuple(Sequence(items[1:]) for items in group))
                body.append(self._symbols(Sequence((first, rests))))
        return body

    def _unfolded(self, production: Production) -> tuple[Production, ...]:
        """The items of a sequence, what its first name stands for in its place."""
        items = [production]
        for _ in range(_MAX_UNFOLDED):
            first = items[0] if items else None
            if isinstance(first, Sequence):
                items[:1] = first.items
            elif isinstance(first, Name) and not isinstance(self._productions[first.name], Choice | Times):
                items[:1] = [self._productions[first.name]]
            else:
                break
        return tuple(items)

    def _symbols(self, production: Production) -> list[_Symbol]:
        if isinstance(production, Sequence):
            return [symbol for item in production.items for symbol in self._symbols(item)]
        if production == Part(EMPTY):
            return []
        return [self._symbol(production)]

    def _symbol(self, production: Production) -> _Symbol:
        known = self._known.get(production)
        if known is None:
            known = self._known[production] = self._made(production)
        return known

    def _made(self, production: Production) -> _Symbol:
        if isinstance(production, Part):
            return self._part(production.language)
        if isinstance(production, Mark):
            return _Symbol(f"Token({production.token})")
        if isinstance(production, Name):
            name = self._rule_name(production.name)
            return _Symbol(name, (name,))
        if isinstance(production, Times):
            return self._times(production)
        if isinstance(production, Json):
            return self._symbol(JsonValues(production, self._productions, len(self._known)).production())
        return self._new(self._alternatives(production))

    def _times(self, production: Times) -> _Symbol:
        least, most = production.least, production.most
        if most == 0:
            return self._new([[]])
        inner = self._new(self._alternatives(production.item))
        if (least, most) == (0, 1):
            return self._new([[], [inner]])
        if most is not None:
            repeated = _Symbol(f"{inner.text}{{{least},{most}}}", inner.rules if least else ())
            # A repetition that may be left out needs nothing, but its rule must be there.
            return self._new([[repeated]]) if least else self._new([[], [_Symbol(repeated.text, inner.rules)]])
        again = self._new([])
        self._bodies[again.text] += [[], [inner, again]]
        needed = (inner.text, again.text) if least else again.rules
        return _Symbol(" ".join([*[inner.text] * least, again.text]), needed)

    def _part(self, language: Regular) -> _Symbol:
        text = literal_text(language)
        if text is not None:
            return _Symbol(" ".join(map(_quoted, text)) if "\0" in text else _quoted(text))
        return self._states(automaton(language))

    def _states(self, states: Automaton) -> _Symbol:
        symbols = [self._new([], "s") for _ in states.edges]
        for state, edges in enumerate(states.edges):
            body = self._bodies[symbols[state].text]
            if state in states.accepting:
                body.append([])
            for ranges, target in edges:
                ends = target in states.accepting and not states.edges[target]
                body.append([_Symbol(_class(ranges)), *([] if ends else [symbols[target]])])
        return symbols[0]


def _pruned(bodies: dict[str, _Body], start: str) -> dict[str, _Body]:
    """The rules that are used, without alternatives that no text can come of."""
    users: dict[str, list[tuple[str, int]]] = {}
    missing: dict[tuple[str, int], int] = {}
    ready: list[str] = []
    productive: set[str] = set()

    def found(name: str) -> None:
        if name not in productive:
            productive.add(name)
            ready.append(name)

    for name, body in bodies.items():
        for number, symbols in enumerate(body):
            needed = {rule for symbol in symbols for rule in symbol.rules}
            missing[name, number] = len(needed)
            for rule in needed:
                users.setdefault(rule, []).append((name, number))
            if not needed:
                found(name)
    while ready:
        for user in users.get(ready.pop(), ()):
            missing[user] -= 1
            if not missing[user]:
                found(user[0])
    if start not in productive:
        raise GrammarError("the grammar allows no text")
    kept: dict[str, _Body] = {}
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name in kept:
            continue
        kept[name] = [body for number, body in enumerate(bodies[name]) if not missing[name, number]]
        waiting += [rule for body in kept[name] for symbol in body for rule in symbol.rules]
    return kept


def _quoted(text: str) -> str:
    """A text; NUL would end a string, so it is written as a class."""
    return _class(((0, 0),)) if text == "\0" else f'"{"".join(map(_character, map(ord, text)))}"'


def _class(ranges: Ranges) -> str:
    return f"[{''.join(_range(low, high) for low, high in ranges)}]"


def _range(low: int, high: int) -> str:
    return _character(low) if low == high else f"{_character(low)}-{_character(high)}"


def _character(code: int) -> str:
    return chr(code) if code < 0x80 and chr(code).isalnum() else f"\\U{code:08X}"
