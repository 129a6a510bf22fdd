"""The two plain grammars: free text with spans, and a fixed sentence with parts that the model fills in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from evalspan.evaluators import Value
from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.events import InjectionKind
from evalspan.orchestrator.grammar import Compilation, Marks, Resolved, Written
from evalspan.orchestrator.lark import LarkWriter, lark_literal, lark_regex
from evalspan.policies import Registry

__all__ = ["LEAD_LETTERS", "LEAD_WORDS", "RETRIES", "FreeText", "Pattern", "Restate", "Sentence", "SpanPart"]

RETRIES = 2
"""How often a span of a sentence may be written again after an error."""

LEAD_WORDS = 6
"""How many words may come before a required span."""

LEAD_LETTERS = 16
"""How long such a word may be: without a bound a model can talk for ever without a space."""


@dataclass(frozen=True, slots=True)
class FreeText:
    """Text with spans, any number of them in any order, and with the registry's channels.

    The spans in `required` come first, in this order, each after at most `LEAD_WORDS` words that hold no digit:
    a small model that may talk for as long as it likes never comes to the span, and does the sum itself on the way.
    """

    required: tuple[str, ...] = ()

    def compile(self, registry: Registry, marks: Marks | None) -> Compilation:
        """See `Grammar.compile`."""
        writer = LarkWriter(registry, marks)
        items = [writer.rule(f"span{i}", f"OPEN{i} body{i}") for i in range(len(registry.spans))]
        for i, rule in enumerate(registry.spans):
            writer.rule(f"OPEN{i}", f"ANY {lark_literal(rule.open)}")
            writer.rule(f"body{i}", writer.body(i))
        ends = ["TEXT"]
        for i, channel in enumerate(registry.channels):
            writer.rule(f"ENTER{i}", writer.up_to(channel.open))
            inside = writer.enclosed(f"C{i}", channel.close, spans=channel.spans)
            items.append(writer.rule(f"channel{i}", f"ENTER{i} {inside}LEAVEC{i}"))
            if channel.is_fence:
                ends.append(f"ENTER{i} {inside}RESTC{i}?")
        first = "".join(self._first(writer, name) for name in self.required)
        many = f"{writer.rule('item', ' | '.join(items))}* " if items else ""
        writer.rule("start", f"{first}{many}({' | '.join(ends)})?")
        writer.rule("TEXT", f"/(?s:.+)/{writer.no_tag}")
        return Compilation(writer.lark(), free_text=marks is not None)

    def _first(self, writer: LarkWriter, name: str) -> str:
        index, rule = writer.span(name)
        # No tag can begin in the lead: leaving out the first characters of all tags is far cheaper to match than
        # forbidding the tags, which in a bounded repetition exceeds the engine's limits.
        starts = "".join(f"\\x{{{ord(tag[0]):X}}}" for tag in dict.fromkeys(tag[0] for tag in writer.registry.tags))
        word = rf"[^ \n\p{{N}}{starts}]{{0,{LEAD_LETTERS}}}"
        writer.rule(f"FIRST{index}", f"/({word} ){{0,{LEAD_WORDS}}}/ {lark_literal(rule.open)}")
        return f"FIRST{index} body{index} "


@dataclass(frozen=True, slots=True)
class Pattern:
    """A part of a sentence that the model fills in, by a linear-time regular expression."""

    regex: str


@dataclass(frozen=True, slots=True)
class SpanPart:
    """A part of a sentence that is one span, by its rule's name, with its result."""

    span: str


@dataclass(frozen=True, slots=True)
class Restate:
    """A part of a sentence that says the last result of a span again; the engine forces it.

    Where the model writes the results itself, it writes this part too, by `regex`.
    """

    kind: ClassVar[InjectionKind] = "restated"

    span: str
    regex: str

    def resolve(self, written: Written) -> Resolved:
        """The result; there is none where the span failed each time that it might be written."""
        outcome = written.outcomes.get(self.span)
        return Resolved(outcome.text if isinstance(outcome, Value) else None)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A fixed sentence: literal strings, patterns, spans and their results in order."""

    parts: tuple[str | Pattern | SpanPart | Restate, ...]

    def compile(self, registry: Registry, marks: Marks | None) -> Compilation:
        """See `Grammar.compile`."""
        if not self.parts:
            raise GrammarError("a sentence needs at least one part")
        writer = LarkWriter(registry, marks)
        order: list[str] = []
        terminal: list[str] = []  # what is fused up to the next place where the engine takes over

        def end_terminal() -> None:
            if terminal:
                order.append(writer.rule(f"PART{len(order)}", " ".join(terminal)))
                terminal.clear()

        for part in self.parts:
            if isinstance(part, SpanPart):
                index, rule = writer.span(part.span)
                terminal.append(lark_literal(rule.open))
                end_terminal()
                order.append(writer.attempts(index, RETRIES))
            elif isinstance(part, Restate) and marks is not None:
                writer.span(part.span)
                end_terminal()
                order.append(writer.directive(part))
            elif isinstance(part, Pattern | Restate):
                terminal.append(lark_regex(part.regex))
            elif part:
                terminal.append(lark_literal(part))
        end_terminal()
        writer.rule("start", " ".join(order))
        return Compilation(writer.lark(), tuple(writer.directives))
