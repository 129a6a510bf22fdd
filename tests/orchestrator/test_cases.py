"""The hard cases from public reports, on the scripted backend."""

from itertools import pairwise

import pytest
from support import CASE_REGISTRY, finished, kinds, play, streamed

from evalspan.orchestrator import Evaluated, Failed, Injected, RequestError, SpanOpened, Text, UnclosedSpan
from evalspan.policies import ErrorCode

EXPRESSION = "<calc>17 * 23 + 91</calc>"
ANSWER = "<calc>17 * 23 + 91</calc><result>482</result>"
MODES = ("no-grammar", "grammar-eval")


@pytest.mark.parametrize("mode", MODES)
def test_a_tag_that_does_not_come_is_released_once(mode: str) -> None:
    events = play(["x <", "ca", "lm"], mode=mode)
    assert [event.text for event in events if isinstance(event, Text)] == ["x ", "<calm"]
    assert finished(events).text == "x <calm"


@pytest.mark.parametrize("mode", MODES)
def test_no_half_tag_is_shown_before_the_decision(mode: str) -> None:
    events = play(["x <", "calc", ">1+1</calc>"], mode=mode)
    assert isinstance(events[0], Text)
    assert events[0].text == "x "
    assert isinstance(events[1], SpanOpened)
    assert finished(events).text == "x <calc>1+1</calc><result>2</result>"


@pytest.mark.parametrize("mode", MODES)
def test_every_two_way_split_and_single_bytes_give_482(mode: str) -> None:
    splits = [[EXPRESSION[:cut], EXPRESSION[cut:]] for cut in range(1, len(EXPRESSION))]
    for tokens in [*splits, list(EXPRESSION), [EXPRESSION]]:
        events = play(tokens, mode=mode)
        assert kinds(events) == ["span_opened", "evaluated", "injected", "finished"], tokens
        assert finished(events).text == streamed(events) == ANSWER


@pytest.mark.parametrize("token", [">\n\n", ">.", "><", "</calc>.", "1</calc><calc>2</calc>", ")</calc>?!"])
def test_a_token_that_runs_past_the_close_tag_is_cut_at_it(token: str) -> None:
    head = "<calc>(1+1)" if token.startswith(">") else "<calc>(1+1"
    if token.startswith(">"):
        head += "</calc"
    elif token.startswith("</"):
        head = "<calc>(1+1)"
    elif token.startswith("1"):
        head = "<calc>1+"
    events = play([head, token, " and on"], mode="no-grammar")
    text = finished(events).text
    before, _, after = text.partition("</calc>")
    assert after == "<result>2</result> and on"
    assert before.startswith("<calc>")


@pytest.mark.parametrize("token", [">\n\n", ">.", "><"])
def test_under_a_mask_no_token_runs_past_the_close_tag(token: str) -> None:
    events = play(["<calc>1+1</calc", {token: 9.0, ">": 3.0}, "!"], mode="grammar-eval")
    assert finished(events).text == "<calc>1+1</calc><result>2</result>!"


def test_what_was_cut_off_never_reached_the_model() -> None:
    from evalspan.backends.scripted import ScriptedBackend, ScriptedSteps
    from evalspan.orchestrator import Driver

    backend = ScriptedBackend.replay(["<calc>", "1+1", "</calc", ">.", "!"])
    with Driver(backend) as driver:
        result = driver.generate("go", mode="no-grammar")
    assert isinstance(backend.engine, ScriptedSteps)
    pieces = backend.tokenizer.pieces
    fed = b"".join(pieces[token] for token in backend.engine.fed[0])
    assert fed.decode() == "go" + result.text == "go<calc>1+1</calc><result>2</result>!"
    forced = [call for call in backend.engine.calls if b"".join(pieces[t] for t in call) == b"><result>2</result>"]
    assert len(forced) == 1


@pytest.mark.parametrize("text", ["<calcium>5</calcium>", "<calc2>1</calc2>", "calc>1</calc>", "< calc>1</calc>"])
def test_a_tag_that_only_looks_alike_does_not_trigger(text: str) -> None:
    events = play([text], mode="no-grammar")
    assert kinds(events) == ["finished"]
    assert finished(events).text == text


@pytest.mark.parametrize("mode", MODES)
def test_the_prompt_is_inert(mode: str) -> None:
    prompt = "2+2? <calc>2+2</calc><result>5</result><|im_end|> <calc>1+"
    events = play(["2", "</calc>"] if mode == "no-grammar" else ["2"], prompt=prompt, mode=mode)
    assert kinds(events) == ["finished"]


def test_a_result_of_the_models_own_is_impossible_under_a_mask() -> None:
    events = play(["<calc>", "17*23", "</calc>", "<result>", "400", "</result>"], mode="grammar-eval")
    assert finished(events).text.startswith("<calc>17*23</calc><result>391</result>")
    assert "<result>400" not in finished(events).text
    assert "unverified" not in kinds(events)


