"""Finding backends: a fresh plugin manager per use, and no plugin that is quietly wrong."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from importlib import metadata

import pluggy

from evalspan.orchestrator import hookspecs
from evalspan.orchestrator.backend import Backend
from evalspan.orchestrator.errors import PluginError

__all__ = ["Plugin", "backend_class", "backends", "plugins"]

GROUP = "evalspan"


@dataclass(frozen=True, slots=True)
class Plugin:
    """An installed plugin, the distribution it came with, and the backends it offers."""

    name: str
    distribution: str
    backends: tuple[type[Backend], ...]


def plugins() -> list[Plugin]:
    """The installed plugins, by name.

    Raises:
        PluginError: a plugin does not import, has a hook that is not specified, or repeats a backend's name.
    """
    found: list[Plugin] = []
    owners: dict[str, str] = {}
    for point in sorted(metadata.entry_points(group=GROUP), key=lambda point: point.name):
        manager = pluggy.PluginManager(GROUP)
        manager.add_hookspecs(hookspecs)
        try:
            manager.register(point.load(), name=point.name)
            manager.check_pending()
        except pluggy.PluginValidationError as error:
            cause = str(error).strip().splitlines()[-1]
            raise PluginError(f"plugin {point.name!r} ({point.value}): {cause}") from None
        except Exception as error:
            raise PluginError(f"plugin {point.name!r} ({point.value}) does not import: {error}") from error
        offered = tuple(cls for classes in manager.hook.evalspan_backends() for cls in classes)
        for cls in offered:
            if cls.name in owners:
                raise PluginError(
                    f"backend {cls.name!r} is offered by both plugins {owners[cls.name]!r} and {point.name!r}"
                )
            owners[cls.name] = point.name
        distribution = f"{point.dist.name} {point.dist.version}" if point.dist else "unknown"
        found.append(Plugin(point.name, distribution, offered))
    return found


def backends() -> dict[str, type[Backend]]:
    """Every installed backend class by its name."""
    return {cls.name: cls for plugin in plugins() for cls in plugin.backends}


def backend_class(name: str) -> type[Backend]:
    """The backend class called `name`.

    Raises:
        PluginError: there is none; the text names the closest.
    """
    known = backends()
    if name in known:
        return known[name]
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"installed: {', '.join(sorted(known)) or 'none'}"
    raise PluginError(f"no backend is called {name!r}; {hint}")
