"""The processor under every way in which the engine can move its rows about: no engine, only what one would say."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from vllm import SamplingParams
from vllm.v1.sample.logits_processor.interface import BatchUpdate, MoveDirectionality

from evalspan.backends.in_engine import rows as rows_module
from evalspan.backends.in_engine.registries import load_registries
from evalspan.backends.in_engine.worker import Worker
from evalspan.backends.scripted import ScriptedBackend
from evalspan.backends.vllm_plugin import EvaluatorLogitsProcessor, InstalledLogitsProcessor
from evalspan.orchestrator import BackendError
from evalspan.orchestrator.backend import Tokenizer
from evalspan.orchestrator.replay import replay

SPARE = 40  # numbers that the model has beyond the vocabulary, which is often rounded up
TEXTS = (
    "so <calc>2 + 3</calc> and <calc>1 / 0</calc>! ",
    "<calc>123456789 * 987654321</calc>\n<calc>7</calc>",
    "no span at all, only text; <result is no tag",
    "<calc>2^200</calc>",
)


def config(model: Any, **changes: Any) -> Any:
    """What the processor reads of an engine's configuration."""
    values: dict[str, Any] = {
        "speculative": None,
        "asynchronous": False,
        "processors": ["evalspan.backends.vllm_plugin:EvaluatorLogitsProcessor"],
        "skip_tokenizer_init": False,
        **changes,
    }
    return SimpleNamespace(
        speculative_config=values["speculative"],
        scheduler_config=SimpleNamespace(async_scheduling=values["asynchronous"], max_num_seqs=16),
        model_config=SimpleNamespace(
            logits_processors=values["processors"],
            skip_tokenizer_init=values["skip_tokenizer_init"],
            max_model_len=4096,
            tokenizer=str(model),
            runner_type="generate",
            tokenizer_mode="auto",
            tokenizer_revision=None,
            trust_remote_code=False,
            hf_config=None,
            try_get_generation_config=lambda: {"eos_token_id": 2},
        ),
    )


class SmallProcessor(EvaluatorLogitsProcessor):
    """The processor with a vocabulary of bytes and a few longer tokens, so that a step takes no time."""

    def _open(self) -> Worker:
        return Worker(load_registries(), small(), context_tokens=4096, rows=16)


@cache
def small() -> Tokenizer:
    longer = [b"<calc>", b"calc>", b"</", b"ult>", b"12", b"</calc>!", b"re", b" and", b"<result>"]
    return ScriptedBackend.replay([], vocabulary=longer).tokenizer


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return small()


@pytest.fixture(scope="module")
def processor(model: Any) -> EvaluatorLogitsProcessor:
    return SmallProcessor(config(model), torch.device("cpu"), False)


@pytest.fixture(scope="module")
def width(tokenizer: Tokenizer) -> int:
    return len(tokenizer.pieces) + SPARE


def end(tokenizer: Tokenizer) -> int:
    return min(tokenizer.eos_ids)


@dataclass
class Wanted:
    """A request of the simulated engine: what the model would write, token by token."""

    params: SamplingParams
    script: Sequence[int]
    output: list[int] = field(default_factory=list)
    pinned: list[bool] = field(default_factory=list)
    """Of each token of the output, whether it was forced."""

    @property
    def next(self) -> int:
        """What the model would write now; the end, where it has written all."""
        return self.script[min(self.pinned.count(False), len(self.script) - 1)]

    def lose(self, count: int) -> None:
        """The last tokens are gone, and will be made anew."""
        del self.output[-count:], self.pinned[-count:]

    @property
    def opted_in(self) -> bool:
        return bool(self.params.extra_args)


def wanted(tokenizer: Tokenizer, text: str, *, opted_in: bool = True, max_tokens: int = 200) -> Wanted:
    extra = {"evalspan": "default"} if opted_in else None
    params = SamplingParams(max_tokens=max_tokens, temperature=0, extra_args=extra)
    params.update_from_generation_config({}, end(tokenizer))
    # A byte a token: no token runs past a tag, and all are allowed.
    return Wanted(params, [tokenizer.encode(bytes([byte]))[0] for byte in text.encode()] + [end(tokenizer)])


