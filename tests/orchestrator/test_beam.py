"""Beam search against an exhaustive search, and against its definition, neither of which shares code with it."""

import hashlib
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support import SHORT_TAGS

from evalspan.backends.scripted import ScriptedBackend, ScriptedSteps
from evalspan.orchestrator import (
    Cancellation,
    Driver,
    EmptyMask,
    Evaluated,
    FreeText,
    Hypothesis,
    Injected,
    JsonSchema,
    LarkText,
    LogitsError,
    Regex,
    Request,
    RequestError,
    SamplingParams,
    Text,
)
from evalspan.policies import Registry

PIECES = ("a", "<c>", "1", "+2", "</c>", "<r>", "")
"""The small vocabulary: text, the tags of a span, its content, a tag of the engine's, and the end."""

REGISTRY = Registry.parse(SHORT_TAGS)


def logits(seed: int, text: str, masked: bool) -> dict[str, float]:
    """What the model thinks of each piece after a text: anything, but always the same. Unmasked it opens no span, whose
    errors the oracle knows nothing of."""
    digest = hashlib.sha256(f"{seed}:{text}".encode()).digest()
    # Three bytes each: exact in the engine's 32-bit floats, and fine enough that no two outputs are equally likely.
    return {
        piece: int.from_bytes(digest[3 * i : 3 * i + 3]) / 2**22
        for i, piece in enumerate(PIECES)
        if masked or piece != "<c>"
    }


@dataclass(frozen=True)
class Output:
    """An output of the oracles, whole or not; `sampled` and `forced` are tokens."""

    text: str = ""
    log_probability: float = 0.0
    sampled: int = 0
    forced: int = 0
    over: str | None = None

    def score(self, penalty: float, forced_in_length: bool) -> float:
        length = self.sampled + (self.forced if forced_in_length else 0)
        return self.log_probability / max(length, 1) ** penalty


def evaluated(text: str) -> str | None:
    """The result block after a text that has just closed a span, by a sum of its own."""
    match = re.search(r"<c>([0-9+]+)</c>$", text)
    if match is None:
        return None
    terms = match[1].split("+")
    if terms[0] == "" and len(terms) > 1:
        terms = terms[1:]  # a leading plus
    return f"<r>{sum(Fraction(term) for term in terms)}</r>"


def allowed(text: str, piece: str) -> bool:
    """Whether free text with spans may go on with a piece; the engine writes its blocks itself."""
    inside = text.rfind("<c>") > text.rfind("</c>")
    if inside:
        content = text[text.rfind("<c>") + 3 :]
        return piece in ("1", "+2") or (piece == "</c>" and content != "")
    return piece not in ("</c>", "<r>")


def steps(output: Output, seed: int, max_tokens: int, masked: bool) -> Iterator[Output]:
    """The output with each token that may follow."""
    weights = {piece: math.exp(logit) for piece, logit in logits(seed, "go" + output.text, masked).items()}
    total = sum(weights.values())
    for piece, weight in weights.items():
        if masked and not allowed(output.text, piece):
            continue
        text, sampled = output.text + piece, output.sampled + 1
        log_probability = output.log_probability + math.log(weight / total)
        block = evaluated(text) if piece == "</c>" else None
        used = sampled + output.forced
        if piece == "":
            yield Output(text, log_probability, sampled, output.forced, "eos")
        elif block is not None:
            cost = len(block) - 2  # a token for each byte, and one for the opening tag
            if used + cost > max_tokens:
                yield Output(text, log_probability, sampled, output.forced, "length")
            else:
                yield Output(text + block, log_probability, sampled, output.forced + cost)
        elif used >= max_tokens:
            yield Output(text, log_probability, sampled, output.forced, "length")
        else:
            yield Output(text, log_probability, sampled, output.forced)


def exhausted(seed: int, max_tokens: int, masked: bool) -> list[Output]:
    """Every output there is."""
    found, waiting = [], [Output()]
    while waiting:
        output = waiting.pop()
        if output.sampled + output.forced >= max_tokens and output.over is None:
            output = Output(output.text, output.log_probability, output.sampled, output.forced, "length")
        if output.over is not None:
            found.append(output)
        else:
            waiting += steps(output, seed, max_tokens, masked)
    return found


