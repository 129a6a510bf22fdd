"""Registry files, and what a driver builds on one before it generates: evaluators, a plan, a compiled grammar."""

from __future__ import annotations

from pathlib import Path

from evalspan.backends.scripted import ScriptedTokenizer
from evalspan.conformance.fuzz.host.subject import Disagreement
from evalspan.evaluators import Evaluators
from evalspan.orchestrator import FreeText
from evalspan.orchestrator.machine import SpanPlan
from evalspan.orchestrator.matcher import CompiledGrammar, Place, Vocabulary
from evalspan.policies import Registry

__all__ = ["RegistrySubject"]

_START = Place(None, 0, b"")


class RegistrySubject:
    """Reads a file as `Registry.load` does."""

    def __init__(self) -> None:
        self._path = Path("registry.toml")
        self._vocabulary = Vocabulary(ScriptedTokenizer([b"<calc>", b"</calc>", b"12", b"a>"]))

    def run(self, data: bytes) -> str:
        """The registry twice: its identity must be the same; then everything that is built on it."""
        self._path.write_bytes(data)
        registry = Registry.load(self._path)
        again = Registry.load(self._path)
        if registry.digest != again.digest:
            raise Disagreement("two digests of one file", f"{registry.digest} and {again.digest}")
        plan = SpanPlan(registry)
        for rule in registry.spans:
            registry.limits_for(registry.evaluator(rule.evaluator), rule)
        with Evaluators(registry) as evaluators:
            evaluators.open()
        compiled = CompiledGrammar(FreeText().compile(registry, self._vocabulary.marks), self._vocabulary)
        allowed = int(compiled.matcher().mask(_START).sum())
        return f"{len(registry.spans)} spans {len(plan.channels)} channels {'masked' if allowed else 'empty'}"
