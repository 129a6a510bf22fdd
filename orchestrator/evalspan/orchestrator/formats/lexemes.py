"""From parts to a grammar of lexemes that the engine reads as it is meant, or a refusal.

The engine's lexer takes the longest text that any lexeme which may stand here can still become, and does not go back.
So wherever lexemes may stand side by side, no text may both end one and go on in another. The positions of a
structural tag and what may follow each of them (Glushkov's construction) are few; the engine itself is asked, for
every set of lexemes that can be due at once, whether such a text exists.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.formats.nodes import (
    Alternatives,
    Forced,
    Node,
    Regular,
    Repeated,
    Series,
    SubGrammar,
    sealed,
)
from evalspan.orchestrator.formats.probe import first_bytes, is_empty
from evalspan.orchestrator.lark import LarkWriter, lark_escape

__all__ = ["Lexemes"]

_NOT_EMPTY = "/(?s:.+)/"
_ASCII = 0x80


@dataclass(slots=True)
class _Position:
    """A place in the grammar where one lexeme, sub-grammar or forced part stands."""

    node: Regular | SubGrammar | Forced
    name: str
    first: frozenset[int]
    follow: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Shape:
    """A part in the engine's words, the positions it can begin and end at, and whether it can be empty."""

    text: str
    first: frozenset[int]
    last: frozenset[int]
    nullable: bool


