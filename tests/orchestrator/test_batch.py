"""Generations that share steps: each is as it would be alone, none waits for a long block, all slots are freed."""

import pytest
from support import CASE_REGISTRY

from evalspan.backends.scripted import ScriptedBackend, ScriptedSteps
from evalspan.orchestrator import (
    Driver,
    Event,
    Finished,
    Injected,
    Pattern,
    PromptError,
    Request,
    SamplingParams,
    Sentence,
)
from evalspan.policies import Registry

LETTERS: dict[str, float] = {"a": 1.5, "b": 1.2, "c": 1.1, "<calc>2**64</calc>": 1.4}
SCRIPT = [*[LETTERS] * 6, "<calc>17 * 23</calc>", *[LETTERS] * 4]


def driver(slots: int, **options: int) -> Driver:
    backend = ScriptedBackend.replay(SCRIPT, slots=slots, context_tokens=500)
    return Driver(backend, Registry.parse(CASE_REGISTRY), **options)


def engine_of(driver: Driver) -> ScriptedSteps:
    assert isinstance(driver.backend.engine, ScriptedSteps)
    return driver.backend.engine


def requests(count: int) -> list[Request]:
    return [
        Request("go" * (1 + seed % 40), sampling=SamplingParams(1.0, seed=seed), max_tokens=20 + seed % 200)
        for seed in range(count)
    ]


def facts(events: tuple[Event, ...]) -> list[object]:
    """The events without their times."""
    return [
        event.text if isinstance(event, Injected) else event for event in events if event.event not in ("evaluated",)
    ]


@pytest.mark.parametrize("step_tokens", [1, 7, 64, 10_000])
def test_each_of_a_batch_is_as_it_would_be_alone(step_tokens: int) -> None:
    with driver(16, step_tokens=step_tokens) as many, driver(1) as one:
        together = many.generate_many(requests(60))
        assert engine_of(many).open_sequences == 0
        assert max(engine_of(many).steps) == 16
        for request, result in zip(requests(60), together, strict=True):
            alone = one.generate(request.prompt, sampling=request.sampling, max_tokens=request.max_tokens)
            assert facts(result.events) == facts(alone.events)
    assert len({result.text for result in together}) > 20
    assert any("<result>18446744073709551616</result>" in result.text for result in together)


def test_a_thousand_requests_over_sixteen_slots_finish_in_order() -> None:
    with driver(16) as many:
        results = many.generate_many(requests(1000))
        assert len(results) == 1000
        assert engine_of(many).open_sequences == 0
        # Full steps, nearly to the end: a sequence that leaves makes room for the next one at once.
        full = sum(feeds == 16 for feeds in engine_of(many).steps)
        assert full / len(engine_of(many).steps) > 0.9


@pytest.mark.parametrize("step_tokens", [1, 5])
def test_no_step_takes_more_of_a_block_than_its_budget_while_others_wait(step_tokens: int) -> None:
    with driver(4, step_tokens=step_tokens) as many:
        many.generate_many([Request("go " * 30, max_tokens=100) for _ in range(4)])
        assert max(len(call) for call in engine_of(many).calls) == step_tokens


def test_a_generation_alone_feeds_its_prompt_and_its_blocks_whole() -> None:
    with driver(4, step_tokens=1) as many:
        many.generate_many([Request("go " * 30, max_tokens=100)])
        lengths = [len(call) for call in engine_of(many).calls]
        assert lengths[0] == 90
        assert len("<result>391</result>") + 1 in lengths


def test_closing_the_stream_frees_every_slot() -> None:
    with driver(8) as many:
        stream = many.stream_many(requests(50))
        for _ in range(40):
            next(stream)
        assert engine_of(many).open_sequences == 8
        stream.close()
        assert engine_of(many).open_sequences == 0


def test_a_request_that_cannot_be_honoured_cancels_the_others() -> None:
    with driver(2) as many:
        with pytest.raises(PromptError):
            many.generate_many([Request("go"), Request("")])
        assert engine_of(many).open_sequences == 0


def test_requests_are_taken_as_slots_become_free() -> None:
    taken: list[int] = []

    def endless() -> object:
        for index in range(10_000):
            taken.append(index)
            yield Request("go", max_tokens=2)

    with driver(3) as many:
        stream = many.stream_many(endless())  # type: ignore[arg-type]
        ended = 0
        while ended < 5:
            ended += isinstance(next(stream)[1], Finished)
        stream.close()
    assert len(taken) < 12


def test_one_that_cannot_go_on_ends_and_the_others_do_not() -> None:
    backend = ScriptedBackend.replay([{"a": 2.0, "b": float("nan")}, "c"], slots=2)
    with Driver(backend) as many:
        # Greedy trips over the logit that is no number; a mask that forbids the token never looks at it.
        no_b = Sentence((Pattern("[ac]+"),))
        bad, good = many.generate_many([Request("go"), Request("go", grammar=no_b)])
    assert (bad.reason, bad.text) == ("decode_error", "")
    assert (good.reason, good.text) == ("eos", "ac")
