"""The parts that a structural tag compiles to, before they become lexemes.

Neighbouring regular parts grow together: a maximal regular subtree becomes one terminal, inside which the engine
follows every reading at once. Only between terminals does it decide, and `lexemes.py` sees to it that it can.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

__all__ = [
    "Alternatives",
    "Forced",
    "Node",
    "Regular",
    "Repeated",
    "Series",
    "SubGrammar",
    "either",
    "repeated",
    "series",
]


@dataclass(frozen=True, slots=True)
class Regular:
    """A regular language as the right side of a terminal. `tagged`: it writes tags of the registry, where it may."""

    text: str
    path: str
    tagged: bool = False


@dataclass(frozen=True, slots=True)
class SubGrammar:
    """A part with lexemes of its own, at whose end any of the bytes `grows` would still belong to it.

    `rules` are those that it names.
    """

    text: str
    path: str
    rules: str = ""
    grows: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Forced:
    """What the engine writes: it begins with a mark, and its end is sealed."""

    text: str
    path: str


@dataclass(frozen=True, slots=True)
class Series:
    """Parts in order; never two regular ones side by side."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alternatives:
    """One of several parts, not all of which are regular."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    """A part that is not regular, from `least` to `most` times (None: without end)."""

    item: Node
    least: int
    most: int | None


Node = Regular | SubGrammar | Forced | Series | Alternatives | Repeated
"""Any part."""


def series(parts: Iterable[Node], no_tag: str, path: str) -> Node:
    """The parts in order, regular neighbours grown together."""
    items: list[Node] = []
    for part in parts:
        for node in part.items if isinstance(part, Series) else (part,):
            if items and isinstance(node, Regular) and isinstance(items[-1], Regular):
                items[-1] = _joined(items[-1], node, no_tag)
            elif node != Regular('""', getattr(node, "path", "")):
                items.append(node)
    if not items:
        return Regular('""', path)
    return items[0] if len(items) == 1 else Series(tuple(items))


def either(parts: Iterable[Node], no_tag: str, path: str) -> Node:
    """One of the parts; of several regular ones, one terminal."""
    items = list(dict.fromkeys(parts))
    regular = [item for item in items if isinstance(item, Regular)]
    others = [item for item in items if not isinstance(item, Regular)]
    if len(regular) > 1:
        tagged = any(item.tagged for item in regular)
        if tagged:
            regular = [sealed(item, no_tag) for item in regular]
        regular = [Regular(f"({' | '.join(item.text for item in regular)})", path, tagged)]
    merged: list[Node] = [*regular, *others]
    return merged[0] if len(merged) == 1 else Alternatives(tuple(merged))


def repeated(part: Node, least: int, most: int | None, no_tag: str, path: str) -> Node:
    """The part some number of times."""
    if not isinstance(part, Regular):
        return Repeated(part, least, most)
    item = sealed(part, no_tag) if part.tagged else part
    count = f"{{{least},{'' if most is None else most}}}"
    return Regular(f"({item.text}){count}", path, part.tagged)


def sealed(node: Regular, no_tag: str) -> Regular:
    """The part without the texts that hold a tag, unless it is there to write one."""
    return node if node.tagged else replace(node, text=f"(({node.text}){no_tag})")


def _joined(first: Regular, second: Regular, no_tag: str) -> Regular:
    """Both as one. Where either writes tags, the other loses its own texts with a tag; no tag lies across the seam,
    since the registry has none that begins where another ends."""
    if first.tagged or second.tagged:
        first, second = sealed(first, no_tag), sealed(second, no_tag)
    return Regular(f"{first.text} {second.text}", first.path, first.tagged or second.tagged)
