"""Drivers for the oracle: the scripted backend with an awkward vocabulary, on a grammar engine by its name."""

from __future__ import annotations

from evalspan.backends.scripted import ScriptedBackend, ScriptedSteps
from evalspan.conformance.oracle.cases import OracleCase
from evalspan.conformance.oracle.vocabulary import AWKWARD, AwkwardTokenizer
from evalspan.orchestrator import Driver
from evalspan.orchestrator.engines import EngineName
from evalspan.policies import Registry

__all__ = ["DEFAULT_ENGINE", "awkward_driver"]

DEFAULT_ENGINE: EngineName = "llguidance"

_CONTEXT_TOKENS = 4096  # more than any path, its forced texts included


def awkward_driver(case: OracleCase, engine: EngineName = DEFAULT_ENGINE) -> Driver:
    """A driver for a case. It samples nothing: what is looked at is the machine that it builds.

    Raises:
        GrammarError: the grammar engine is not installed.
    """
    backend = ScriptedBackend.replay([])
    backend.tokenizer = AwkwardTokenizer((*AWKWARD, *case.pieces))
    backend.engine = ScriptedSteps([], len(backend.tokenizer.pieces), _CONTEXT_TOKENS)
    return Driver(backend, Registry.parse(case.registry), grammar_engine=engine)
