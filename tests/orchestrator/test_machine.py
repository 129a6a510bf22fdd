"""The span machine: one meaning for every cut of the tokens, budgets kept, nothing evaluated twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import CASE_REGISTRY, finished, kinds, play

from evalspan.evaluators import Failure, Outcome, Value
from evalspan.orchestrator import Evaluated, Event, Failed, SpanOpened, Text
from evalspan.orchestrator.machine import Continue, Force, SpanMachine, SpanPlan, Stop
from evalspan.policies import ErrorCode, Registry, SpanRule

PLAN = SpanPlan(Registry.parse(CASE_REGISTRY))

PIECES = st.sampled_from(
    ["<calc>", "</calc>", "<ca", "lc>", "</c", "alc>", "1", "+", "2", " ", "<", ">", "é", "😀", "<result>", "</result>"]
)


def upper(name: str, content: bytes, rule: SpanRule | None) -> tuple[Outcome, float]:
    """A stand-in evaluator: it records nothing and answers from its input alone."""
    if b"!" in content:
        return Failure(ErrorCode.SYNTAX, "no"), 1.0
    return Value(content.decode("utf-8", "replace").upper()), 1.0


def run(chunks: list[bytes], plan: SpanPlan = PLAN) -> tuple[str, list[Event]]:
    """The text and the events, where each chunk is what a model says next; overshoot is said again."""
    machine = SpanMachine(plan, upper, max_tokens=10**6, tokenizer=None)
    events: list[Event] = []
    for chunk in chunks:
        rest = chunk
        while rest:
            before = len(machine.text)
            action = machine.advance_bytes(rest)
            events += machine.drain()
            if not isinstance(action, Force):
                break
            rest = rest[len(machine.text) - before - sum(len(block.text.encode()) for block in action.blocks) :]
    machine.stop("eos")
    events += machine.drain()
    return "".join(machine.output), events


def facts(events: list[Event]) -> list[object]:
    return [event for event in events if not isinstance(event, Text)]


@given(st.lists(PIECES, max_size=30), st.data())
def test_every_cut_gives_the_same_text_and_events(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces).encode()
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=12)))
    chunks = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole = run([text])
    assert run(chunks)[0] == whole[0]
    assert facts(run(chunks)[1]) == facts(whole[1])
    single = run([text[i : i + 1] for i in range(len(text))])
    assert (single[0], facts(single[1])) == (whole[0], facts(whole[1]))


@given(st.lists(PIECES | st.binary(max_size=3).map(lambda b: b.decode("latin-1")), max_size=30))
def test_released_text_is_never_cut_inside_a_character(pieces: list[str]) -> None:
    chunks = [bytes([byte]) for byte in "".join(pieces).encode()]
    _, events = run(chunks)
    assert not any("�" in event.text for event in events if isinstance(event, Text))


def test_an_open_tag_inside_a_span_is_content() -> None:
    _, events = run([b"<calc>1 <calc> 2</calc>"])
    assert [e.input for e in events if isinstance(e, Evaluated)] == ["1 <calc> 2"]
    assert sum(isinstance(e, SpanOpened) for e in events) == 1


def test_each_span_is_evaluated_once() -> None:
    calls = []

    def counted(name: str, content: bytes, rule: SpanRule | None) -> tuple[Outcome, float]:
        calls.append(content)
        return Value("1"), 1.0

    machine = SpanMachine(PLAN, counted, max_tokens=10**6, tokenizer=None)
    for byte in b"<calc>a</calc><calc>b</calc>":
        machine.advance_bytes(bytes([byte]))
    machine.stop("eos")
    assert calls == [b"a", b"b"]


def test_injected_text_never_triggers() -> None:
    def echo(name: str, content: bytes, rule: SpanRule | None) -> tuple[Outcome, float]:
        return Value("<calc>9*9</calc>"), 1.0

    machine = SpanMachine(PLAN, echo, max_tokens=10**6, tokenizer=None)
    assert isinstance(machine.advance_bytes(b"<calc>x</calc>"), Force)
    assert isinstance(machine.advance_bytes(b" y"), Continue)
    assert machine.spans == 1


REASONING = (
    CASE_REGISTRY
    + """
[[channel]]
name = "reasoning"
open = "<think>"
close = "</think>"
spans = false
"""
)


@pytest.mark.parametrize(("spans", "evaluated"), [("false", ["2"]), ("true", ["1", "2"])])
def test_spans_in_a_channel_are_evaluated_only_where_it_says_so(spans: str, evaluated: list[str]) -> None:
    plan = SpanPlan(Registry.parse(REASONING.replace("spans = false", f"spans = {spans}")))
    _, events = run([b"<think> <calc>1</calc> </think> <calc>2</calc>"], plan)
    assert [e.input for e in events if isinstance(e, Evaluated)] == evaluated


@pytest.mark.parametrize("mode", ["no-grammar", "grammar-eval"])
def test_a_channel_keeps_its_spans_inert_on_a_backend(mode: str) -> None:
    tokens = ["<think>", "hm", "</think>", "<calc>", "2+2", "</calc>"]
    events = play(tokens, registry=REASONING, mode=mode)
    assert finished(events).text == "<think>hm</think><calc>2+2</calc><result>4</result>"


def test_the_span_budget_is_an_injected_error() -> None:
    registry = CASE_REGISTRY.replace("version = 1", "version = 1\n[policy.default]\nmax_spans = 1")
    events = play(["<calc>1</calc>", "<calc>2</calc>", "."], registry=registry)
    assert finished(events).text == (
        "<calc>1</calc><result>1</result>"
        "<calc>2</calc><result_error>over_budget: the generation has had its 1 spans</result_error>."
    )


def test_the_token_budget_stops_a_generation_that_cannot_even_be_told() -> None:
    registry = CASE_REGISTRY.replace("version = 1", "version = 1\n[policy.default]\nmax_injected_tokens = 20")
    events = play(["<calc>1</calc>", "<calc>2</calc>", "."], registry=registry)
    assert finished(events).reason == "over_budget"
    assert finished(events).text == "<calc>1</calc><result>1</result><calc>2</calc>"
    assert [e.code for e in events if isinstance(e, Failed)] == [ErrorCode.OVER_BUDGET]


def test_on_error_stop_ends_the_generation_with_the_error() -> None:
    events = play(["<calc>1/0</calc>", " on"], registry=CASE_REGISTRY + 'on_error = "stop"\n')
    assert kinds(events) == ["span_opened", "error", "finished"]
    assert finished(events).reason == "evaluation_error"


def test_an_end_token_inside_a_span_is_not_a_close() -> None:
    events = play(["<calc>", "1+1"], mode="no-grammar")
    assert kinds(events) == ["span_opened", "unclosed_span", "finished"]
    assert finished(events).reason == "eos"


def test_stop_answers_a_reason() -> None:
    machine = SpanMachine(PLAN, upper, max_tokens=2, tokenizer=None)
    assert machine.advance_bytes(b"a <") == Continue()
    assert machine.advance_bytes(b"b") == Stop("length")
    assert "".join(machine.output) == "a <b"