class Engine:
    """Does with its rows what vLLM's first model runner does, and samples what the requests' scripts say."""

    def __init__(self, processor: EvaluatorLogitsProcessor) -> None:
        self.processor = processor
        self.rows: list[Wanted | None] = []
        self.finished: list[Wanted] = []
        self.removed: list[int] = []
        self.added: list[tuple[int, Any, Any, Any]] = []
        self.moved: list[tuple[int, int, MoveDirectionality]] = []

    def close(self) -> None:
        """Take out what is left, so that the next simulation begins with an empty batch."""
        for place, row in enumerate(self.rows):
            if row is not None:
                self.removed.append(place)
        self.processor.update_state(BatchUpdate(0, self.removed, [], []))

    def remove(self, place: int) -> Wanted:
        row = self.rows[place]
        assert row is not None
        self.rows[place] = None
        self.removed.append(place)
        return row

    def add(self, row: Wanted, *, copied: bool = False) -> None:
        """A request comes, or comes back; with `copied` its tokens stand in another list than before."""
        if copied:
            row.output = list(row.output)
        if self.removed:
            self.removed.sort(reverse=True)
            place = self.removed.pop()  # a place used again in the same step is not told as removed
        else:
            place = len(self.rows)
            self.rows.append(None)
        self.rows[place] = row
        self.added.append((place, row.params, [1, 2, 3], row.output))

    def condense(self) -> None:
        """Fill the holes from the end, as the engine does after removals."""
        while None in self.rows:
            if self.rows[-1] is None:
                self.rows.pop()
                continue
            hole = self.rows.index(None)
            last = len(self.rows) - 1
            self.rows[hole] = self.rows.pop()
            self.removed = [place for place in self.removed if place != hole]
            self.moved.append((last, hole, MoveDirectionality.UNIDIRECTIONAL))

    def swap(self, first: int, second: int) -> None:
        self.rows[first], self.rows[second] = self.rows[second], self.rows[first]
        self.moved.append((first, second, MoveDirectionality.SWAP))

    def step(self, *, discarded: frozenset[int] = frozenset()) -> None:
        """Update, forward pass, sample; the samples of `discarded` places are dropped, as in a prefill in chunks."""
        self.condense()
        changed = self.removed or self.added or self.moved
        update = BatchUpdate(len(self.rows), self.removed, self.added, self.moved) if changed else None
        self.removed, self.added, self.moved = [], [], []
        self.processor.update_state(update)
        if not self.rows:
            return
        size = len(small().pieces)
        logits = torch.zeros((len(self.rows), size + SPARE))
        for place, row in enumerate(self.rows):
            assert row is not None
            logits[place, row.next] = 1.0
        before = logits.clone()
        after = self.processor.apply(logits)
        for place, row in enumerate(self.rows):
            assert row is not None
            if not row.opted_in:
                assert torch.equal(after[place], before[place]), "a row that did not opt in was touched"
            elif place not in discarded:
                assert (after[place, size:] <= 0).all(), "what is no token was pinned"
            if place in discarded:
                continue
            token = int(after[place].argmax())
            pinned = bool(after[place].max() > 1e29)
            assert pinned or token == row.next, "the script was not allowed"
            row.output.append(token)
            row.pinned.append(pinned)
            if token == end(small()) or len(row.output) == row.params.max_tokens:
                self.finished.append(self.remove(place))


def alone(processor: EvaluatorLogitsProcessor, row: Wanted) -> list[int]:
    """The output of a request that has the engine for itself."""
    engine = Engine(processor)
    engine.add(row)
    while row not in engine.finished:
        engine.step()
    engine.close()
    return row.output


@pytest.fixture(scope="module")
def expected(processor: EvaluatorLogitsProcessor, tokenizer: Tokenizer) -> list[list[int]]:
    """The output of each text, alone."""
    return [alone(processor, wanted(tokenizer, text)) for text in TEXTS]


