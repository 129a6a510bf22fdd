"""The same script on llama.cpp; tests/vllm has it for vLLM, with the same expectations."""

from __future__ import annotations

import pytest
from one_sentence import FORCED, GRAMMAR, TEXT, forced

from evalspan.orchestrator import Driver


@pytest.mark.model
def test_a_grammar_with_one_sentence_has_the_same_text_and_injected_tokens_everywhere() -> None:
    with Driver.open("llama_cpp", context_tokens=256) as driver:
        generation = driver.generate("Say it.", grammar=GRAMMAR, max_tokens=128)
    assert generation.text == TEXT
    assert forced(generation.events) == FORCED
