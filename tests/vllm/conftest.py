"""vLLM's environment: only `make test-vllm` has it, and only there are these tests collected."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalspan.backends.transformers_tokenizer import TransformersTokenizer
from evalspan.backends.vllm_model import prepared_model
from evalspan.orchestrator.replay import Replayer
from evalspan.policies import Registry

# A room for the KV cache that the tests' model fits in many times; the default is half of the machine's memory.
os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
# The tests make no request to anybody but their own servers.
os.environ.update(VLLM_NO_USAGE_STATS="1", DO_NOT_TRACK="1", HF_HUB_OFFLINE="1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """vLLM and what it brings warn a lot; that is not ours to mend."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("default"))


@pytest.fixture(scope="session")
def model() -> Path:
    """SmolLM2-135M as safetensors."""
    return prepared_model()


@pytest.fixture(scope="session")
def tokenizer(model: Path) -> TransformersTokenizer:
    """Its vocabulary, as the processor sees it."""
    from transformers import AutoTokenizer

    return TransformersTokenizer(AutoTokenizer.from_pretrained(model))


@pytest.fixture(scope="session")
def replayer(tokenizer: TransformersTokenizer) -> Iterator[Replayer]:
    """Tells what was done inside, with the registry that ships."""
    with Replayer(Registry.load(), tokenizer) as opened:
        yield opened