def test_results_are_forced_and_errors_too(expected: list[list[int]], tokenizer: Tokenizer) -> None:
    texts = [b"".join(tokenizer.pieces[token] for token in output).decode() for output in expected]
    assert texts[0] == (
        "so <calc>2 + 3</calc><result>5</result> and "
        "<calc>1 / 0</calc><result_error>division_by_zero: the divisor is 0: /</result_error>! "
    )
    assert texts[1].startswith("<calc>123456789 * 987654321</calc><result>121932631112635269</result>\n")
    assert texts[2] == TEXTS[2]
    for output in expected:
        assert replay(load_registries()["default"], tokenizer, output, max_tokens=200)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_nothing_that_happens_to_the_batch_changes_an_output(
    processor: EvaluatorLogitsProcessor, tokenizer: Tokenizer, expected: list[list[int]], seed: int
) -> None:
    """Rows join, leave, are preempted in the middle of an injection, moved, swapped, reused and asked twice."""
    chance = random.Random(seed)  # noqa: S311  repeatable is what it must be
    engine = Engine(processor)
    waiting: list[tuple[int, Wanted]] = []
    everyone: list[tuple[int, Wanted]] = []
    for _ in range(chance.randint(2, 7)):
        which = chance.randrange(len(TEXTS))
        row = wanted(tokenizer, TEXTS[which], opted_in=chance.random() < 0.7)
        everyone.append((which, row))
        waiting.append((which, row))
    for _ in range(2000):
        if len(engine.finished) == len(everyone):
            break
        for place in [place for place, row in enumerate(engine.rows) if row is not None]:
            if chance.random() < 0.05:
                row = engine.remove(place)
                waiting.append((next(which for which, other in everyone if other is row), row))
        while waiting and chance.random() < 0.5:
            engine.add(waiting.pop(chance.randrange(len(waiting)))[1], copied=chance.random() < 0.5)
        engine.condense()
        if len(engine.rows) > 1 and chance.random() < 0.2:
            engine.swap(*chance.sample(range(len(engine.rows)), 2))
        discarded = {place for place in range(len(engine.rows)) if chance.random() < 0.1}
        for row in engine.rows:
            if row is not None and row.opted_in and row.output and chance.random() < 0.02:
                # The engine lost the cache of the last tokens and makes them anew.
                row.lose(chance.randint(1, min(12, len(row.output))))
        engine.step(discarded=frozenset(discarded))
    engine.close()
    assert len(engine.finished) == len(everyone), "a request hangs"
    for which, row in everyone:
        plain = list(wanted(tokenizer, TEXTS[which]).script)
        assert row.output == (expected[which] if row.opted_in else plain)


def forced_places(tokenizer: Tokenizer, row: Wanted) -> set[int]:
    """Where the tokens of blocks stand in a whole output."""
    places: set[int] = set()
    text = b""
    starts: list[int] = []
    for token in row.output:
        starts.append(len(text))
        text += tokenizer.pieces[token]
    position = 0
    while (found := text.find(b"</calc><result", position)) >= 0:
        begin = found + len(b"</calc>")
        ends = [end + len(tag) for tag in (b"</result>", b"</result_error>") if (end := text.find(tag, begin)) >= 0]
        stop = min(ends, default=len(text))
        places |= {index for index, start in enumerate(starts) if begin <= start < stop}
        position = stop
    return places


@pytest.mark.parametrize("text", TEXTS[:2])
def test_a_row_that_is_read_anew_from_any_place_says_the_same(
    processor: EvaluatorLogitsProcessor, tokenizer: Tokenizer, text: str, width: int
) -> None:
    whole = alone(processor, wanted(tokenizer, text))
    for place in range(len(whole)):
        row = wanted(tokenizer, text)
        row.output = whole[:place]
        processor.update_state(BatchUpdate(1, [], [(0, row.params, [1], row.output)], []))
        logits = torch.zeros((1, width))
        logits[0, whole[place]] = 1.0
        assert int(processor.apply(logits)[0].argmax()) == whole[place]
        processor.update_state(BatchUpdate(0, [0], [], []))


def test_a_row_is_cleared_when_its_place_goes_to_a_request_that_did_not_opt_in(
    processor: EvaluatorLogitsProcessor, tokenizer: Tokenizer, width: int
) -> None:
    first, second = wanted(tokenizer, TEXTS[0]), wanted(tokenizer, "x", opted_in=False)
    processor.update_state(BatchUpdate(1, [], [(0, first.params, [1], first.output)], []))
    processor.update_state(BatchUpdate(1, [], [(0, second.params, [1], second.output)], []))
    logits = torch.zeros((1, width))
    assert torch.equal(processor.apply(logits), torch.zeros((1, width)))


def test_two_samples_of_one_request_are_not_taken_for_each_other(
    processor: EvaluatorLogitsProcessor, tokenizer: Tokenizer, width: int
) -> None:
    """In one process the samples of a request share its parameters."""
    first, second = wanted(tokenizer, "<calc>1</calc>"), wanted(tokenizer, "<calc>2</calc>")
    for row in (first, second):
        row.output += row.script[:-2]
    processor.update_state(BatchUpdate(1, [], [(0, first.params, [1], first.output)], []))
    processor.apply(torch.zeros((1, width)))
    processor.update_state(BatchUpdate(0, [0], [], []))
    processor.update_state(BatchUpdate(1, [], [(0, first.params, [1], second.output)], []))
    processor.apply(torch.zeros((1, width)))
    second.output += tokenizer.encode(b">")
    for forced in tokenizer.encode(b"<result>2</result>"):
        after = processor.apply(torch.zeros((1, width)))
        assert int(after[0].argmax()) == forced
        second.output.append(forced)
    processor.update_state(BatchUpdate(0, [0], [], []))


