"""Sequences that share a llama.cpp batch do not see each other, and forced tokens ride with sampled ones."""

from collections.abc import Iterator

import numpy as np
import pytest
from llama_support import engine_of, softmax

from evalspan.orchestrator import BackendError, Driver, Injected, Request, experiment
from evalspan.orchestrator.backend import Feed

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def batched() -> Iterator[Driver]:
    """SmolLM2-135M with room for four sequences."""
    with Driver.open("llama_cpp", context_tokens=400, slots=4) as opened:
        yield opened


def test_a_step_of_many_sequences_is_many_steps_of_one(batched: Driver) -> None:
    engine, encode = engine_of(batched), batched.backend.tokenizer.encode
    texts = [b"The capital of France is", b"One, two, three,", b"<calc>17 * 23</calc><result>391</result> so", b"A"]
    feeds = [encode(text) for text in texts]
    alone = []
    for tokens in feeds:
        sequence = engine.open()
        alone += engine.decode([Feed(sequence, tokens)])
        engine.close(sequence)
    # Together: of each prompt half, then the rest, beside single tokens of those that were short.
    sequences = [engine.open() for _ in feeds]
    halves = [max(1, len(tokens) // 2) for tokens in feeds]
    first = [Feed(s, t[:h], wants_logits=h == len(t)) for s, t, h in zip(sequences, feeds, halves, strict=True)]
    answers = dict(zip(sequences, engine.decode(first), strict=True))
    assert [answers[s] is None for s in sequences] == [h < len(t) for t, h in zip(feeds, halves, strict=True)]
    rest = [Feed(s, t[h:]) for s, t, h in zip(sequences, feeds, halves, strict=True) if h < len(t)]
    answers |= dict(zip([feed.sequence for feed in rest], engine.decode(rest), strict=True))
    for sequence, expected in zip(sequences, alone, strict=True):
        # Batches of another size round otherwise: 8-bit activations.
        assert np.abs(softmax(answers[sequence]) - softmax(expected)).max() < 0.03
        engine.close(sequence)


def test_a_batch_longer_than_one_decode_is_cut(batched: Driver) -> None:
    engine, encode = engine_of(batched), batched.backend.tokenizer.encode
    long = encode(b"word and " * 180)[:390]
    sequences = [engine.open() for _ in range(3)]
    together = engine.decode([Feed(sequence, long) for sequence in sequences])
    for logits in together[1:]:
        assert np.abs(softmax(logits) - softmax(together[0])).max() < 0.03
    with pytest.raises(BackendError, match="is full"):
        engine.decode([Feed(sequences[0], long)])
    for sequence in sequences:
        engine.close(sequence)


def test_five_boxes_over_four_slots_have_exact_results_and_closing_numbers(batched: Driver) -> None:
    problems = list(experiment.problems(5, seed=3))
    results = batched.generate_many(
        Request(
            experiment.conversation(problem, batched.registry),
            grammar=experiment.SENTENCE,
            max_tokens=experiment.MAX_TOKENS,
        )
        for problem in problems
    )
    right = 0
    for problem, result in zip(problems, results, strict=True):
        verdict = experiment.judge(problem, result.events, batched.registry, batched.evaluators)
        assert verdict in ("right", "wrong expression")
        right += verdict == "right"
        injected = [event for event in result.events if isinstance(event, Injected)]
        assert [event.kind for event in injected][-2:] == ["result", "restated"]
        assert injected[-2].text == f"<result>{injected[-1].text}</result>"
    assert right >= 2
