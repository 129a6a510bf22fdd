"""Sentences of a grammar, with a bias towards depth and towards what was derived least so far."""

from __future__ import annotations

from collections.abc import Sequence

from evalspan.conformance.generators.chance import Chance
from evalspan.conformance.generators.notation import Alternative, Grammar, Item, Repeat

__all__ = ["Derivation"]

_MOST_DEPTH = 96
"""Rules on top of each other; a level of an expression takes some five, and a limit of 64 levels is worth passing."""

_MOST_LITERALS = 240
"""Literals until a derivation takes the shortest way out: some 500 bytes, as many as an input has by default."""


class Derivation:
    """Derives sentences, and counts the productions that it used."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.counts = [0] * len(grammar.productions)
        """How often each production was used."""
        self.covered = 0
        """How many productions were used at all."""

    def sentence(self, chance: Chance) -> bytes:
        """A sentence. Its depth is small far more often than large, but no production is left out for long."""
        rules, counts = self.grammar.rules, self.counts
        depth = 4 + chance.size(_MOST_DEPTH)
        most = 8 + chance.size(_MOST_LITERALS)
        written: list[bytes] = []
        open_items: list[tuple[Item, int]] = [(0, depth)]
        while open_items:
            item, left = open_items.pop()
            if type(item) is bytes:
                written.append(item)
            elif type(item) is int:
                if len(written) + len(open_items) > most:
                    left = 0
                chosen = _chosen(chance, rules[item], left, counts)
                production = chosen.production
                counts[production] += 1
                if counts[production] == 1:
                    self.covered += 1
                for inner in reversed(chosen.items):
                    open_items.append((inner, left - 1))
            elif type(item) is tuple:
                written.append(chance.pick(item))
            elif type(item) is Repeat:
                times = item.least
                if left > 0 and chance.random() < 0.65:
                    times += chance.size(4)
                production = item.some if times > item.least else item.none
                counts[production] += 1
                if counts[production] == 1:
                    self.covered += 1
                open_items.extend([(item.item, left)] * times)
        return b"".join(written)


def _chosen(chance: Chance, ways: Sequence[Alternative], left: int, counts: Sequence[int]) -> Alternative:
    """One of the ways that fit into the depth that is left; of two, the one used less."""
    if len(ways) == 1:
        return ways[0]
    fitting = [way for way in ways if way.height < left]
    if not fitting:
        least = min(way.height for way in ways)
        fitting = [way for way in ways if way.height == least]
    one, other = chance.pick(fitting), chance.pick(fitting)
    if left > 8 and chance.random() < 0.25:
        return one if one.height >= other.height else other
    return one if counts[one.production] <= counts[other.production] else other
