"""JSON Schema 2020-12 as a grammar, with values that the engine computes and assertions that it checks."""

from evalspan.orchestrator.json.schema import JsonSchema

__all__ = ["JsonSchema"]
