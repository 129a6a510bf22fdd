"""Free text with spans: a language without end, so what starts a document is decided by plain searching in the text.

As `documents.py` this imports nothing of evalspan: no automaton, no grammar.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from evalspan.conformance.oracle.documents import Node, Pieces, forced, spelt

__all__ = ["FreeTextLanguage"]


@dataclass(frozen=True)
class FreeTextLanguage:
    """Text in which every tag is part of a span, or of a channel, in which only the engine's tags are looked for.

    `values` has, for every content that a span may have, the block that the engine writes after its close tag.
    """

    span: tuple[str, str]
    values: Mapping[str, str]
    engine: tuple[str, ...]
    """The tags of the engine."""
    channel: tuple[str, str] | None = None
    start: Node = field(default_factory=lambda: Node((), complete=True))

    @property
    def bounded(self) -> bool:
        """Text has no end."""
        return False

    def tokens(self, node: Node, pieces: Pieces) -> Iterator[tuple[int, Node]]:
        """See `Language.tokens`."""
        since = self._since(node)
        for piece, tokens in pieces.spelling.items():
            reading = self._read(since + piece)
            if reading is not None:
                reached = Node((*node.prefix, *piece), complete=reading == "text")
                for token in tokens:
                    yield token, reached

    def step(self, node: Node, piece: bytes) -> Node:
        """See `Language.step`."""
        return Node((*node.prefix, *piece), complete=self._read(self._since(node) + piece) == "text")

    def due(self, node: Node) -> tuple[bytes, Node]:
        """See `Language.due`."""
        block = self._block(self._since(node))
        if block is None:
            return b"", node
        return block.encode(), Node(node.prefix + forced(block)[0], complete=True)

    def witness(self, node: Node) -> bytes:
        """See `Language.witness`."""
        since = self._since(node)
        for ending in self._endings():
            if self._block(since + ending.encode()) is not None or self._read(since + ending.encode()) == "text":
                return spelt(node.prefix) + ending.encode()
        # The rest of a character: one of its four bytes at most is missing three times.
        return spelt(node.prefix) + next(
            bytes(more)
            for more in ((0x80,), (0xA0,), (0x80, 0x80), (0xA0, 0x80), (0x90, 0x80, 0x80))
            if self._read(since + bytes(more)) is not None
        )

    def _endings(self) -> Iterator[str]:
        """What may be missing of a span or a channel, the shorter first."""
        whole = ["", *(content + self.span[1] for content in self.values)]
        if self.channel:
            whole.append(self.channel[1])
        yield from sorted({text[at:] for text in whole for at in range(len(text) + 1)}, key=len)

    def _since(self, node: Node) -> bytes:
        """What the model has written after the last block, in which nothing is looked at."""
        last = max((at for at, symbol in enumerate(node.prefix) if symbol >= 256), default=-1)
        return spelt(node.prefix[last + 1 :])

    def _block(self, since: bytes) -> str | None:
        """The block that is due, where the text ends with the close tag of a span."""
        if self._read(since) != "closed":
            return None
        return self.values[since.decode().rpartition(self.span[0])[2].removesuffix(self.span[1])]

    def _read(self, data: bytes) -> str | None:
        """Where the text stands: in `text`, or elsewhere: in a `channel`, in a span (`open`) or after it (`closed`),
        inside a `character`. None where no document starts so."""
        try:
            text, cut = data.decode(), False
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data":
                return None
            text, cut = data[: error.start].decode(), True
        inside = False
        while True:
            tags = (self.channel or ())[1:] if inside else (*self.span, *(self.channel or ()))
            found = [(text.index(tag), tag) for tag in (*self.engine, *tags) if tag in text]
            if not found:
                return "character" if cut else "channel" if inside else "text"
            at, tag = min(found)
            text = text[at + len(tag) :]
            if self.channel is not None and tag == self.channel[inside]:
                inside = not inside
            elif tag == self.span[0] and not inside:
                break
            else:
                return None
        if cut:
            return None
        if any(text == content + self.span[1] for content in self.values):
            return "closed"
        return "open" if any((content + self.span[1]).startswith(text) for content in self.values) else None