class Lexemes:
    """Adds the rules of a part to a writer. `definitions` are the terminals that parts name.

    Raises:
        GrammarError: the part cannot be read in one way only; the text says where.
    """

    def __init__(self, writer: LarkWriter, definitions: str) -> None:
        self._writer = writer
        self._definitions = definitions
        self._positions: list[_Position] = []

    def add(self, node: Node, *, continues: bool = False) -> str:
        """The part as the right side of a rule. Where it `continues` an output it may begin with a result."""
        shape = self._shape(node)
        for position in () if continues else shape.first:
            if isinstance(self._positions[position].node, Forced):
                raise GrammarError(f"{self._positions[position].node.path}: there is no result yet at the start")
        self._check(shape.first)
        self._check_seams()
        return shape.text

    def _shape(self, node: Node) -> _Shape:
        if isinstance(node, Regular):
            return self._lexeme(node)
        if isinstance(node, SubGrammar):
            return self._place(node, self._writer.rule(f"part{len(self._positions)}", node.text), node.text, node.rules)
        if isinstance(node, Forced):
            return self._place(node, self._writer.rule(f"part{len(self._positions)}", node.text), None)
        if isinstance(node, Series):
            return self._series([self._shape(item) for item in node.items])
        if isinstance(node, Alternatives):
            shapes = [self._shape(item) for item in node.items]
            return _Shape(
                f"({' | '.join(shape.text for shape in shapes)})",
                frozenset().union(*(shape.first for shape in shapes)),
                frozenset().union(*(shape.last for shape in shapes)),
                any(shape.nullable for shape in shapes),
            )
        return self._repeated(node, self._shape(node.item))

    def _series(self, shapes: list[_Shape]) -> _Shape:
        whole = shapes[0]
        for shape in shapes[1:]:
            self._connect(whole.last, shape.first)
            whole = _Shape(
                f"{whole.text} {shape.text}",
                whole.first | shape.first if whole.nullable else whole.first,
                whole.last | shape.last if shape.nullable else shape.last,
                whole.nullable and shape.nullable,
            )
        return whole

    def _repeated(self, node: Repeated, shape: _Shape) -> _Shape:
        if node.most == 0:
            return _Shape('""', frozenset(), frozenset(), nullable=True)
        if node.most is None or node.most > 1:
            self._connect(shape.last, shape.first)
        count = f"{{{node.least},{'' if node.most is None else node.most}}}"
        return _Shape(f"({shape.text}){count}", shape.first, shape.last, shape.nullable or node.least == 0)

    def _lexeme(self, node: Regular) -> _Shape:
        text = sealed(node, self._writer.no_tag).text
        if is_empty(text, self._definitions):
            raise GrammarError(f"{node.path}: no text without a tag of the registry can stand here")
        nullable = not is_empty(f'({text}) & ""', self._definitions)
        if nullable:
            text = f"({text}) & {_NOT_EMPTY}"
            if is_empty(text, self._definitions):
                return _Shape('""', frozenset(), frozenset(), nullable=True)
        name = self._writer.rule(f"LEXEME{len(self._positions)}", text)
        shape = self._place(Regular(text, node.path, node.tagged), name, name, f"{name}: {text}\n")
        return _Shape(f"{name}?", shape.first, shape.last, nullable=True) if nullable else shape

    def _place(
        self, node: Regular | SubGrammar | Forced, name: str, probed: str | None, definition: str = ""
    ) -> _Shape:
        first = frozenset[int]() if probed is None else first_bytes(probed, definition + self._definitions)
        position = frozenset({len(self._positions)})
        self._positions.append(_Position(node, name, first))
        return _Shape(name, position, position, nullable=False)

    def _connect(self, last: frozenset[int], first: frozenset[int]) -> None:
        for position in last:
            self._positions[position].follow |= first

    def _check(self, start: frozenset[int]) -> None:
        """Look at every set of positions that can be due at once; where texts meet, at their union too."""
        seen: set[frozenset[int]] = set()
        waiting = [start]
        while waiting:
            due = waiting.pop()
            if due in seen or not due:
                continue
            seen.add(due)
            self._check_due(due)
            for one in due:
                meeting = {one} if isinstance(self._positions[one].node, Forced) else self._meeting(one, due)
                following = frozenset().union(*(self._positions[other].follow for other in meeting))
                if len(meeting) > 1 and any(isinstance(self._positions[at].node, Forced) for at in following):
                    self._refuse(one, max(meeting - {one}), "one text could be read as both")
                waiting.append(following)

    def _check_due(self, due: frozenset[int]) -> None:
        positions = self._positions
        for one in due:
            node = positions[one].node
            if isinstance(node, Forced):
                if len(due) > 1:
                    self._refuse(one, min(due - {one}), "the engine would write the one whatever the model chose")
                continue
            if isinstance(node, SubGrammar):
                for other in due - {one}:
                    if positions[one].first & positions[other].first:
                        self._refuse(one, other, "both can begin with the same byte")
                after = frozenset().union(*(self._starts(at) for at in positions[one].follow))
                if node.grows & after:
                    self._refuse(one, min(positions[one].follow), "where the one ends cannot be told from the other")
                continue
            after = frozenset().union(*(self._starts(at) for at in positions[one].follow))
            if after:
                self._check_longest(one, due, _bytes_class(after))

    def _starts(self, position: int) -> frozenset[int]:
        """The bytes that may come next there; where the engine writes, any byte would be one too many."""
        found = self._positions[position]
        return frozenset(range(256)) if isinstance(found.node, Forced) else found.first

    def _check_longest(self, one: int, due: frozenset[int], after: str) -> None:
        """No lexeme that is due may go on where `one` ends and what follows it begins."""
        ended = f"(({self._text(one)}) /{after}(?s:.*)/)"
        others = [other for other in due if isinstance(self._positions[other].node, Regular)]
        union = " | ".join(f"({self._text(other)})" for other in others)
        if is_empty(f"{ended} & ({union})", self._definitions):
            return
        for other in others:
            if not is_empty(f"{ended} & ({self._text(other)})", self._definitions):
                self._refuse(one, other, "where the one ends, the other could go on")

    def _meeting(self, one: int, due: frozenset[int]) -> set[int]:
        """The lexemes among those due that share a text with `one`, itself included."""
        if not isinstance(self._positions[one].node, Regular):
            return {one}
        others = [at for at in due if at != one and isinstance(self._positions[at].node, Regular)]
        union = " | ".join(f"({self._text(other)})" for other in others)
        if not others or is_empty(f"({self._text(one)}) & ({union})", self._definitions):
            return {one}
        return {one} | {
            other for other in others if not is_empty(f"({self._text(one)}) & ({self._text(other)})", self._definitions)
        }

    def _check_seams(self) -> None:
        """No tag may be spelt across two lexemes; for what sub-grammars hold there is the guard."""
        tags = self._writer.registry.tags
        begun = dict.fromkeys(tag[:cut] for tag in tags for cut in range(1, len(tag)))
        any_begun = f"/(?s:.*)({'|'.join(map(lark_escape, begun))})/"
        for at, position in enumerate(self._positions):
            # Most lexemes do not end with the beginning of any tag; hundreds of tags are not tried one by one.
            if not isinstance(position.node, Regular) or not position.follow or not tags:
                continue
            if is_empty(f"({self._text(at)}) & {any_begun}", self._definitions):
                continue
            for after in position.follow:
                following = self._positions[after]
                if not isinstance(following.node, Regular):
                    continue
                for tag in tags:
                    self._check_seam(at, after, tag, following.first)

    def _check_seam(self, at: int, after: int, tag: str, first: frozenset[int]) -> None:
        for cut in range(1, len(tag)):
            if tag[cut].encode()[0] not in first:
                continue
            ends = f"({self._text(at)}) & /(?s:.*){lark_escape(tag[:cut])}/"
            begins = f"({self._text(after)}) & /{lark_escape(tag[cut:])}(?s:.*)/"
            if not is_empty(ends, self._definitions) and not is_empty(begins, self._definitions):
                self._refuse(at, after, f"together they could spell the tag {tag!r}")

    def _text(self, position: int) -> str:
        node = self._positions[position].node
        return node.text

    def _refuse(self, one: int, other: int, why: str) -> None:
        first, second = self._positions[one].node.path, self._positions[other].node.path
        places = first if first == second else f"{first} and {second}"
        raise GrammarError(f"{places}: cannot be enforced exactly: {why}")


def _bytes_class(data: frozenset[int]) -> str:
    """A class of characters that holds every one that begins with one of the bytes."""
    characters = [f"\\x{{{byte:X}}}" for byte in sorted(data) if byte < _ASCII]
    if any(byte >= _ASCII for byte in data):
        characters.append("\\x{80}-\\x{10FFFF}")
    return f"[{''.join(characters)}]"
