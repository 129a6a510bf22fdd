"""What the tests of evaluators share: a module cache that is not the user's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def _module_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache") / "modules"
        patch.setenv("EVALSPAN_CACHE", str(folder))
        patch.delenv("EVALSPAN_SANDBOX", raising=False)
        yield folder
