"""The hooks of the `evalspan` entry-point group."""

from __future__ import annotations

import pluggy

from evalspan.orchestrator.backend import Backend

__all__ = ["hookimpl", "hookspec"]

hookspec = pluggy.HookspecMarker("evalspan")
hookimpl = pluggy.HookimplMarker("evalspan")
"""Marks a plugin's implementation of a hook."""


@hookspec
def evalspan_backends() -> list[type[Backend]]:  # type: ignore[empty-body]
    """The backend classes that the plugin offers. Importing the plugin must not import an engine."""
