"""What models are made to write: one registry, texts with spans, and what must come of them, by hand."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from evalspan.orchestrator import LarkText, SpanPart
from evalspan.policies import Registry

__all__ = ["ANSWERS", "OPEN_REGISTRY", "Answer", "Script", "registry", "suite_registry"]

OPEN_REGISTRY = """
version = 1
[[evaluator]]
name = "arithmetic"
builtin = "arithmetic/1"
[[evaluator]]
name = "strings"
builtin = "strings/1"
[[span]]
name = "calc"
open = "<calc>"
close = "</calc>"
evaluator = "arithmetic"
[[span]]
name = "words"
open = "<words>"
close = "</words>"
evaluator = "strings"
"""
"""Spans that may hold any text, for models whose tokens are chosen."""


def suite_registry() -> Registry:
    """The registry whose spans have one content each; it is a file, since some engines read it in other processes."""
    return Registry.load(Path(str(files("evalspan.conformance.suite").joinpath("registry.toml"))))


def registry(policy: str = "", text: str = OPEN_REGISTRY, **rules: str) -> Registry:
    """A registry with limits of its own, and with `key = value` added to the span of that key's name."""
    for span, line in rules.items():
        head = f'[[span]]\nname = "{span}"\n'
        if head not in text:
            raise ValueError(f"no span is called {span!r}")
        text = text.replace(head, f"{head}{line}\n")
    return Registry.parse(text.replace("version = 1", f"version = 1\n[policy.default]\n{policy}", 1), source="suite")


@dataclass(frozen=True, slots=True)
class Answer:
    """A span of the suite's registry: what the model writes in it, and what the engine must write after it."""

    expression: str
    block: str
    value: str | None
    """None: it has none, and the block is an error."""


ANSWERS = {
    "calc": Answer("17 * 23 + 91", "<result>482</result>", "482"),
    "day": Answer("2024-01-31 + 1 month", "<result>2024-02-29</result>", "2024-02-29"),
    "words": Answer('count("strawberry", "r")', "<result>3</result>", "3"),
    "crc": Answer('crc32("123456789")', "<result>cbf43926</result>", "cbf43926"),
    "quot": Answer("1/0", "<result_error>division_by_zero: the divisor is 0: /</result_error>", None),
}
"""By the name of the span; the values are those of the operator specifications."""


@dataclass(frozen=True, slots=True)
class Script:
    """A text that the model writes, with spans of the suite's registry in it."""

    parts: tuple[str | SpanPart, ...]

    @property
    def written(self) -> str:
        """What the model writes, without what the engine does."""
        return "".join(part if isinstance(part, str) else self._span(part) for part in self.parts)

    @property
    def whole(self) -> str:
        """The text that must come of it."""
        return self.with_blocks({name: answer.block for name, answer in ANSWERS.items()})

    @property
    def spans(self) -> tuple[str, ...]:
        """The names of its spans, in order."""
        return tuple(part.span for part in self.parts if isinstance(part, SpanPart))

    @property
    def grammar(self) -> LarkText:
        """The grammar that has this text alone. (A `Sentence` would let a span be written again after an error.)"""
        parts = (json.dumps(part) if isinstance(part, str) else f"@{part.span}" for part in self.parts)
        return LarkText(f"start: {' '.join(parts)}\n")

    def with_blocks(self, blocks: dict[str, str]) -> str:
        """The text with these blocks behind the spans."""
        return "".join(part if isinstance(part, str) else self._span(part) + blocks[part.span] for part in self.parts)

    @staticmethod
    def _span(part: SpanPart) -> str:
        return f"<{part.span}>{ANSWERS[part.span].expression}</{part.span}>"
