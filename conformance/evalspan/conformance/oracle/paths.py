"""Which token paths are walked: every reachable prefix in its fewest and its most tokens, and random other ways.

A mask must not depend on how a prefix was cut into tokens, so where there are few enough ways, all are walked.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from evalspan.conformance.oracle.documents import Language, Node, Pieces

__all__ = ["Effort", "Path", "Plan", "plan"]

_OPENING = 4
"""How much likelier a random path takes a token after which the text cannot end."""

Path = tuple[int, ...]
"""The tokens that the model writes, from the start of a document."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is walked. The seed chooses the random paths."""

    all_paths: int = 3_000
    """All token paths are walked where there are at most so many: some seconds."""
    random_paths: int = 100
    length: int = 24
    """Tokens of a random path; no document of a bounded language is longer than a few more."""
    depth: int = 1
    """How many tokens a language without end is walked from its start, in every way."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What to walk. Every prefix of a path is looked at, so a path that begins another is left out."""

    paths: tuple[Path, ...]
    prefixes: int
    """Reachable prefixes, as bytes."""
    ways: int
    """In how many ways tokens spell them, all together."""

    exhaustive: bool
    """Whether the paths are all ways."""


@dataclass(slots=True)
class _Reached:
    """A prefix on the way: paths to it, and in how many ways it is spelt."""

    node: Node
    fewest: Path
    most: Path
    ways: int = 1


def plan(language: Language, pieces: Pieces, effort: Effort) -> Plan:
    """The paths to walk in a language with a vocabulary, found by the oracle alone."""
    reached = _reach(language, pieces, effort)
    ways = sum(one.ways for one in reached.values())
    paths: set[Path] = set()
    if ways <= effort.all_paths:
        paths.update(_all(language, pieces, None if language.bounded else effort.depth))
    else:
        paths.update(path for one in reached.values() for path in (one.fewest, one.most))
    paths.update(_random(language, pieces, effort))
    inner = {path[:size] for path in paths for size in range(len(path))}
    return Plan(tuple(sorted(paths - inner)), len(reached), ways, language.bounded and ways <= effort.all_paths)


def _tokens(language: Language, node: Node, pieces: Pieces) -> list[tuple[int, Node]]:
    """The tokens that go on from a prefix, each with the prefix at which the model writes again."""
    following = [(token, language.due(child)[1]) for token, child in language.tokens(node, pieces)]
    if not language.bounded:
        # Most of the 256 bytes are all the same in text; those that pieces are made of are not.
        following = [(token, child) for token, child in following if token in pieces.telling]
    return following


def _reach(language: Language, pieces: Pieces, effort: Effort) -> dict[tuple[int, ...], _Reached]:
    """Every prefix that tokens lead to, in the order of its length, so that all ways to one come before it."""
    start = language.due(language.start)[1]
    reached = {start.prefix: _Reached(start, (), ())}
    waiting = {len(start.prefix): [start.prefix]}
    while waiting:
        for prefix in waiting.pop(min(waiting)):
            one = reached[prefix]
            if not language.bounded and len(one.fewest) >= effort.depth:
                continue
            for token, child in _tokens(language, one.node, pieces):
                known = reached.get(child.prefix)
                if known is None:
                    reached[child.prefix] = _Reached(child, (*one.fewest, token), (*one.most, token), one.ways)
                    waiting.setdefault(len(child.prefix), []).append(child.prefix)
                    continue
                known.ways += one.ways
                if len(one.fewest) + 1 < len(known.fewest):
                    known.fewest = (*one.fewest, token)
                if len(one.most) + 1 > len(known.most):
                    known.most = (*one.most, token)
    return reached


def _all(language: Language, pieces: Pieces, depth: int | None) -> Iterator[Path]:
    waiting: list[tuple[Path, Node]] = [((), language.due(language.start)[1])]
    while waiting:
        path, node = waiting.pop()
        yield path
        if depth is None or len(path) < depth:
            waiting += [((*path, token), child) for token, child in _tokens(language, node, pieces)]


def _random(language: Language, pieces: Pieces, effort: Effort) -> Iterator[Path]:
    chance = random.Random(effort.seed)  # noqa: S311  a reproducible choice of paths, nothing secret
    for _ in range(effort.random_paths):
        path: list[int] = []
        node = language.due(language.start)[1]
        while len(path) < effort.length and (following := _tokens(language, node, pieces)):
            # In text most tokens are more text: what opens a tag leads to where the engine acts.
            weights = [1 if child.complete else _OPENING for _, child in following]
            token, node = chance.choices(following, weights)[0]
            path.append(token)
        yield tuple(path)