def ordered(outputs: list[Output], penalty: float, forced_in_length: bool) -> list[Output]:
    return sorted(outputs, key=lambda output: (output.over != "eos", -output.score(penalty, forced_in_length)))


def searched(
    seed: int, max_tokens: int, masked: bool, width: int, penalty: float, forced_in_length: bool, patient: bool = True
) -> list[Hypothesis]:
    backend = ScriptedBackend.following(
        lambda text: logits(seed, text, masked), vocabulary=[piece.encode() for piece in PIECES], slots=width
    )
    request = Request("go", mode="grammar-eval" if masked else "no-grammar", max_tokens=max_tokens)
    with Driver(backend, REGISTRY) as driver:
        found = driver.beam(
            request, width=width, length_penalty=penalty, forced_in_length=forced_in_length, patient=patient
        )
        engine = backend.engine
        assert isinstance(engine, ScriptedSteps)
        assert engine.open_sequences == 0
    return found


def same(found: list[Hypothesis], expected: list[Output], penalty: float, forced_in_length: bool) -> None:
    assert len(found) == len(expected)
    for hypothesis, output in zip(found, expected, strict=True):
        # Sums of logarithms differ in the last bits.
        assert hypothesis.log_probability == pytest.approx(output.log_probability, abs=1e-9)
        assert hypothesis.score == pytest.approx(output.score(penalty, forced_in_length), abs=1e-9)
        assert (hypothesis.text, hypothesis.generation.reason) == (output.text, output.over)


@pytest.mark.parametrize("forced_in_length", [False, True])
@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0, 2.0])
@pytest.mark.parametrize(("masked", "seed"), [(True, 1), (True, 2), (False, 3)])
def test_as_wide_as_the_language_it_finds_what_an_exhaustive_search_finds(
    masked: bool, seed: int, penalty: float, forced_in_length: bool
) -> None:
    tokens = 5 if masked else 4
    everything = ordered(exhausted(seed, tokens, masked), penalty, forced_in_length)
    found = searched(seed, tokens, masked, len(everything), penalty, forced_in_length)
    same(found, everything, penalty, forced_in_length)


def defined(seed: int, max_tokens: int, width: int, penalty: float, forced_in_length: bool) -> list[Output]:
    """The search by its definition, with every list written out."""
    live, over = [Output()], []
    while live:
        following = []
        for output in live:
            if output.sampled + output.forced >= max_tokens:
                over.append(Output(output.text, output.log_probability, output.sampled, output.forced, "length"))
                continue
            before = output.sampled + (output.forced if forced_in_length else 0)
            for step in steps(output, seed, max_tokens, masked=True):
                following.append((-step.log_probability / (before + 1) ** penalty, len(following), step))
        live, ended = [], []
        for _, _, step in sorted(following):
            (live if step.over is None else ended).append(step)
            if width in (len(live), len(ended)):
                break
        over += ended
    return ordered(over, penalty, forced_in_length)[:width]


def test_results_of_its_own_spans_are_in_each_beam() -> None:
    found = searched(1, 14, True, 30, 0.0, True)
    same(found, defined(1, 14, 30, 0.0, True), 0.0, True)
    assert any("<r>" in hypothesis.text and hypothesis.generation.reason == "eos" for hypothesis in found)
    for hypothesis in found:
        events = hypothesis.generation.events
        assert "".join(event.text for event in events if isinstance(event, Text | Injected)) == hypothesis.text
        values = [event.value for event in events if isinstance(event, Evaluated)]
        assert values == re.findall(r"<r>(\d+)</r>", hypothesis.text)
        assert len(hypothesis.generation.injections) == len(values)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    max_tokens=st.integers(1, 24),
    width=st.integers(1, 6),
    penalty=st.sampled_from([0.0, 0.7, 1.0]),
    forced_in_length=st.booleans(),
)
@example(seed=463, max_tokens=18, width=3, penalty=1.0, forced_in_length=True)  # the length of a candidate matters
def test_a_patient_search_is_what_the_definition_says(
    seed: int, max_tokens: int, width: int, penalty: float, forced_in_length: bool
) -> None:
    found = searched(seed, max_tokens, True, width, penalty, forced_in_length)
    same(found, defined(seed, max_tokens, width, penalty, forced_in_length), penalty, forced_in_length)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), width=st.integers(1, 5))
