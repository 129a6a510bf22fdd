"""Two ranks that share a model: each runs the processor, and both force the same tokens."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalspan.backends.in_engine import registries
from evalspan.backends.transformers_tokenizer import TransformersTokenizer
from evalspan.orchestrator import Finished, Injected, LarkText
from evalspan.orchestrator.replay import Replayer
from evalspan.policies import Registry

# A model with random weights writes anything; with this content it cannot but write sums.
REGISTRY = """
version = 1
[[evaluator]]
name = "arithmetic"
builtin = "arithmetic/1"
[[span]]
name = "sum"
open = "<sum>"
close = "</sum>"
content = '[1-9][0-9]{0,2} \\+ [1-9][0-9]{0,2}'
evaluator = "arithmetic"
"""
GRAMMAR = 'start: "a " @sum " b " @sum " c " @sum'


@pytest.fixture(scope="module")
def divisible(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model with random weights and an even number of heads, with the vocabulary of the other one."""
    from transformers import LlamaConfig, LlamaForCausalLM

    folder = tmp_path_factory.mktemp("divisible")
    for name in ("tokenizer.json", "tokenizer_config.json", "generation_config.json"):
        shutil.copy(model / name, folder)
    config = LlamaConfig(
        vocab_size=49_152,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=512,
        bos_token_id=1,
        eos_token_id=2,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ranks")
    (folder / "sums.toml").write_text(REGISTRY)
    return folder


@pytest.fixture(scope="module")
def engine(divisible: Path, folder: Path) -> Iterator[Any]:
    from vllm import LLM

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVALSPAN_REGISTRIES", str(folder / "sums.toml"))
        patch.setenv("EVALSPAN_VLLM_RECORD", str(folder / "rank{rank}.jsonl"))
        patch.setenv("VLLM_CPU_OMP_THREADS_BIND", "0|1")
        registries._load.cache_clear()
        llm = LLM(
            str(divisible),
            dtype="float32",
            max_model_len=256,
            max_num_seqs=8,
            tensor_parallel_size=2,
            enforce_eager=True,
            logits_processors=["evalspan.backends.vllm_plugin:EvaluatorLogitsProcessor"],
        )
        yield llm
        llm.llm_engine.engine_core.shutdown()
        registries._load.cache_clear()


def test_both_ranks_read_and_force_the_same(engine: Any, folder: Path, tokenizer: TransformersTokenizer) -> None:
    from vllm import SamplingParams

    sampling = [
        SamplingParams(
            max_tokens=120,
            temperature=1.0,
            extra_args={"evalspan": "sums", "evalspan_grammar": GRAMMAR, "evalspan_label": str(number)},
        )
        for number in range(6)
    ]
    outputs = [answer.outputs[0] for answer in engine.generate(["x"] * 6, sampling, use_tqdm=False)]
    engine.generate(["x"], SamplingParams(max_tokens=1), use_tqdm=False)  # a step in which they are taken out
    told = []
    for rank in (0, 1):
        lines = [json.loads(line) for line in (folder / f"rank{rank}.jsonl").read_text().splitlines()]
        told.append({line["label"]: line for line in lines})
    assert told[0] == told[1]
    assert set(told[0]) == set(map(str, range(6)))
    with Replayer(Registry.parse(REGISTRY), tokenizer) as replayer:
        for number, output in enumerate(outputs):
            events = replayer.replay(output.token_ids, grammar=LarkText(GRAMMAR), max_tokens=120)
            last = events[-1]
            assert isinstance(last, Finished) and last.reason == "eos"
            blocks = [event for event in events if isinstance(event, Injected)]
            assert len(blocks) == 3
            for block, written in zip(blocks, output.text.split("<sum>")[1:], strict=True):
                first, second = written.split("</sum>")[0].split(" + ")
                assert block.text == f"<result>{int(first) + int(second)}</result>"
            assert told[0][str(number)]["tokens"] == list(output.token_ids)
