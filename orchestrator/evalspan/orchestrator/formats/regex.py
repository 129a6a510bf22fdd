"""A regular expression as the grammar of the whole output."""

from __future__ import annotations

from dataclasses import dataclass

from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.formats.probe import is_empty
from evalspan.orchestrator.grammar import Compilation, Marks
from evalspan.orchestrator.lark import LarkWriter, lark_regex
from evalspan.policies import Registry

__all__ = ["Regex"]


@dataclass(frozen=True, slots=True)
class Regex:
    """Text that a linear-time regular expression matches as a whole; it holds no tag, so there is no span in it."""

    pattern: str

    def compile(self, registry: Registry, marks: Marks | None) -> Compilation:
        """See `Grammar.compile`."""
        writer = LarkWriter(registry, marks)
        body = f"({lark_regex(self.pattern)}){writer.no_tag}"
        if is_empty(body):
            raise GrammarError(f"{self.pattern!r} matches no text without a tag of the registry")
        writer.rule("start", writer.rule("WHOLE", body))
        return Compilation(writer.lark(), spans=frozenset())
