"""Grammar engines: who keeps an output in its grammar. Each takes the same grammars, or refuses them."""

from __future__ import annotations

from evalspan.orchestrator.backend import Tokenizer
from evalspan.orchestrator.engines.base import (
    ENGINES,
    Allowed,
    Engine,
    EngineGrammar,
    EngineName,
    EngineState,
    check_engine,
    engine_identity,
)

__all__ = [
    "ENGINES",
    "Allowed",
    "Engine",
    "EngineGrammar",
    "EngineName",
    "EngineState",
    "check_engine",
    "engine_identity",
    "open_engine",
]


def open_engine(name: EngineName, tokenizer: Tokenizer) -> Engine:
    """An engine for a tokenizer's vocabulary.

    Raises:
        GrammarError: there is none of this name, it is not installed, or it cannot hold the vocabulary.
    """
    check_engine(name)
    if name == "xgrammar":
        from evalspan.orchestrator.engines.xgrammar import XGrammar

        return XGrammar(tokenizer)
    from evalspan.orchestrator.engines.llguidance import LLGuidance

    return LLGuidance(tokenizer)
