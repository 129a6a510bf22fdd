"""What the tests of JSON schemas share: scripted documents, and short ways to write schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalspan.backends.scripted import ScriptedBackend
from evalspan.orchestrator import Driver, Event
from evalspan.orchestrator.json import JsonSchema
from evalspan.policies import Registry

__all__ = ["bind", "fields", "play_json"]


def play_json(schema: Mapping[str, Any], script: str, *, max_tokens: int = 39_000, **options: Any) -> list[Event]:
    """The events of a model that wants to write the script, byte by byte, under a schema."""
    backend = ScriptedBackend.replay(list(script), context_tokens=40_000)
    with Driver(backend, Registry.load()) as opened:
        return list(opened.stream("go", grammar=JsonSchema(schema), max_tokens=max_tokens, **options))


def bind(evaluator: str = "arithmetic", **how: str) -> dict[str, str]:
    """An `x-evalspan`."""
    return {"evaluator": evaluator, **how}


def fields(**properties: Any) -> dict[str, Any]:
    """The schema of an object with these properties, all required."""
    return {"type": "object", "properties": properties, "required": list(properties)}
