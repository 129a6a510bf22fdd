"""The vllm backend with a real engine and a real model, by each of its paths. One engine serves all tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from one_sentence import FORCED, GRAMMAR, TEXT, forced
from receipt_support import rehashed
from support import timeless
from vllm_spy import VARIABLE
from vllm_support import check_exact, sums

from evalspan.backends.vllm_backend import VllmBackend
from evalspan.backends.vllm_settings import VllmSettings
from evalspan.orchestrator import (
    BackendError,
    Cancellation,
    Driver,
    Event,
    Failed,
    Finished,
    Injected,
    JsonSchema,
    Request,
    RequestError,
    SamplingParams,
    Text,
    experiment,
)
from evalspan.orchestrator.receipts import Receipt, verify
from evalspan.policies import Registry

SPANS, INJECTED = 3, 60
"""The limits of the tests' registry, so low that generations reach them."""

SEA = "The sea is wide, and the sky above it is high. "

HOT = SamplingParams(temperature=1.5, seed=7)


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    text = resources.files("evalspan.policies").joinpath("default.toml").read_text("utf-8")
    limits = f"[policy.default]\nmax_spans = {SPANS}\nmax_injected_tokens = {INJECTED}\n"
    path = tmp_path_factory.mktemp("registry") / "tight.toml"
    path.write_text(text.replace("[policy.default]\n", limits))
    return Registry.load(path)