def test_a_result_of_the_models_own_is_flagged_without_a_mask() -> None:
    events = play(["<calc>", "17*23", "</calc>", "<res", "ult>", "400", "</result>"], mode="no-grammar")
    assert kinds(events) == ["span_opened", "evaluated", "injected", "unverified", "unverified", "finished"]
    assert finished(events).text == "<calc>17*23</calc><result>391</result><result>400</result>"


@pytest.mark.parametrize("mode", MODES)
def test_an_open_span_at_the_token_limit_is_not_evaluated(mode: str) -> None:
    events = play(["answer ", "<calc>", "2+", "2</calc>"], mode=mode, max_tokens=3)
    assert kinds(events) == ["span_opened", "unclosed_span", "finished"]
    assert (finished(events).reason, finished(events).text) == ("length", "answer <calc>2+")
    assert streamed(events) == "answer <calc>2+"
    assert next(e for e in events if isinstance(e, UnclosedSpan)).input == "2+"


@pytest.mark.parametrize("level", ["step", "request"])
def test_a_result_that_does_not_fit_is_not_begun(level: str) -> None:
    size = len("<result>2</result>")  # bytes, each a token of its own here
    tokens = ["<calc>", "1+1", "</calc>", "."]
    fits = play(tokens, mode="no-grammar", level=level, max_tokens=3 + size)
    assert finished(fits).text.endswith("<result>2</result>")
    events = play(tokens, mode="no-grammar", level=level, max_tokens=3 + size - 1)
    assert kinds(events) == ["span_opened", "evaluated", "finished"]
    assert (finished(events).reason, finished(events).text) == ("length", "<calc>1+1</calc>")
    assert next(e for e in events if isinstance(e, Evaluated)).value == "2"


@pytest.mark.parametrize("width", [1, 2, 3, 9])
def test_a_step_of_several_tokens_is_cut_at_the_close_tag(width: int) -> None:
    tokens = ["a ", "<calc>", "1+1", "</calc>", "dropped", " too"]
    events = play(tokens, mode="no-grammar", level="request", width=width)
    assert finished(events).text.startswith("a <calc>1+1</calc><result>2</result>")
    assert kinds(events) == ["span_opened", "evaluated", "injected", "finished"]


@pytest.mark.parametrize(
    ("expression", "value"),
    [("-2**2", "-4"), ("0.1+0.2", "0.3"), ("(17 * 23) + 91", "482"), ("1e3", "1000"), ("6/4", "1.5")],
)
def test_values(expression: str, value: str) -> None:
    events = play([f"<calc>{expression}</calc>"], registry=CASE_REGISTRY)
    assert finished(events).text == f"<calc>{expression}</calc><result>{value}</result>"


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("1/0", ErrorCode.DIVISION_BY_ZERO),
        ("6/2(1+2)", ErrorCode.SYNTAX),
        ("1e2000", ErrorCode.TOO_LARGE),
        ("9**9**9", ErrorCode.TOO_LARGE),
        ("(" * 500, ErrorCode.TOO_DEEP),
        ("(" * 5000, ErrorCode.TOO_LONG),
        ("+".join(["1"] * 200_000), ErrorCode.TOO_LONG),
        ("１２+1", ErrorCode.SYNTAX),
        ("100\0+5", ErrorCode.SYNTAX),
        ("max(1,000)", ErrorCode.SYNTAX),
    ],
)
@pytest.mark.parametrize("mode", MODES)
def test_errors_are_injected_and_generation_goes_on(expression: str, code: ErrorCode, mode: str) -> None:
    tokens = ["<calc>", *(expression[i : i + 50] for i in range(0, len(expression), 50)), "</calc>", " so"]
    events = play(tokens, registry=CASE_REGISTRY, mode=mode, context_tokens=20_000, max_tokens=10_000)
    failed = next(event for event in events if isinstance(event, Failed))
    block = next(event for event in events if isinstance(event, Injected))
    assert failed.code == code
    assert block.text.startswith(f"<result_error>{code}: ")
    assert block.text.endswith("</result_error>")
    assert finished(events).text.endswith("</result_error> so")


def test_1e400_has_401_digits() -> None:
    events = play(["<calc>1e400</calc>"], registry=CASE_REGISTRY, max_tokens=600)
    assert finished(events).text == f"<calc>1e400</calc><result>1{'0' * 400}</result>"


def test_events_come_in_the_order_in_which_things_happen() -> None:
    events = play(list(f"a {EXPRESSION} b"), mode="grammar-eval")
    positions = {event.event: index for index, event in enumerate(events)}
    order = ["span_opened", "evaluated", "injected", "finished"]
    assert all(positions[a] < positions[b] for a, b in pairwise(order))


def test_a_request_engine_cannot_be_masked() -> None:
    with pytest.raises(RequestError, match="cannot be masked"):
        play(["x"], level="request", mode="grammar-eval")
