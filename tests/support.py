"""What several tests share: scripted generations, and reading their events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from evalspan.backends.scripted import ScriptedBackend
from evalspan.orchestrator import Driver, Evaluated, Event, Failed, Finished, Injected, Text
from evalspan.policies import Registry

__all__ = ["CASE_REGISTRY", "SHORT_TAGS", "finished", "kinds", "play", "streamed", "timeless"]

CASE_REGISTRY = """
version = 1
[[evaluator]]
name = "arithmetic"
builtin = "arithmetic/1"
[[span]]
name = "calc"
open = "<calc>"
close = "</calc>"
evaluator = "arithmetic"
"""
"""A span whose content is any text, so that malformed expressions can be written under a mask too."""

SHORT_TAGS = """
version = 1
[[evaluator]]
name = "arithmetic"
builtin = "arithmetic/1"
[[span]]
name = "calc"
open = "<c>"
close = "</c>"
content = "[0-9+/]+"
evaluator = "arithmetic"
result = { open = "<r>", close = "</r>" }
error = { open = "<e>", close = "</e>" }
"""
"""Tags of three bytes, so that every place inside them can be reached in a few tokens."""


def play(
    tokens: Iterable[bytes | str | Mapping[str, float]],
    *,
    prompt: Any = "go",
    registry: Registry | str | None = None,
    vocabulary: Iterable[bytes] = (),
    context_tokens: int = 4096,
    level: Any = "step",
    width: int = 1,
    **options: Any,
) -> list[Event]:
    """The events of a scripted generation."""
    if isinstance(registry, str):
        registry = Registry.parse(registry)
    backend = ScriptedBackend.replay(
        tokens, vocabulary=vocabulary, context_tokens=context_tokens, level=level, width=width
    )
    with Driver(backend, registry) as driver:
        return list(driver.stream(prompt, **options))


def finished(events: list[Event]) -> Finished:
    """The last event."""
    last = events[-1]
    assert isinstance(last, Finished)
    return last


def streamed(events: list[Event]) -> str:
    """The text as a reader of the stream saw it."""
    return "".join(event.text for event in events if isinstance(event, Text | Injected))


def kinds(events: list[Event]) -> list[str]:
    """The kinds of the events, text left out."""
    return [event.event for event in events if event.event != "text"]


def timeless(events: Iterable[Event]) -> list[Event]:
    """Events without times, and with each text in one piece."""
    merged: list[Event] = []
    for event in events:
        if isinstance(event, Evaluated | Failed):
            event = replace(event, microseconds=0.0)
        elif isinstance(event, Injected):
            event = replace(event, milliseconds=0.0)
        if merged and isinstance(event, Text) and isinstance(merged[-1], Text):
            merged[-1] = Text(merged[-1].text + event.text)
        else:
            merged.append(event)
    return merged