@pytest.fixture(scope="module")
def lengths(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the worker writes down the length of each prompt that it is given."""
    return tmp_path_factory.mktemp("spy") / "prompts"


@pytest.fixture(scope="module")
def pinned(model: Path, registry: Registry, lengths: Path) -> Iterator[Driver]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(lengths))
        # In float32 the sums of another batch change no choice of a token.
        settings = VllmSettings(
            model, context_tokens=1024, slots=16, dtype="float32", processors=("vllm_spy:PromptLengths",)
        )
        with Driver(VllmBackend.connect(settings), registry) as driver:
            yield driver


def backend(driver: Driver) -> VllmBackend:
    assert isinstance(driver.backend, VllmBackend)
    return driver.backend


@pytest.fixture(scope="module")
def sessions(pinned: Driver, registry: Registry) -> Iterator[Driver]:
    with Driver(backend(pinned).on("sessions"), registry) as driver:
        yield driver


@pytest.fixture(scope="module")
def resumed(pinned: Driver, registry: Registry) -> Iterator[Driver]:
    with Driver(backend(pinned).on("resume"), registry) as driver:
        yield driver


@pytest.fixture(params=["pinned", "sessions"])
def masked(request: pytest.FixtureRequest) -> Driver:
    """A driver by each path that masks."""
    driver: Driver = request.getfixturevalue(request.param)
    return driver


@pytest.fixture(params=["pinned", "sessions", "resumed"])
def each(request: pytest.FixtureRequest) -> Driver:
    """A driver by each path."""
    driver: Driver = request.getfixturevalue(request.param)
    return driver


def boxes(driver: Driver, count: int = 8) -> list[Request]:
    problems = [experiment.Problem(3 + i, 4 + i, 5 + i) for i in range(count)]
    return [
        Request(experiment.conversation(box, driver.registry), None, experiment.SENTENCE, experiment.MAX_TOKENS)
        for box in problems
    ]


def many_sums(count: int = 8, **options: Any) -> list[Request]:
    return [Request(sums(7 * i + 3, 11 * i + 5), max_tokens=80, **options) for i in range(count)]


def last(events: tuple[Event, ...] | list[Event]) -> Finished:
    assert isinstance(events[-1], Finished)
    return events[-1]


def quiet(driver: Driver) -> None:
    """Wait until vLLM works on nothing any more."""
    deadline = time.monotonic() + 60
    while backend(driver).vllm.unfinished:
        assert time.monotonic() < deadline, "a request was left behind"
        time.sleep(0.05)


def test_a_grammar_with_one_sentence_has_the_same_text_and_injected_tokens_everywhere(masked: Driver) -> None:
    """tests/backends has the same for llama.cpp, with the same expectations."""
    generation = masked.generate("Say it.", grammar=GRAMMAR, max_tokens=128)
    assert generation.text == TEXT
    assert forced(generation.events) == FORCED
    assert generation.reason == "eos"


def test_sessions_tell_what_pins_in_the_engine_tell(pinned: Driver, sessions: Driver) -> None:
    requests = [*boxes(pinned, 4), *many_sums(4)]
    one, other = pinned.generate_many(requests), sessions.generate_many(requests)
    assert [timeless(generation.events) for generation in one] == [timeless(generation.events) for generation in other]
    assert all(generation.injections for generation in one)


def test_a_driver_says_which_path_it_takes(pinned: Driver, sessions: Driver, resumed: Driver) -> None:
    paths = [driver.backend.model.split("(vLLM, ")[1].split(":")[0] for driver in (pinned, sessions, resumed)]
    assert paths == ["in-engine", "sessions", "resume"]


def test_eight_at_once_have_exact_results_and_tell_all_of_their_text(each: Driver) -> None:
    generations = each.generate_many(many_sums(8))
    assert sum(check_exact(generation.text) for generation in generations if "over_budget" not in generation.text) > 4
    for generation in generations:
        told = "".join(event.text for event in generation.events if isinstance(event, Text | Injected))
        assert told == generation.text
        end = last(generation.events)
        assert 0 < end.sampled_tokens + end.forced_tokens <= 80
        assert end.forced_tokens == sum(len(injection.tokens) for injection in generation.injections)
    quiet(each)


def test_a_receipt_is_rebuilt_outside_the_engine_and_a_forged_one_is_not(each: Driver, registry: Registry) -> None:
    asked = [replace(request, receipt=True) for request in many_sums(3)]
    *generations, hot = each.generate_many([*asked, replace(asked[0], sampling=HOT)])
    tokenizer = backend(each).tokenizer
    assert hot.receipt is not None and verify(hot.receipt, tokenizer, registry).holds
    for generation in generations:
        receipt = generation.receipt
        assert receipt is not None
        report = verify(receipt, tokenizer, registry)
        assert report.holds, [str(problem) for problem in report.problems]
        value = receipt.value()
        told = [event for event in value["output"]["events"] if event["event"] == "injected"]
        assert told, generation.text
        told[0]["text"] = told[0]["text"].replace("<result>", "<result>1")
        assert not verify(Receipt.of(rehashed(value)), tokenizer, registry).holds


def test_a_turn_is_as_long_as_what_was_forced(sessions: Driver, lengths: Path) -> None:
    quiet(sessions)
    lengths.write_text("")
    prompt = sums(41, 27)
    events = list(sessions.stream(prompt, max_tokens=60))
    turns = [0]
    for event in events:
        if isinstance(event, Injected):
            turns.append(len(event.tokens))
    assert len(turns) >= 3, "a model that writes no spans tests nothing"
    tokens = last(events).prompt_tokens
    sampled = turn_lengths(sessions, events)
    wanted = []
    for forced_tokens, before in zip(turns, [0, *sampled], strict=False):
        tokens += forced_tokens + before
        wanted.append(tokens)
    assert [int(line) for line in lengths.read_text().split()] == wanted


def turn_lengths(driver: Driver, events: list[Event]) -> list[int]:
    """The tokens sampled before each injection, found by encoding the texts between them anew.

    Between two tags of a sum the tokens of its text are unique, which the test's own arithmetic confirms.
    """
    found, text = [], ""
    for event in events:
        if isinstance(event, Text):
            text += event.text
        elif isinstance(event, Injected):
            found.append(len(driver.backend.tokenizer.encode(text.encode())))
            text = ""
    return found


def test_the_request_of_the_caller_is_not_made_longer(masked: Driver) -> None:
    tokens = masked.backend.tokenizer.encode_prompt(sums(5, 6))
    asked = replace(masked._starter.reading(0, Request(sums(5, 6), max_tokens=30)).request(), tokens=tokens)
    kept = list(tokens)
    completion = masked.backend.engine.start(asked)  # type: ignore[union-attr]
    while completion.receive().result() is not None:
        pass
    assert tokens == kept


def test_limits_hold_over_the_turns(masked: Driver) -> None:
    """The fourth span is one too many, in whichever turn it comes."""
    generations = masked.generate_many(
        many_sums(
            6,
        )
    )
    reached = 0
    for generation in generations:
        results = [injection for injection in generation.injections if injection.kind == "result"]
        assert len(results) <= SPANS
        assert last(generation.events).forced_tokens <= INJECTED
        reached += any(isinstance(event, Failed) and event.code == "over_budget" for event in generation.events)
        reached += generation.reason == "over_budget"
    assert reached, "no generation reached a limit: the test tests nothing"


def test_a_bound_value_of_a_schema_is_forced_in_every_turn(masked: Driver) -> None:
    bound = {"type": "integer", "x-evalspan": {"evaluator": "arithmetic", "input": "/e"}}
    schema = JsonSchema(
        {
            "type": "object",
            "properties": {"e": {"type": "string", "enum": ["17 * 23 + 91"]}, "a": bound, "b": bound},
            "required": ["e", "a", "b"],
            "additionalProperties": False,
        }
    )
    generation = masked.generate("JSON: ", grammar=schema, max_tokens=100)
    assert json.loads(generation.text) == {"e": "17 * 23 + 91", "a": 482, "b": 482}
    assert [injection.kind for injection in generation.injections] == ["bound", "bound"]


def test_a_seed_gives_the_same_text_again_and_another_seed_another(each: Driver) -> None:
    """The prompts together are longer than a step, so that vLLM has to read them in several."""
    requests = [Request(SEA * 40, max_tokens=24, sampling=replace(HOT, seed=seed)) for seed in (1, 2, 3, 1, 2, 3, 1, 2)]
    texts = [generation.text for generation in each.generate_many(requests)]
    assert texts == [texts[0], texts[1], texts[2], texts[0], texts[1], texts[2], texts[0], texts[1]]
    assert len(set(texts)) == 3
    samples = each.samples(Request(SEA, max_tokens=12, sampling=HOT), 3)
    assert [sample.seed for sample in samples] == [7, 8, 9]
    assert len({sample.text for sample in samples}) == 3


def test_closing_a_stream_aborts_the_request(each: Driver) -> None:
    events = each.stream(sums(7, 8), max_tokens=500)
    seen = [next(events) for _ in range(5)]
    assert not any(isinstance(event, Finished) for event in seen)
    events.close()
    quiet(each)
    assert each.generate(sums(7, 8), max_tokens=8).reason == "length"


def test_a_cancelled_generation_ends_with_what_it_has_and_leaves_the_others_alone(masked: Driver) -> None:
    cancellation = Cancellation()
    requests = [replace(request, max_tokens=60) for request in many_sums(3)]
    requests[1] = replace(requests[1], cancellation=cancellation)
    reasons, tokens = {}, 0
    for index, event in masked.stream_many(requests):
        tokens += index == 1
        if tokens == 4:
            cancellation.cancel()
        if isinstance(event, Finished):
            reasons[index] = event.reason
    assert reasons[1] == "cancelled"
    assert "cancelled" not in (reasons[0], reasons[2])
    assert masked.generate(sums(7, 8), max_tokens=200, time_limit=0.3).reason == "time_limit"
    quiet(masked)


def test_a_stop_string_and_a_limit_of_one_token(each: Driver) -> None:
    generation = each.generate(sums(7, 8), max_tokens=60, stop=("\n",))
    assert generation.reason in ("stop_string", "length") and "\n" not in generation.text
    assert last(each.generate(sums(7, 8), max_tokens=1).events).sampled_tokens == 1


def test_what_vllm_cannot_do_is_refused(masked: Driver, resumed: Driver) -> None:
    with pytest.raises(RequestError, match="does not run inside an engine"):
        masked.stream("go", mode="no-grammar")
    with pytest.raises(RequestError, match=r"temperature of 0 or from 0\.01 up"):
        masked.stream("go", sampling=SamplingParams(temperature=0.001))
    with pytest.raises(RequestError, match="cannot be masked"):
        resumed.stream("go", mode="grammar-eval")
    with pytest.raises(RequestError, match=r"temperature of 0 or from 0\.01 up"):
        resumed.generate("go", sampling=SamplingParams(temperature=0.001))


def test_an_engine_with_other_registries_is_not_used(pinned: Driver) -> None:
    with pytest.raises(BackendError, match="has no registry like default registry"):
        Driver(backend(pinned).on("in-engine"))
    parsed = Registry.parse("version = 1\n")
    with pytest.raises(BackendError, match="has no registry like"):
        Driver(backend(pinned).on("sessions"), parsed)


def test_the_command_line_prints_events_and_nothing_else(model: Path) -> None:
    """A process of its own, with the default registry and the path of sessions: it loads the model once more."""
    command = [str(Path(sys.executable).with_name("evalspan")), "run", "--backend", "vllm", "--model", str(model)]
    options = ["--engine-option", "path=sessions", "--context", "512", "--slots", "2", "--raw", "--json"]
    done = subprocess.run(
        [*command, *options, "--max-tokens", "30", sums(7, 8)],
        capture_output=True,
        text=True,
        timeout=400,
        env={**os.environ, "EVALSPAN_REGISTRIES": ""},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[-1]["event"] == "finished"
    assert any(event["event"] == "injected" for event in events)
    assert "sessions: forces tokens as input of a session" in done.stderr