def test_a_token_that_was_not_told_ends_its_row_and_no_other(
    processor: EvaluatorLogitsProcessor, tokenizer: Tokenizer, width: int
) -> None:
    rows = [wanted(tokenizer, TEXTS[0]), wanted(tokenizer, TEXTS[0])]
    rows[0].output.append(rows_module.PLACEHOLDER)
    added = [(place, row.params, [1], row.output) for place, row in enumerate(rows)]
    processor.update_state(BatchUpdate(2, [], added, []))
    after = processor.apply(torch.zeros((2, width)))
    assert int(after[0].argmax()) == end(tokenizer) and float(after[0].max()) > 1e29
    assert float(after[1].max()) == 0.0
    processor.update_state(BatchUpdate(0, [0, 1], [], []))


def test_a_pinned_token_that_comes_back_as_another_ends_the_row(
    processor: EvaluatorLogitsProcessor, tokenizer: Tokenizer, caplog: pytest.LogCaptureFixture, width: int
) -> None:
    row = wanted(tokenizer, TEXTS[0])
    row.output += [token for token in row.script if token != end(tokenizer)][: len("so <calc>2 + 3</calc>")]
    row.output.append(tokenizer.encode(b"4")[0])
    processor.update_state(BatchUpdate(1, [], [(0, row.params, [1], row.output)], []))
    with caplog.at_level("WARNING", "vllm.evalspan"):
        after = processor.apply(torch.zeros((1, width)))
    assert int(after[0].argmax()) == end(tokenizer)
    assert "ForcedTokenLost" in caplog.text
    processor.update_state(BatchUpdate(0, [0], [], []))


@pytest.mark.parametrize(
    "broken", [{"evalspan": "nobody"}, {"evalspan_": 1}, {"evalspan": "default", "evalspan_history": [10**6]}]
)
def test_a_request_that_nobody_checked_ends_and_takes_nobody_with_it(
    processor: EvaluatorLogitsProcessor, tokenizer: Tokenizer, broken: dict[str, Any], width: int
) -> None:
    bad, good = wanted(tokenizer, "x"), wanted(tokenizer, TEXTS[0])
    bad.params.extra_args = broken
    processor.update_state(
        BatchUpdate(2, [], [(0, bad.params, [1], bad.output), (1, good.params, [1], good.output)], [])
    )
    after = processor.apply(torch.zeros((2, width)))
    assert int(after[0].argmax()) == end(tokenizer) and float(after[0].max()) > 1e29
    assert float(after[1].max()) == 0.0
    processor.update_state(BatchUpdate(0, [0, 1], [], []))


def test_a_block_that_does_not_fit_is_not_begun(processor: EvaluatorLogitsProcessor, tokenizer: Tokenizer) -> None:
    text = "<calc>2 + 3</calc>"
    row = wanted(tokenizer, text + "and on", max_tokens=len(text) + 4)
    output = alone(processor, row)
    assert b"".join(tokenizer.pieces[token] for token in output) == text.encode()


def test_a_session_ends_its_turn_at_the_close_tag_and_goes_on_from_its_history(
    processor: EvaluatorLogitsProcessor, tokenizer: Tokenizer, expected: list[list[int]]
) -> None:
    history: list[int] = []
    turns = 0
    script = list(wanted(tokenizer, TEXTS[0]).script)
    forced = set(forced_places(tokenizer, Wanted(SamplingParams(), [], expected[0])))
    while history != expected[0]:
        row = wanted(tokenizer, "")
        row.params.extra_args = {"evalspan": "default", "evalspan_session": 1, "evalspan_history": list(history)}
        row.script = script[sum(1 for place in range(len(history)) if place not in forced) :]
        output = alone(processor, row)
        turns += 1
        history += output if output[:-1] == [] or turns == 3 else output[:-1]  # the end token is dropped
        while len(history) in forced:
            history.append(expected[0][len(history)])
        assert history == expected[0][: len(history)]
    assert turns == 3