def test_without_normalization_it_may_stop_early_and_finds_the_same(seed: int, width: int) -> None:
    # More tokens only make an output less likely: a beam that is behind now stays behind.
    patient = searched(seed, 24, True, width, 0.0, False)
    early = searched(seed, 24, True, width, 0.0, False, patient=False)
    assert [(one.text, one.score) for one in early] == [(one.text, one.score) for one in patient]


@pytest.mark.parametrize("max_tokens", [1, 5, 14])
def test_a_width_of_one_is_greedy_decoding(max_tokens: int) -> None:
    for seed in range(20):
        backend = ScriptedBackend.following(
            partial(logits, seed, masked=True), vocabulary=[piece.encode() for piece in PIECES]
        )
        with Driver(backend, REGISTRY) as driver:
            greedy = driver.generate("go", max_tokens=max_tokens)
            (best,) = driver.beam(Request("go", max_tokens=max_tokens), width=1)
        assert (best.text, best.generation.reason) == (greedy.text, greedy.reason)


def test_beams_fork_the_state_of_a_json_document() -> None:
    """Each beam reads its own document: the bound value follows from what that beam wrote."""
    schema = {
        "type": "object",
        "properties": {
            "x": {"type": "string", "enum": ["1+1", "2+2", "3+3"]},
            "y": {"type": "integer", "x-evalspan": {"evaluator": "arithmetic", "input": "/x"}},
        },
        "required": ["x", "y"],
    }

    def model(text: str) -> dict[str, float]:
        return {**{chr(code): 0.0 for code in range(32, 127)}, "1": 0.5, "2": 0.3, "": 0.0}

    backend = ScriptedBackend.following(model, slots=3)
    with Driver(backend) as driver:
        found = driver.beam(Request("go", grammar=JsonSchema(schema), max_tokens=40), width=3)
    assert [hypothesis.text for hypothesis in found] == [
        '{"x": "1+1", "y": 2}',
        '{"x": "2+2", "y": 4}',
        '{"x": "3+3", "y": 6}',
    ]
    assert {hypothesis.generation.reason for hypothesis in found} == {"eos"}


def test_stop_strings_complete_a_beam_and_the_mask_holds() -> None:
    backend = ScriptedBackend.following(lambda text: {"a": 1.0, "b": 0.9, "c": 5.0}, slots=4)
    with Driver(backend) as driver:
        found = driver.beam(
            Request("go", grammar=Regex("[ab]+"), stop=("bb",), max_tokens=12), width=4, length_penalty=0
        )
    assert all(set(one.text) <= {"a", "b"} for one in found)
    assert found[0].text == ""
    reasons = [one.generation.reason for one in found]
    assert reasons == sorted(reasons, key=["stop_string", "length"].index)
    assert reasons[0] == "stop_string"


def test_a_dead_end_is_one_beam_s_and_all_dead_ends_are_an_error() -> None:
    rules = {"go": {"a": 1.0, "b": 0.0}, "goa": {"x": 1.0}, "gob": {"c": 0.0}, "gobc": {"": 0.0}}
    with Driver(ScriptedBackend.following(rules.__getitem__, slots=2)) as driver:
        found = driver.beam(Request("go", grammar=Regex("ab|bc")), width=2)
        assert [(one.text, one.generation.reason) for one in found] == [("bc", "eos"), ("a", "decode_error")]
        assert driver.counters.decode_errors == {"empty_mask": 1}
        assert driver.counters.generations == {"eos": 1}
        with pytest.raises(EmptyMask, match="after b'a'"):
            driver.beam(Request("go", grammar=Regex("ab")), width=2)


