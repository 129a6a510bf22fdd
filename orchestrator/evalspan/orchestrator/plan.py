"""A registry prepared for the span machine."""

from __future__ import annotations

from collections.abc import Iterable

from evalspan.orchestrator.tags import TagAutomaton
from evalspan.policies import Registry

__all__ = ["SpanPlan"]


class SpanPlan:
    """A registry prepared for the machine; shared by all sequences."""

    def __init__(
        self, registry: Registry, *, evaluate_spans: bool = True, inert: bool = False, closes: Iterable[str] = ()
    ) -> None:
        """`inert` text has no spans: an open tag in it is text like any other. `closes` are what ends the windows of a
        grammar."""
        self.registry = registry
        self.evaluate_spans = evaluate_spans
        self.automaton = TagAutomaton(tag.encode() for tag in dict.fromkeys((*registry.tags, *closes)))
        self.opens = {rule.open.encode(): rule for rule in registry.spans if not inert}
        self.channels = {channel.open.encode(): channel for channel in registry.channels if not inert}
        self.results = {
            tag.encode()
            for rule in registry.spans
            for tag in (rule.result.open, rule.result.close, rule.error.open, rule.error.close)
        }

    def unwritable(self, spans: frozenset[str] | None) -> tuple[bytes, ...]:
        """The tags that a model must not write: the engine's, and those of spans that a grammar has no place for."""
        if spans is None:
            return tuple(sorted(self.results))
        places = [rule for rule in self.registry.spans if rule.name in spans]
        written = {tag.encode() for rule in places for tag in (rule.open, rule.close)}
        return tuple(sorted({tag.encode() for tag in self.registry.tags} - written))
