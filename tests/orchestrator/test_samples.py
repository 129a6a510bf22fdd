"""Samples of one prompt: each is as it would be alone with its seed, and the prompt is decoded once."""

import pytest
from support import CASE_REGISTRY

from evalspan.backends.scripted import ScriptedBackend, ScriptedSteps
from evalspan.orchestrator import Cancellation, Driver, Finished, Injected, PromptError, Request, RequestError
from evalspan.orchestrator.sampling import SamplingParams
from evalspan.policies import Registry

LETTERS: dict[str, float] = {"a": 1.5, "b": 1.2, "c": 1.1, "<calc>2**64</calc>": 1.4}
SCRIPT = [*[LETTERS] * 6, "<calc>17 * 23</calc>", *[LETTERS] * 4]
PROMPT = "a prompt of some length"


def driver(slots: int) -> Driver:
    backend = ScriptedBackend.replay(SCRIPT, slots=slots, context_tokens=500)
    return Driver(backend, Registry.parse(CASE_REGISTRY))


def engine_of(driver: Driver) -> ScriptedSteps:
    assert isinstance(driver.backend.engine, ScriptedSteps)
    return driver.backend.engine


@pytest.mark.parametrize("penalty", [1.0, 1.3])
@pytest.mark.parametrize(("slots", "n"), [(1, 5), (2, 5), (4, 5), (8, 5), (3, 40), (4, 1)])
def test_each_sample_is_as_it_would_be_alone_with_its_seed(slots: int, n: int, penalty: float) -> None:
    params = SamplingParams(0.9, seed=7, repetition_penalty=penalty)
    with driver(slots) as many, driver(1) as one:
        samples = many.samples(Request(PROMPT, sampling=params, max_tokens=90), n)
        assert engine_of(many).open_sequences == 0
        assert [sample.seed for sample in samples] == list(range(7, 7 + n))
        for sample in samples:
            alone = SamplingParams(0.9, seed=sample.seed or 0, repetition_penalty=penalty)
            expected = one.generate(PROMPT, sampling=alone, max_tokens=90)
            assert (sample.text, sample.reason) == (expected.text, expected.reason)
            blocks = [(event.text, event.tokens) for event in expected.events if isinstance(event, Injected)]
            assert [(event.text, event.tokens) for event in sample.injections] == blocks
        assert many.counters.generations.total() == n
    if n > 3:
        assert len({sample.text for sample in samples}) > 3


@pytest.mark.parametrize(("slots", "decoded"), [(1, 6), (2, 1), (4, 1), (16, 1)])
def test_the_prompt_is_decoded_once_where_there_are_slots(slots: int, decoded: int) -> None:
    with driver(slots) as many:
        many.samples(Request(PROMPT, sampling=SamplingParams(1.0), max_tokens=20), 6)
        prompt = tuple(many.backend.tokenizer.encode_prompt(PROMPT))
        assert engine_of(many).calls.count(prompt) == decoded
        assert all(tuple(fed[: len(prompt)]) == prompt for fed in engine_of(many).fed.values())


def test_the_last_sample_takes_over_the_slot_of_the_prompt() -> None:
    with driver(4) as many:
        many.samples(Request(PROMPT, sampling=SamplingParams(1.0), max_tokens=30), 4)
        assert len(engine_of(many).fed) == 4
        assert max(engine_of(many).steps) == 4


def test_closing_frees_every_slot_and_that_of_the_prompt() -> None:
    with driver(3) as many:
        stream = many.stream_samples(Request(PROMPT, sampling=SamplingParams(1.0)), 9)
        for _ in range(12):
            next(stream)
        assert engine_of(many).open_sequences == 3
        stream.close()
        assert engine_of(many).open_sequences == 0


def test_cancelling_ends_those_that_run_and_those_that_wait() -> None:
    token = Cancellation()
    with driver(3) as many:
        stream = many.stream_samples(Request(PROMPT, sampling=SamplingParams(1.0), cancellation=token), 6)
        reasons = {}
        for index, event in stream:
            token.cancel()
            if isinstance(event, Finished):
                reasons[index] = event.reason
        assert reasons == dict.fromkeys(range(6), "cancelled")
        assert engine_of(many).open_sequences == 0


def test_what_cannot_be_sampled_is_refused_at_once() -> None:
    with driver(2) as many:
        with pytest.raises(RequestError, match="set a temperature"):
            many.stream_samples(Request("go"), 2)
        with pytest.raises(RequestError, match="n must be"):
            many.samples(Request("go"), 0)
        with pytest.raises(PromptError):
            many.stream_samples(Request("", sampling=SamplingParams(1.0)), 2)
        assert len(many.samples(Request("go"), 1)) == 1


def test_a_request_engine_answers_one_sample_after_the_other() -> None:
    backend = ScriptedBackend.replay(list("abcdef"), level="request")
    with Driver(backend) as one:
        samples = one.samples(Request("go", max_tokens=2, sampling=SamplingParams(1.0, seed=3)), 2)
    assert [(sample.text, sample.seed) for sample in samples] == [("ab", 3), ("cd", 4)]