class State:
    """The second model runner's state, on the host."""

    def __init__(self, places: int) -> None:
        self.device = torch.device("cpu")
        self.all_token_ids = SimpleNamespace(gpu=torch.zeros((places, 512), dtype=torch.int32))
        self.total_len = SimpleNamespace(gpu=torch.zeros(places, dtype=torch.int32))
        self.prompt_len = SimpleNamespace(np=np.zeros(places, dtype=np.int32))

    def put(self, slot: int, prompt: list[int], output: list[int]) -> None:
        tokens = torch.tensor([*prompt, *output], dtype=torch.int32)
        self.all_token_ids.gpu[slot, : len(tokens)] = tokens
        self.total_len.gpu[slot] = len(tokens)
        self.prompt_len.np[slot] = len(prompt)


@pytest.mark.parametrize("seed", range(8))
def test_the_second_model_runner_gets_the_same_outputs(
    model: Any, tokenizer: Tokenizer, expected: list[list[int]], seed: int, width: int
) -> None:
    chance = random.Random(seed)  # noqa: S311  repeatable is what it must be
    state = State(8)
    processor = SmallProcessor(config(model, asynchronous=True), state)
    waiting = [(which, wanted(tokenizer, TEXTS[which])) for which in range(4)]
    waiting += [(2, wanted(tokenizer, "plain", opted_in=False)), (0, wanted(tokenizer, TEXTS[0]))]
    chance.shuffle(waiting)
    slots: dict[int, tuple[int, Wanted]] = {}
    free = list(range(8))
    done: list[tuple[int, Wanted]] = []
    for _ in range(3000):
        if len(done) == 6:
            break
        while waiting and chance.random() < 0.5:
            which, row = waiting.pop()
            slot = free.pop(chance.randrange(len(free)))
            state.put(slot, [9] * (3 + slot), row.output)
            assert processor.add_request(slot, row.params) is row.opted_in
            slots[slot] = (which, row)
        processor.apply_staged_writes()
        batch = chance.sample(sorted(slots), len(slots))
        if not batch:
            continue
        logits = torch.zeros((len(batch), width))
        for index, slot in enumerate(batch):
            row = slots[slot][1]
            logits[index, row.next] = 1.0
        after = processor.apply(logits, SimpleNamespace(idx_mapping_np=np.array(batch)))
        for index, slot in enumerate(batch):
            which, row = slots[slot]
            token = int(after[index].argmax())
            row.output.append(token)
            row.pinned.append(bool(after[index].max() > 1e29))
            state.put(slot, [9] * (3 + slot), row.output)
            if token == end(tokenizer):
                done.append(slots.pop(slot))
                free.append(slot)
            elif chance.random() < 0.03:  # preempted
                waiting.append(slots.pop(slot))
                free.append(slot)
    assert len(done) == 6, "a request hangs"
    for which, row in done:
        assert row.output == (expected[which] if row.opted_in else list(row.script))


@pytest.mark.parametrize(
    ("named", "changes", "said"),
    [
        (True, {"speculative": object()}, "leave out --speculative-config"),
        (True, {"skip_tokenizer_init": True}, "leave out --skip-tokenizer-init"),
        (False, {"asynchronous": True, "processors": None}, "add --logits-processors evalspan.backends.vllm_plugin"),
    ],
)
def test_what_cannot_work_is_refused_at_the_start(model: Any, named: bool, changes: dict[str, Any], said: str) -> None:
    kind = EvaluatorLogitsProcessor if named else InstalledLogitsProcessor
    with pytest.raises(BackendError, match=said):
        kind(config(model, **changes), torch.device("cpu"), False)


def test_asynchronous_scheduling_works_where_the_processor_is_named(model: Any) -> None:
    EvaluatorLogitsProcessor(config(model, asynchronous=True), torch.device("cpu"), False)


def test_the_installed_processor_leaves_the_work_to_the_named_one(model: Any, tokenizer: Tokenizer, width: int) -> None:
    installed = InstalledLogitsProcessor(config(model, asynchronous=True), torch.device("cpu"), False)
    row = wanted(tokenizer, TEXTS[0])
    row.output += list(row.script)[: len("so <calc>2 + 3</calc>")]
    installed.update_state(BatchUpdate(1, [], [(0, row.params, [1], row.output)], []))
    assert not installed.apply(torch.zeros((1, width))).any()


def test_a_server_that_is_switched_off_runs_nothing_and_says_so(
    model: Any, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALSPAN_VLLM", "off")
    InstalledLogitsProcessor(config(model, asynchronous=True, processors=None), torch.device("cpu"), False)
    with pytest.raises(ValueError, match="EVALSPAN_VLLM=off"):
        EvaluatorLogitsProcessor.validate_params(wanted(tokenizer, "x").params)


def test_it_changes_what_greedy_sampling_takes(processor: EvaluatorLogitsProcessor) -> None:
    assert processor.is_argmax_invariant() is False
