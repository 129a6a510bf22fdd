"""Plugins are found by entry point, and one that is wrong is named."""

import sys
import types
from collections.abc import Callable
from importlib import metadata
from typing import Any

import pytest

from evalspan.backends.scripted import ScriptedBackend
from evalspan.orchestrator import PluginError
from evalspan.orchestrator.hookspecs import hookimpl
from evalspan.orchestrator.plugins import backend_class, backends, plugins

Install = Callable[..., None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Adds plugins to those installed; each is a module name and what it holds."""
    real = metadata.entry_points

    def add(**modules: dict[str, Any] | None) -> None:
        for name, content in modules.items():
            if content is not None:
                module = types.ModuleType(name)
                module.__dict__.update(content)
                monkeypatch.setitem(sys.modules, name, module)
        points = [metadata.EntryPoint(name, name, "evalspan") for name in modules]

        def entry_points(**wanted: str) -> Any:
            return [*real(**wanted), *points] if wanted == {"group": "evalspan"} else real(**wanted)

        monkeypatch.setattr(metadata, "entry_points", entry_points)

    return add


def hook(*classes: type) -> dict[str, Any]:
    @hookimpl
    def evalspan_backends() -> list[type]:
        return list(classes)

    return {"evalspan_backends": evalspan_backends}


class Other(ScriptedBackend):
    name = "other"
    description = "another"


def test_the_built_in_backends_come_through_an_entry_point() -> None:
    assert {"llama_cpp", "scripted"} <= set(backends())
    assert [plugin.name for plugin in plugins()] == ["builtin"]


def test_a_third_partys_backend_is_found(install: Install) -> None:
    install(other_plugin=hook(Other))
    assert backend_class("other") is Other


def test_a_name_taken_twice_is_an_error(install: Install) -> None:
    install(other_plugin=hook(ScriptedBackend))
    with pytest.raises(PluginError, match="'scripted' is offered by both plugins 'builtin' and 'other_plugin'"):
        plugins()


def test_a_misspelt_hook_is_an_error(install: Install) -> None:
    @hookimpl
    def evalspan_backend() -> list[type]:
        return []

    install(other_plugin={"evalspan_backend": evalspan_backend})
    with pytest.raises(PluginError, match="evalspan_backend"):
        plugins()


def test_a_plugin_that_does_not_import_is_named(install: Install) -> None:
    install(no_such_plugin=None)
    with pytest.raises(PluginError, match=r"'no_such_plugin'.*does not import"):
        plugins()


def test_an_unknown_backend_names_the_closest() -> None:
    with pytest.raises(PluginError, match="did you mean 'scripted'"):
        backend_class("script")
