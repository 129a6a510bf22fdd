"""The real model, loaded once."""

from collections.abc import Iterator

import pytest

from evalspan.orchestrator import Driver


@pytest.fixture(scope="session")
def driver() -> Iterator[Driver]:
    """SmolLM2-135M on llama.cpp, with the registry that ships."""
    with Driver.open("llama_cpp", context_tokens=1024) as opened:
        yield opened
