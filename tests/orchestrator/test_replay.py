"""What an engine did with the tokens of an output is told again from the tokens alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import CASE_REGISTRY

from evalspan.backends.scripted import ScriptedBackend
from evalspan.orchestrator import DecodeError, Driver, Evaluated, Event, Failed, Finished, Injected, Text
from evalspan.orchestrator.replay import ForcedTokenLost, Replayer, clockless, replay
from evalspan.policies import Registry

REGISTRY = Registry.parse(CASE_REGISTRY)


def run(tokens: list[bytes], **options: Any) -> tuple[ScriptedBackend, list[int], list[Event]]:
    """A scripted generation: its backend, the tokens of its output, its events without times."""
    backend = ScriptedBackend.replay(tokens)
    with Driver(backend, REGISTRY) as driver:
        events = [timeless(event) for event in driver.stream("go", **options)]
    return backend, output(backend, events), events


def timeless(event: Event) -> Event:
    if isinstance(event, Evaluated | Failed):
        return replace(event, microseconds=0.0)
    return replace(event, milliseconds=0.0) if isinstance(event, Injected) else event


def output(backend: ScriptedBackend, events: list[Event]) -> list[int]:
    """The ids of an output that was written a byte a token, with the blocks as they were forced."""
    tokens: list[int] = []
    for event in events:
        if isinstance(event, Text):
            tokens += backend.tokenizer.encode(event.text.encode())
        elif isinstance(event, Injected):
            tokens += event.tokens
    return tokens


def spelt(text: str) -> list[bytes]:
    return [bytes([byte]) for byte in text.encode()]


def test_a_replay_has_the_events_of_the_generation() -> None:
    backend, tokens, events = run(spelt("so <calc>2 + 3</calc> and <calc>1 / 0</calc>!"))
    end = min(backend.tokenizer.eos_ids)
    told = replay(REGISTRY, backend.tokenizer, [*tokens, end], max_tokens=256, prompt_tokens=2)
    assert merged(told) == merged(events)
    assert [event.text for event in told if isinstance(event, Injected)] == [
        "<result>5</result>",
        "<result_error>division_by_zero: the divisor is 0: /</result_error>",
    ]


def merged(events: Any) -> list[Event]:
    """The events with adjacent texts joined, and no more than the reason of the last one."""
    told: list[Event] = []
    for event in events:
        if isinstance(event, Text) and told and isinstance(told[-1], Text):
            told[-1] = Text(told[-1].text + event.text)
        else:
            told.append(replace(event, prompt_tokens=0) if isinstance(event, Finished) else event)
    return told


def test_a_forced_token_that_came_back_as_another_is_named() -> None:
    backend, tokens, _ = run(spelt("<calc>2 + 3</calc>"))
    forced = tokens.index(backend.tokenizer.encode(b"5")[0])
    tokens[forced] = backend.tokenizer.encode(b"6")[0]
    with pytest.raises(ForcedTokenLost) as lost:
        replay(REGISTRY, backend.tokenizer, tokens)
    assert (lost.value.expected, lost.value.got) == tuple(backend.tokenizer.encode(b"56"))
    assert lost.value.code == "forced_token_lost"


def test_a_result_of_the_models_own_is_not_replayed() -> None:
    backend, _, _ = run(spelt("x"))
    with pytest.raises(DecodeError):
        replay(REGISTRY, backend.tokenizer, backend.tokenizer.encode(b"<result>4</result>"))


def test_what_stands_behind_the_end_is_an_error_unless_it_is_an_end_token() -> None:
    backend, _, _ = run(spelt("x"))
    end = min(backend.tokenizer.eos_ids)
    assert isinstance(replay(REGISTRY, backend.tokenizer, [end, end], max_tokens=9)[-1], Finished)
    with pytest.raises(DecodeError, match="behind the end"):
        replay(REGISTRY, backend.tokenizer, [end, backend.tokenizer.encode(b"x")[0]], max_tokens=9)


def test_an_output_that_was_cut_off_says_what_it_is_told() -> None:
    backend, tokens, _ = run(spelt("<calc>2 + 3</calc> and"))
    cut = replay(REGISTRY, backend.tokenizer, tokens[:-1], max_tokens=256, cut="stop_string")[-1]
    assert isinstance(cut, Finished) and cut.reason == "stop_string"
    whole = replay(REGISTRY, backend.tokenizer, tokens)[-1]
    assert isinstance(whole, Finished) and whole.reason == "length"


def test_a_block_that_does_not_fit_ends_the_output_and_is_not_begun() -> None:
    backend, _, _ = run(spelt("x"))
    tokens = backend.tokenizer.encode(b"<calc>2 + 3</calc>")
    last = replay(REGISTRY, backend.tokenizer, tokens, max_tokens=len(tokens) + 3)
    assert isinstance(last[-1], Finished) and last[-1].reason == "length"
    assert not any(isinstance(event, Injected) for event in last)


@given(st.text("<calc>/ 1+2", max_size=30), st.integers(0, 60))
def test_reading_on_from_any_place_is_reading_from_the_start(text: str, place: int) -> None:
    backend = ScriptedBackend.replay([b"x"])
    ids = backend.tokenizer.encode(text.encode())
    with Replayer(REGISTRY, backend.tokenizer) as replayer:
        one, two = replayer.reader(max_tokens=200), replayer.reader(max_tokens=200)
        taken: list[int] = []
        for token in ids:
            while one.due is not None:
                taken.append(one.due)
                one.take(one.due)
            if one.reason is not None or not one.mask()[token]:  # type: ignore[index]  # every token is masked
                break
            taken.append(token)
            one.take(token)
        for token in taken[:place]:
            two.take(token)
        for token in taken[place:]:
            two.take(token)
        assert two.events == one.events and two.due == one.due and two.reason == one.reason
        if one.due is None and one.reason is None:
            assert (one.mask() == two.mask()).all()  # type: ignore[union-attr]


def test_no_clock_decides_in_a_replay() -> None:
    registry = Registry.parse(
        CASE_REGISTRY.replace(
            'builtin = "arithmetic/1"', 'builtin = "arithmetic/1"\npolicy = { deadline_ms = 5, fuel = 900 }'
        )
    )
    timeless_registry = clockless(registry)
    entry = timeless_registry.evaluators[0]
    assert timeless_registry.limits_for(entry).deadline_ms == 60_000
    assert timeless_registry.limits_for(entry).fuel == 900
    assert registry.limits_for(registry.evaluators[0]).deadline_ms == 5