def test_logits_that_are_no_numbers_end_the_search() -> None:
    backend = ScriptedBackend.following(lambda text: {"a": float("nan")}, slots=2)
    with Driver(backend) as driver, pytest.raises(LogitsError):
        driver.beam(Request("go"), width=2)
    assert isinstance(backend.engine, ScriptedSteps)
    assert backend.engine.open_sequences == 0


def test_time_and_cancellation_end_a_search_with_what_it_has() -> None:
    token = Cancellation()
    asked: list[str] = []

    def model(text: str) -> dict[str, float]:
        asked.append(text)
        if len(text) == 8:
            token.cancel()
        return {"a": 1.0, "b": 0.9}

    with Driver(ScriptedBackend.following(model, slots=3)) as driver:
        found = driver.beam(Request("go", cancellation=token, max_tokens=500), width=3)
        assert [one.generation.reason for one in found] == ["cancelled"] * 3
        assert found[0].text == "a" * 6
        found = driver.beam(Request("go", time_limit=0.03, max_tokens=10_000), width=2)
        assert {one.generation.reason for one in found} == {"time_limit"}


def test_penalty_and_bias_are_honoured() -> None:
    def best(sampling: SamplingParams) -> str:
        backend = ScriptedBackend.following(lambda text: {"a": 2.0, "b": 1.9, "c": 1.0}, slots=2)
        with Driver(backend) as driver:
            return driver.beam(Request("go", max_tokens=3, sampling=sampling), width=2)[0].text

    assert best(SamplingParams()) == "aaa"
    assert sorted(best(SamplingParams(repetition_penalty=3.0))) == ["a", "b", "c"]
    assert best(SamplingParams(logit_bias=((ord("c"), 9.0),))) == "ccc"


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"width": 0}, "width"),
        ({"width": 5}, "5 beams need as many slots, and there are 4"),
        ({"length_penalty": -1.0}, "length_penalty"),
        ({"length_penalty": float("nan")}, "length_penalty"),
        ({"request": Request("go", ledger=True)}, "ledger"),
        ({"request": Request("go", receipt=True)}, "receipt"),
        ({"request": Request("go", sampling=SamplingParams(0.5))}, "draws nothing"),
        ({"request": Request("go", sampling=SamplingParams(top_k=3))}, "draws nothing"),
    ],
)
def test_what_cannot_be_searched_is_refused(options: dict[str, object], match: str) -> None:
    with Driver(ScriptedBackend.replay(["a"], slots=4)) as driver, pytest.raises(RequestError, match=match):
        driver.beam(**({"request": Request("go"), **options}))  # type: ignore[arg-type]
    with Driver(ScriptedBackend.replay(["a"], level="request")) as driver, pytest.raises(RequestError, match="copy"):
        driver.beam(Request("go"))


def test_a_fork_of_a_machine_goes_on_by_itself() -> None:
    """What one of two machines takes, the other does not see: text, spans, held-back tags, masks, directives."""
    for grammar in (FreeText(), LarkText('start: /[a-z<]*/ @calc ", " @calc.result "."')):
        backend = ScriptedBackend.replay(["<c>", "1+", "2", "3", "</c>", "<", "so"])
        pieces = backend.tokenizer.pieces
        with Driver(backend, REGISTRY) as driver:
            machine = driver._starter.machine(Request("go", grammar=grammar), 0)
            for piece in (b"<", b"c", b">", b"1+"):
                machine.mask()
                machine.advance(pieces.index(piece))
            machine.mask()
            twin = machine.fork()
            machine.advance(pieces.index(b"2"))
            twin.mask()
            twin.advance(pieces.index(b"3"))
            assert machine.text.endswith(b"1+2")
            assert twin.text.endswith(b"1+3")
            for one in (machine, twin):
                one.mask()
                one.advance(pieces.index(b"</c>"))
            assert "".join(machine.output).startswith("<c>1+2</c><r>3</r>")
            assert "".join(twin.output).startswith("<c>1+3</c><r>4</r>")
            told = ["".join(e.text for e in one.drain() if isinstance(e, Text)) for one in (machine, twin)]
            assert told[0].startswith("<c>1+2")
            assert told[1].startswith("<c>1+3")
