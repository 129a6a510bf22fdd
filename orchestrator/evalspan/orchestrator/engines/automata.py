"""The deterministic automata of regular languages.

An automaton has no state that a text cannot end from, so that whoever follows one never comes to a place where
nothing can follow.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import TypeVar

from evalspan.orchestrator.engines.regular import (
    ALL,
    EMPTY,
    Both,
    Chars,
    Complement,
    Concat,
    Either,
    Ranges,
    Regular,
    Repeat,
    Respelt,
    Without,
    character_ranges,
    common_ranges,
    inverted,
    literal,
)

__all__ = ["Automaton", "TooLarge", "automaton"]

_State = TypeVar("_State")

_LAST = 0x10FFFF
_MAX_STATES = 20_000  # of one automaton; the largest of a registry with a hundred spans has some thousand


class TooLarge(Exception):
    """An automaton with more states than it may have."""


@dataclass(frozen=True, slots=True)
class Automaton:
    """Deterministic, its start the state 0. `edges[state]` are characters and the state that they lead to, disjoint.

    Every state but the start of an empty language leads to one in `accepting`.
    """

    edges: tuple[tuple[tuple[Ranges, int], ...], ...]
    accepting: frozenset[int]

    @property
    def is_empty(self) -> bool:
        """Whether there is no text in it."""
        return not self.accepting


def automaton(item: Regular) -> Automaton:
    """The automaton of an expression.

    Raises:
        TooLarge: it has too many states.
    """
    if isinstance(item, Without):
        return _without(item)
    if isinstance(item, Both):
        # The tags last: what they are forbidden in is smaller than they are.
        ordered = sorted(item.items, key=lambda each: isinstance(each, Without))
        return reduce(_product, map(automaton, ordered))
    if isinstance(item, Complement):
        return _complement(automaton(item.item))
    if isinstance(item, Respelt):
        return _respelt(item)
    graph = _Graph()
    start, end = graph.state(), graph.state()
    graph.add(item, start, end)
    return graph.determined(start, end)


class _Graph:
    """A nondeterministic automaton under construction."""

    def __init__(self) -> None:
        self._edges: list[list[tuple[Ranges, int]]] = []
        self._jumps: list[list[int]] = []

    def state(self) -> int:
        if len(self._edges) > 4 * _MAX_STATES:
            raise TooLarge
        self._edges.append([])
        self._jumps.append([])
        return len(self._edges) - 1

    def add(self, item: Regular, start: int, end: int) -> None:
        """Lead from one state to another by the texts of an expression."""
        if isinstance(item, Chars):
            if item.ranges:
                self._edges[start].append((item.ranges, end))
        elif isinstance(item, Concat):
            for each in item.items:
                after = self.state()
                self.add(each, start, after)
                start = after
            self._jumps[start].append(end)
        elif isinstance(item, Either):
            for each in item.items:
                self.add(each, start, end)
        elif isinstance(item, Repeat):
            self._repeat(item, start, end)
        else:
            self._embed(automaton(item), start, end)

    def _repeat(self, item: Repeat, start: int, end: int) -> None:
        for _ in range(item.least):
            after = self.state()
            self.add(item.item, start, after)
            start = after
        if item.most is None:
            again = self.state()
            self._jumps[start].append(again)
            self.add(item.item, again, again)
            self._jumps[again].append(end)
            return
        self._jumps[start].append(end)
        for _ in range(item.most - item.least):
            after = self.state()
            self.add(item.item, start, after)
            start = after
            self._jumps[start].append(end)

    def _embed(self, inner: Automaton, start: int, end: int) -> None:
        states = [self.state() for _ in inner.edges]
        self._jumps[start].append(states[0])
        for state, edges in zip(states, inner.edges, strict=True):
            self._edges[state] += [(ranges, states[target]) for ranges, target in edges]
        for state in inner.accepting:
            self._jumps[states[state]].append(end)

    def _reached(self, states: Iterable[int]) -> frozenset[int]:
        seen, waiting = set(states), list(states)
        while waiting:
            for target in self._jumps[waiting.pop()]:
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return frozenset(seen)

    def determined(self, start: int, end: int) -> Automaton:
        def edges(states: frozenset[int]) -> list[tuple[Ranges, frozenset[int]]]:
            found = [edge for state in states for edge in self._edges[state]]
            return [(ranges, self._reached(targets)) for ranges, targets in _sorted_out(found)]

        return _explored(self._reached([start]), edges, lambda states: end in states)


def _sorted_out(edges: list[tuple[Ranges, int]]) -> list[tuple[Ranges, frozenset[int]]]:
    """Disjoint ranges, each with all that it leads to."""
    starts: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for ranges, target in edges:
        for low, high in ranges:
            starts.setdefault(low, []).append(target)
            ends.setdefault(high + 1, []).append(target)
    cuts = sorted({*starts, *ends})
    open_: dict[int, int] = {}
    grouped: dict[frozenset[int], list[tuple[int, int]]] = {}
    for cut, following in pairwise([*cuts, _LAST + 1]):
        for target in starts.get(cut, ()):
            open_[target] = open_.get(target, 0) + 1
        for target in ends.get(cut, ()):
            open_[target] -= 1
            if not open_[target]:
                del open_[target]
        if open_:
            grouped.setdefault(frozenset(open_), []).append((cut, following - 1))
    return [(character_ranges(ranges), targets) for targets, ranges in grouped.items()]


def _explored(
    start: _State, edges: Callable[[_State], list[tuple[Ranges, _State]]], accepts: Callable[[_State], bool]
) -> Automaton:
    """The automaton of what can be reached, without the states from which no text can end."""
    numbers: dict[_State, int] = {start: 0}
    table: list[list[tuple[Ranges, int]]] = []
    accepting = set()
    waiting = deque([start])
    while waiting:
        state = waiting.popleft()
        if accepts(state):
            accepting.add(len(table))
        row = []
        for ranges, target in edges(state):
            if target not in numbers:
                if len(numbers) >= _MAX_STATES:
                    raise TooLarge
                numbers[target] = len(numbers)
                waiting.append(target)
            row.append((ranges, numbers[target]))
        table.append(row)
    return _trimmed(table, accepting)


def _trimmed(table: list[list[tuple[Ranges, int]]], accepting: set[int]) -> Automaton:
    before: list[list[int]] = [[] for _ in table]
    for state, row in enumerate(table):
        for _, target in row:
            before[target].append(state)
    alive, waiting = set(accepting), list(accepting)
    while waiting:
        for state in before[waiting.pop()]:
            if state not in alive:
                alive.add(state)
                waiting.append(state)
    kept = [state for state in range(len(table)) if state in alive or state == 0]
    numbers = {state: number for number, state in enumerate(kept)}
    edges = (tuple((ranges, numbers[to]) for ranges, to in table[state] if to in alive) for state in kept)
    return Automaton(tuple(edges), frozenset(numbers[state] for state in accepting))


def _product(first: Automaton, second: Automaton) -> Automaton:
    def edges(pair: tuple[int, int]) -> list[tuple[Ranges, tuple[int, int]]]:
        return [
            (common, (to, other))
            for ranges, to in first.edges[pair[0]]
            for others, other in second.edges[pair[1]]
            if (common := common_ranges(ranges, others))
        ]

    return _explored((0, 0), edges, lambda pair: pair[0] in first.accepting and pair[1] in second.accepting)


def _complement(inner: Automaton) -> Automaton:
    sink = len(inner.edges)

    def edges(state: int) -> list[tuple[Ranges, int]]:
        if state == sink:
            return [(ALL.ranges, sink)]
        known = inner.edges[state]
        others = inverted(character_ranges(each for ranges, _ in known for each in ranges))
        return [*known, *([(others, sink)] if others else [])]

    return _explored(0, edges, lambda state: state not in inner.accepting)


def _respelt(item: Respelt) -> Automaton:
    inner = automaton(item.item)
    graph = _Graph()
    states = [graph.state() for _ in inner.edges]
    end = graph.state()
    for state, edges in enumerate(inner.edges):
        for ranges, target in edges:
            graph.add(Chars(common_ranges(ranges, item.plain)), states[state], states[target])
            for char, text in item.spelt:
                if common_ranges(ranges, ((ord(char), ord(char)),)):
                    graph.add(literal(text), states[state], states[target])
        if state in inner.accepting:
            graph.add(EMPTY, states[state], end)
    return graph.determined(states[0], end)


def _without(item: Without) -> Automaton:
    """Which string may have begun (Aho and Corasick), over characters."""
    if "" in item.strings:
        return Automaton(((),), frozenset())
    following: list[dict[int, int]] = [{}]
    ends: set[int] = set()
    for string in item.strings:
        state = 0
        for char in string:
            if ord(char) not in following[state]:
                following[state][ord(char)] = len(following)
                following.append({})
            state = following[state][ord(char)]
        ends.add(state)
    whole: list[dict[int, int]] = [{} for _ in following]  # with what the longest shorter beginning would do
    fail = [0] * len(following)
    queue = deque([0])
    while queue:
        state = queue.popleft()
        if fail[state] in ends:
            ends.add(state)
        whole[state] = {**whole[fail[state]], **following[state]} if state else dict(following[0])
        for code, child in following[state].items():
            fail[child] = whole[fail[state]].get(code, 0) if state else 0
            queue.append(child)

    def edges(state: int) -> list[tuple[Ranges, int]]:
        if state in ends:
            return []
        to: dict[int, list[tuple[int, int]]] = {0: list(inverted(character_ranges((c, c) for c in whole[state])))}
        for code, target in whole[state].items():
            if target not in ends or item.at_end:
                to.setdefault(target, []).append((code, code))
        return [(character_ranges(ranges), target) for target, ranges in to.items() if ranges]

    return _explored(0, edges, lambda state: item.at_end or state not in ends)
