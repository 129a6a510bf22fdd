"""Windows: any text, such as reasoning, and constrained parts in one generation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.formats.probe import is_empty
from evalspan.orchestrator.formats.structural_tag import StructuralTag
from evalspan.orchestrator.grammar import Compilation, ExtendsRegistry, Grammar, Marks, WindowRule
from evalspan.orchestrator.lark import LarkWriter, lark_literal, lark_regex
from evalspan.orchestrator.sentences import FreeText
from evalspan.policies import Channel, Registry, tag_problems

__all__ = ["GAP", "Window", "Windows", "needs_mask"]

GAP = r"[ \n]{0,2}"
"""What may stand between a close and a constrained part: most models write a space after a marker, and two line ends
after a tag."""

_MIN_TAG, _MAX_TAG = 2, 64  # characters, as those of a registry


@dataclass(frozen=True, slots=True)
class Window:
    """Any text up to `close`, a tag or a marker such as `Answer:`, wherever it is complete for the first time, in a
    span too.

    The output begins it with `open`; without one it is open from the start, as where a chat template ends with the
    open tag. Where `spans` is set, spans in it are evaluated; else they are text, and so are channels in any case. The
    model cannot write a result in it. Once it has `max_tokens`, sampled and forced, without those of its tags, the
    engine writes the close; a span that is open then is given up. `gap` is a linear-time regular expression: what may
    come before the part that follows, where that is constrained.
    """

    close: str
    open: str = ""
    spans: bool = False
    max_tokens: int | None = None
    gap: str = GAP
    name: str = "reasoning"
    """For events."""

    def __post_init__(self) -> None:
        for name, tag in (("close", self.close), ("open", self.open)):
            if name == "open" and not tag:
                continue
            if not _MIN_TAG <= len(tag) <= _MAX_TAG:
                sizes = f"{_MIN_TAG} to {_MAX_TAG} characters, got {len(tag)}"
                raise GrammarError(f"the {name} of a window must have {sizes}: {tag[:_MAX_TAG]!r}")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise GrammarError(f"a window must have max_tokens of 1 or more, got {self.max_tokens}")

    @classmethod
    def of(cls, channel: Channel, *, opened: bool = False, max_tokens: int | None = None) -> Self:
        """The window of a registry's channel; `opened` says that the prompt has its open tag already."""
        return cls(
            channel.close, "" if opened else channel.open, channel.spans, max_tokens=max_tokens, name=channel.name
        )

    def parts(self, registry: Registry, marks: Marks | None, *, constrained: bool) -> Iterator[Compilation]:
        """The window's grammars in order; `constrained` says that what follows it is."""
        if self.open:
            writer = LarkWriter(registry, marks)
            writer.rule("start", lark_literal(self.open))
            yield Compilation(writer.lark(), inert=True)
        writer = LarkWriter(registry, marks, closes=(self.close,))
        inside = writer.enclosed("W", self.close, spans=self.spans)
        writer.rule("start", f"{inside}LEAVEW")
        rule = WindowRule(self.name, self.close, self.spans, self.max_tokens)
        yield Compilation(writer.lark(), free_text=marks is not None, window=rule)
        if constrained and self.gap:
            writer = LarkWriter(registry, marks)
            try:
                gap = f"({lark_regex(self.gap)} & /(?s:.+)/{writer.no_tag})"
            except GrammarError as error:
                raise GrammarError(f"the gap after a window: {error}") from None
            if not is_empty(gap):
                writer.rule("GAP", gap)
                writer.rule("start", "GAP?")
                yield Compilation(writer.lark(), spans=frozenset())


@dataclass(frozen=True, slots=True)
class Windows:
    """One output of several parts: windows, and after each one another window or a grammar, which also comes last.

    A grammar that is not the last ends where the model writes what it does not allow and what comes next does. Results
    of spans are known in all later parts.
    """

    parts: tuple[Window | Grammar, ...]

    def __post_init__(self) -> None:
        if not any(isinstance(part, Window) for part in self.parts):
            raise GrammarError("windows need at least one window")
        if any(isinstance(part, Windows) for part in self.parts):
            raise GrammarError("windows do not nest: list all parts in one")
        if isinstance(self.parts[-1], Window):
            raise GrammarError("a grammar must come last, after the windows: FreeText() is any text with spans")
        if any(isinstance(part, FreeText) for part in self.parts[:-1]):
            raise GrammarError("free text has no end and must come last: before a part, use a window with a close")

    @property
    def limited(self) -> bool:
        """Whether a window has a limit on its tokens."""
        return any(isinstance(part, Window) and part.max_tokens is not None for part in self.parts)

    def registry_for(self, registry: Registry) -> Registry:
        """See `ExtendsRegistry.registry_for`: the spans of every part are those of all."""
        for part in self.parts:
            if isinstance(part, ExtendsRegistry):
                registry = part.registry_for(registry)
        return registry

    def compile(self, registry: Registry, marks: Marks | None) -> Compilation:
        """See `Grammar.compile`."""
        _check_tags(registry, [part for part in self.parts if isinstance(part, Window)])
        compiled: list[Compilation] = []
        for part, following in zip(self.parts, (*self.parts[1:], None), strict=True):
            if isinstance(part, Window):
                constrained = not isinstance(following, Window | FreeText)
                compiled += part.parts(registry, marks, constrained=constrained)
            else:
                compiled.append(_compiled(part, registry, marks, first=not compiled))
        whole = compiled[-1]
        for one in reversed(compiled[:-1]):
            whole = replace(one, then=whole)
        return whole


def needs_mask(grammar: Grammar) -> bool:
    """Whether a grammar can be kept only by masking what the model writes."""
    if not isinstance(grammar, Windows):
        return grammar != FreeText()
    return any(part.open != "" if isinstance(part, Window) else needs_mask(part) for part in grammar.parts)


def _compiled(part: Grammar, registry: Registry, marks: Marks | None, *, first: bool) -> Compilation:
    if isinstance(part, StructuralTag) and not first:
        part = replace(part, continues=True)
    compilation = part.compile(registry, marks)
    if isinstance(part, FreeText) and part.required:
        # The spans of a window are no required ones, so whether one is still missing is for the grammar alone to know.
        compilation = replace(compilation, free_text=False)
    return compilation


def _check_tags(registry: Registry, windows: list[Window]) -> None:
    """The tags of the windows, together with the registry's, can be read in one way only."""
    uses = {tag: f"the tag {tag!r} of the registry" for tag in registry.tags}
    fences = {channel.open for channel in registry.channels if channel.is_fence}
    spans = {tag for rule in registry.spans for tag in rule.tags}
    for window in windows:
        for name, tag in (("close", window.close), ("open", window.open)):
            if tag in spans:
                raise GrammarError(f"the {name} {tag!r} of a window is the tag of a span")
            if tag:
                uses.setdefault(tag, f"the {name} {tag!r} of a window")
        fences.add(window.close)  # the first place where it is complete counts
    for key, problem in tag_problems(uses, fences):
        raise GrammarError(f"{key}: {problem}")
