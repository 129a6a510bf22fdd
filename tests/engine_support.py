"""Running tests with each grammar engine: import the two names with underscores into a module, and all of it does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evalspan.orchestrator import GrammarError, matcher
from evalspan.orchestrator.engines import ENGINES, EngineName, check_engine, open_engine

__all__ = ["each_engine", "installed", "pytest_generate_tests"]


def installed(name: EngineName) -> bool:
    """Whether an engine can be used here."""
    try:
        check_engine(name)
    except GrammarError:
        return False
    return True


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test marked `llguidance("why")` is about what only that engine does."""
    if "each_engine" in metafunc.fixturenames:
        alone = metafunc.definition.get_closest_marker("llguidance") is not None
        metafunc.parametrize("each_engine", ["llguidance"] if alone else ENGINES, indirect=True)


@pytest.fixture(autouse=True)
def each_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[EngineName]:
    """The engine that every vocabulary is given in the test, whatever it asks for."""
    name: EngineName = request.param
    if not installed(name):
        pytest.skip(f"{name} is not installed: make setup")
    monkeypatch.setattr(matcher, "open_engine", lambda _, tokenizer: open_engine(name, tokenizer))
    yield name
