"""What an engine can be asked for: a request that it cannot honour is refused before anything is decoded."""

from __future__ import annotations

from evalspan.orchestrator.backend import RequestEngine, SpanEngine, StepEngine, TextEngine
from evalspan.orchestrator.errors import RequestError
from evalspan.orchestrator.grammar import MODES, Grammar, Mode
from evalspan.orchestrator.requests import Request
from evalspan.orchestrator.sampling import SamplingParams
from evalspan.orchestrator.sentences import FreeText
from evalspan.orchestrator.windows import Windows, needs_mask

__all__ = ["checked"]


def checked(request: Request, engine: StepEngine | RequestEngine | SpanEngine, backend: str) -> tuple[Mode, Grammar]:
    """The mode and the grammar of a request to an engine of the backend of this name. The prompt is not looked at.

    Raises:
        RequestError: the engine cannot do it.
    """
    sampling = request.sampling or SamplingParams()
    default: Mode = "grammar-eval" if isinstance(engine, StepEngine | SpanEngine) else "no-grammar"
    mode, grammar = request.mode or default, request.grammar or FreeText()
    if mode not in MODES:
        raise RequestError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
    request.check()
    masked = mode != "no-grammar"
    if masked and not isinstance(engine, StepEngine | SpanEngine):
        raise RequestError(f"backend {backend!r} samples by itself and cannot be masked: use mode 'no-grammar'")
    if request.ledger and not isinstance(engine, StepEngine):
        raise RequestError(f"backend {backend!r} samples by itself and has no ledger")
    if not masked and needs_mask(grammar):
        raise RequestError(
            "mode 'no-grammar' takes no grammar and requires no span; only windows that are open from the start "
            "may come before free text"
        )
    if isinstance(engine, SpanEngine):
        engine.check(mode, grammar, sampling)
        return mode, grammar
    if isinstance(grammar, Windows) and grammar.limited and not isinstance(engine, StepEngine):
        raise RequestError(f"backend {backend!r} samples by itself: a window can have no max_tokens")
    if isinstance(engine, TextEngine):
        if grammar != FreeText():
            raise RequestError(f"backend {backend!r} shows text alone: it takes no grammar")
        engine.check(sampling)
    return mode, grammar
