"""A generation ends when its time is up or when it is cancelled, and the others go on."""

import time
from collections.abc import Sequence

import pytest
from support import CASE_REGISTRY

from evalspan.backends.scripted import ScriptedBackend, ScriptedSteps
from evalspan.orchestrator import Cancellation, Driver, Finished, Injected, Request, RequestError, Text
from evalspan.orchestrator.backend import Feed, Logits
from evalspan.orchestrator.generating import Deadline
from evalspan.policies import Registry


class SlowSteps(ScriptedSteps):
    """An engine that takes 10 ms a step."""

    def decode(self, feeds: Sequence[Feed]) -> list[Logits | None]:
        time.sleep(0.01)
        return super().decode(feeds)


def slow(slots: int = 1) -> Driver:
    backend = ScriptedBackend.replay(["a"], slots=slots)
    backend.engine = SlowSteps([97] * 1000, len(backend.tokenizer.pieces), 4096, slots)
    return Driver(backend)


def test_a_deadline_begins_with_the_first_step_and_is_told_by_the_clock() -> None:
    now = [100.0]
    deadline = Deadline(2.5, clock=lambda: now[0])
    now[0] = 200.0
    assert deadline.reason() is None
    deadline.begin()
    now[0] = 202.4
    assert deadline.reason() is None
    now[0] = 202.5
    assert deadline.reason() == "time_limit"


def test_time_ends_one_of_a_batch_and_not_the_others() -> None:
    with slow(2) as driver:
        short, whole = driver.generate_many(
            [Request("go", max_tokens=1000, time_limit=0.05), Request("go", max_tokens=20)]
        )
    assert short.reason == "time_limit"
    assert 1 <= len(short.text) < 20
    assert (whole.reason, len(whole.text)) == ("length", 20)


def test_time_that_waits_for_a_slot_does_not_count() -> None:
    with slow() as driver:
        results = driver.generate_many([Request("go", max_tokens=20), Request("go", max_tokens=3, time_limit=0.15)])
    assert [result.reason for result in results] == ["length", "length"]


def test_time_ends_a_generation_on_a_request_engine() -> None:
    backend = ScriptedBackend.replay(["a"] * 1000, level="request")
    with Driver(backend) as driver:
        stream = driver.stream("go", max_tokens=1000, time_limit=0.05)
        next(stream)
        time.sleep(0.06)
        *_, last = stream
        assert isinstance(last, Finished)
        assert (last.reason, last.text) == ("time_limit", "aa")


@pytest.mark.parametrize("level", ["step", "request"])
def test_cancelling_ends_a_generation_with_its_text(level: str) -> None:
    token = Cancellation()
    with Driver(ScriptedBackend.replay(["a"] * 100, level=level)) as driver:  # type: ignore[arg-type]
        text = ""
        for event in driver.stream("go", cancellation=token):
            if isinstance(event, Text):
                text += event.text
                if len(text) == 5:
                    token.cancel()
        assert isinstance(event, Finished)
        assert (event.reason, event.text) == ("cancelled", text)
        assert len(text) <= 6
        assert driver.counters.generations == {"cancelled": 1}


def test_cancelling_one_of_a_batch_frees_its_slot_for_one_that_waits() -> None:
    tokens = [Cancellation() for _ in range(5)]
    backend = ScriptedBackend.replay(["a"] * 50, slots=2)
    engine = backend.engine
    assert isinstance(engine, ScriptedSteps)
    with Driver(backend) as driver:
        ended = {}
        for index, event in driver.stream_many(Request("go", cancellation=token) for token in tokens):
            if index == 1 and isinstance(event, Text):
                tokens[1].cancel()  # runs
                tokens[3].cancel()  # waits
            if isinstance(event, Finished):
                ended[index] = event.reason
                assert engine.open_sequences <= 2
    assert ended == {0: "eos", 1: "cancelled", 2: "eos", 3: "cancelled", 4: "eos"}
    assert len(engine.fed) == 4  # the fourth never had a slot
    assert engine.open_sequences == 0


@pytest.mark.parametrize("after", range(1, 30))
def test_a_block_that_is_half_fed_is_told_before_the_end(after: int) -> None:
    """The text of the events is the whole text, wherever a cancellation falls."""
    token = Cancellation()
    backend = ScriptedBackend.replay(["<calc>", "2**64", "</calc>", "b"], slots=2)
    with Driver(backend, Registry.parse(CASE_REGISTRY), step_tokens=2) as driver:
        engine = backend.engine
        assert isinstance(engine, ScriptedSteps)
        texts: dict[int, str] = {0: "", 1: ""}
        for index, event in driver.stream_many([Request("go", cancellation=token), Request("go" * 40)]):
            if isinstance(event, Text | Injected):
                texts[index] += event.text
            if len(engine.steps) >= after:
                token.cancel()
            if isinstance(event, Finished):
                assert event.text == texts[index]


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_time_limit_that_is_no_time_is_refused(seconds: float) -> None:
    with Driver(ScriptedBackend.replay(["a"])) as driver, pytest.raises(RequestError, match="time_limit"):
        driver.stream("go", time_limit=seconds)
