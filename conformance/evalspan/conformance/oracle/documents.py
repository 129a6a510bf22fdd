"""Documents, enumerated: the whole of a bounded language, byte by byte, and which bytes the engine writes.

Nothing here imports evalspan. What a document is, and what the value of a span is, is written down by hand in
`cases.py`; this module only puts documents together and looks for prefixes in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, product
from typing import Protocol

__all__ = [
    "Document",
    "Documents",
    "Language",
    "Node",
    "Pieces",
    "Tree",
    "either",
    "forced",
    "sequence",
    "spelt",
    "written",
]

Document = tuple[int, ...]
"""One complete output: 0 to 255 is a byte that the model writes, and 256 more than that one that the engine forces."""

Documents = tuple[Document, ...]
"""Some outputs, or some parts of one to choose from."""

_FORCED = 256


def written(*texts: str) -> Documents:
    """Any of these texts, which the model writes."""
    return tuple(tuple(text.encode()) for text in texts)


def forced(*texts: str) -> Documents:
    """Any of these texts, which the engine forces."""
    return tuple(tuple(_FORCED + byte for byte in text.encode()) for text in texts)


def either(*choices: Documents) -> Documents:
    """What any of them has."""
    return tuple(document for documents in choices for document in documents)


def sequence(*parts: Documents) -> Documents:
    """Every way to write the parts one after the other."""
    return tuple(tuple(chain.from_iterable(pieces)) for pieces in product(*parts))


def spelt(document: Document) -> bytes:
    """The bytes of a document, whoever writes them."""
    return bytes(symbol % _FORCED for symbol in document)


class Node:
    """A prefix that some document has."""

    __slots__ = ("complete", "following", "prefix")

    def __init__(self, prefix: Document, *, complete: bool = False) -> None:
        self.prefix = prefix
        self.complete = complete
        """Whether the prefix is a document."""
        self.following: dict[int, Node] = {}


class Pieces:
    """A vocabulary as the oracle sees it: which tokens spell some bytes. Control tokens and empty ones spell none."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self.spelling: dict[bytes, list[int]] = {}
        for token, piece in enumerate(pieces):
            if piece:
                self.spelling.setdefault(piece, []).append(token)
        self.starts = {piece[:size] for piece in self.spelling for size in range(1, len(piece) + 1)}
        longer = [piece for piece in self.spelling if len(piece) > 1]
        bytes_used = {bytes([byte]) for piece in longer for byte in piece}
        self.telling = {token for piece in (*longer, *bytes_used) for token in self.spelling.get(piece, ())}
        """The tokens of several bytes, and of one that these are made of."""


class Language(Protocol):
    """A set of documents, looked at from a prefix."""

    @property
    def start(self) -> Node:
        """Where nothing is written."""
        ...

    @property
    def bounded(self) -> bool:
        """Whether every prefix can be walked; else some are."""
        ...

    def tokens(self, node: Node, pieces: Pieces) -> Iterator[tuple[int, Node]]:
        """The tokens that a document goes on with, each with the prefix that it leads to."""
        ...

    def step(self, node: Node, piece: bytes) -> Node:
        """The prefix that a token which is among `tokens` leads to."""
        ...

    def due(self, node: Node) -> tuple[bytes, Node]:
        """What the engine writes after a prefix, nothing where it is the model's turn; and the prefix then."""
        ...

    def witness(self, node: Node) -> bytes:
        """A document that starts with the prefix."""
        ...


class Tree:
    """Every prefix of every document: a bounded language as the walk sees it."""

    def __init__(self, documents: Iterable[Document]) -> None:
        """Raises:
        ValueError: there is no document, or after some prefix it is open whether the engine writes.
        """
        self.start = Node(())
        self.documents = 0
        for document in documents:
            node = self.start
            for symbol in document:
                if symbol not in node.following:
                    node.following[symbol] = Node((*node.prefix, symbol))
                node = node.following[symbol]
            self.documents += not node.complete
            node.complete = True
        if not self.documents:
            raise ValueError("a language without a document")
        for node in self.nodes():
            forces = [symbol for symbol in node.following if symbol >= _FORCED]
            if forces and (len(node.following) > 1 or node.complete):
                raise ValueError(f"after {spelt(node.prefix)!r} the engine may or may not write")

    def nodes(self) -> Iterator[Node]:
        """Every prefix, the shorter ones first."""
        level = [self.start]
        while level:
            yield from level
            level = [child for node in level for child in node.following.values()]

    @property
    def bounded(self) -> bool:
        """A tree is."""
        return True

    def tokens(self, node: Node, pieces: Pieces) -> Iterator[tuple[int, Node]]:
        """See `Language.tokens`."""
        level = [(b"", node)]
        while level:
            longer = []
            for text, reached in level:
                for token in pieces.spelling.get(text, ()):
                    yield token, reached
                for symbol, child in reached.following.items():
                    if symbol < _FORCED and text + bytes([symbol]) in pieces.starts:
                        longer.append((text + bytes([symbol]), child))
            level = longer

    def step(self, node: Node, piece: bytes) -> Node:
        """See `Language.step`."""
        for byte in piece:
            node = node.following[byte]
        return node

    def due(self, node: Node) -> tuple[bytes, Node]:
        """See `Language.due`."""
        text = bytearray()
        while len(node.following) == 1 and (symbol := next(iter(node.following))) >= _FORCED:
            text.append(symbol - _FORCED)
            node = node.following[symbol]
        return bytes(text), node

    def witness(self, node: Node) -> bytes:
        """See `Language.witness`."""
        while not node.complete:
            node = next(iter(node.following.values()))
        return spelt(node.prefix)
