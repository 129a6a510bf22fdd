"""A copy of a llama.cpp sequence goes on as the sequence would, and neither sees what the other is fed."""

from collections.abc import Iterator

import numpy as np
import pytest
from llama_support import engine_of, softmax

from evalspan.backends.llama_cpp import LlamaCppBackend, LlamaSteps
from evalspan.orchestrator import BackendError, BackendOptions, Driver, Request, SamplingParams
from evalspan.orchestrator.backend import Feed, Logits

pytestmark = pytest.mark.model

PROMPT = b"The capital of France is Paris. The capital of Italy is"


@pytest.fixture(scope="module")
def forking() -> Iterator[Driver]:
    """SmolLM2-135M with room for three sequences."""
    with Driver(LlamaCppBackend(BackendOptions(context_tokens=200, slots=3, threads=1))) as opened:
        yield opened


def close_to(got: Logits | None, expected: Logits | None) -> bool:
    """Within the rounding of batches of another size, in 8-bit activations."""
    return bool(np.abs(softmax(got) - softmax(expected)).max() < 0.03)


def fresh(engine: LlamaSteps, tokens: list[int]) -> Logits | None:
    sequence = engine.open()
    (logits,) = engine.decode([Feed(sequence, tokens)])
    engine.close(sequence)
    return logits


def test_a_copy_goes_on_as_its_source_and_they_do_not_see_each_other(forking: Driver) -> None:
    engine, encode = engine_of(forking), forking.backend.tokenizer.encode
    prompt, rome, other = encode(PROMPT), encode(b" Rome. The"), encode(b" not 17 * 23, but")
    expected = [fresh(engine, [*prompt, *more]) for more in (rome, other, rome)]
    assert not close_to(expected[0], expected[1])
    first = engine.open()
    engine.decode([Feed(first, prompt)])
    second = engine.fork(first)
    answers = engine.decode([Feed(first, rome), Feed(second, other)])
    assert [close_to(got, wanted) for got, wanted in zip(answers, expected, strict=False)] == [True, True]
    engine.close(first)
    engine.close(second)


def test_a_source_that_is_closed_and_used_anew_before_the_next_step_leaves_its_copy_whole(forking: Driver) -> None:
    engine, encode = engine_of(forking), forking.backend.tokenizer.encode
    prompt, rome, noise = encode(PROMPT), encode(b" Rome. The"), encode(b"zebra " * 30)
    expected = fresh(engine, [*prompt, *rome])
    source = engine.open()
    engine.decode([Feed(source, prompt)])
    copy = engine.fork(source)
    engine.close(source)
    anew = engine.open()
    assert anew == source
    _, got = engine.decode([Feed(anew, noise), Feed(copy, rome)])
    assert close_to(got, expected)
    grandchild = engine.fork(copy)
    with pytest.raises(BackendError, match="slots"):
        engine.fork(copy)
    for sequence in (anew, copy, grandchild):
        engine.close(sequence)


def test_samples_of_one_prompt_are_its_single_runs_up_to_rounding(forking: Driver) -> None:
    request = Request("The sum of 17 and 4 is", max_tokens=6, sampling=SamplingParams(0.8, top_k=5, seed=1))
    samples = forking.samples(request, 5)
    assert len({sample.text for sample in samples}) > 1
    assert all(len(sample.text) > 0 and sample.reason in ("eos", "length") for sample in samples)
    again = forking.samples(request, 5)
    # The same draws on logits of the same batches.
    assert [sample.text for sample in samples] == [sample.text for sample in again]
