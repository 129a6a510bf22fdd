"""The plugin of the built-in backends. Each module imports its engine in its constructor only."""

from __future__ import annotations

from evalspan.backends.llama_cpp import LlamaCppBackend
from evalspan.backends.openai_http import OpenAIHttpBackend
from evalspan.backends.scripted import ScriptedBackend
from evalspan.backends.vllm_backend import VllmBackend
from evalspan.orchestrator.backend import Backend
from evalspan.orchestrator.hookspecs import hookimpl

__all__ = ["evalspan_backends"]


@hookimpl
def evalspan_backends() -> list[type[Backend]]:
    """The backends that ship with evalspan."""
    return [LlamaCppBackend, OpenAIHttpBackend, ScriptedBackend, VllmBackend]
