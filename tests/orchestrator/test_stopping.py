"""Stop strings end a generation where they are complete, in any split of tokens, and are told once or not at all."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import CASE_REGISTRY, finished, kinds, play, streamed

from evalspan.backends.scripted import ScriptedBackend, ScriptedRequests
from evalspan.orchestrator import Driver, LarkText, Request, RequestError, Text
from evalspan.orchestrator.stopping import StopStrings

LEVELS = pytest.mark.parametrize("options", [{}, {"mode": "no-grammar"}, {"level": "request"}], ids=str)


def expected(text: str, stops: tuple[str, ...]) -> tuple[str, str | None]:
    """What is left of a text, and the string that ended it: the first to be complete, the longest of those."""
    for end in range(1, len(text) + 1):
        if ending := [stop for stop in stops if text[:end].endswith(stop)]:
            longest = max(ending, key=len)
            return text[: end - len(longest)], longest
    return text, None


def cut(text: str, places: set[int]) -> list[str]:
    bounds = [0, *sorted(places & set(range(1, len(text)))), len(text)]
    return [text[start:end] for start, end in pairwise(bounds) if start < end]


@settings(deadline=None)  # a busy machine is no defect
@given(
    text=st.text(alphabet="ab<é", min_size=1, max_size=14),
    stops=st.lists(st.text(alphabet="ab<é", min_size=1, max_size=4), min_size=1, max_size=4).map(tuple),
    places=st.sets(st.integers(1, 14)),
    options=st.sampled_from([{}, {"mode": "no-grammar"}, {"level": "request"}]),
)
def test_the_first_complete_string_ends_the_text_in_every_split(
    text: str, stops: tuple[str, ...], places: set[int], options: dict[str, Any]
) -> None:
    events = play(cut(text, places), stop=stops, **options)
    left, found = expected(text, stops)
    last = finished(events)
    assert (last.text, last.stop_string) == (left, found)
    assert last.reason == ("eos" if found is None else "stop_string")
    assert streamed(events) == left


@LEVELS
def test_a_string_is_held_back_until_it_cannot_be_one(options: dict[str, Any]) -> None:
    events = play(["so ", "EN", "E", "N", "D."], stop=("END",), registry=CASE_REGISTRY, **options)
    texts = [event.text for event in events if isinstance(event, Text)]
    assert texts == ["so ", "EN"]
    assert finished(events).text == "so EN"


def test_kept_strings_stay_in_the_text() -> None:
    events = play(["a\n", "\nb"], stop=("\n\n",), keep_stop=True)
    assert finished(events).text == streamed(events) == "a\n\n"


@LEVELS
def test_forced_text_does_not_stop_and_neither_does_text_across_its_edges(options: dict[str, Any]) -> None:
    tokens = ["<calc>", "40+2", "</calc>", "t>4", "!", "?"]
    # In the block; across its end; across its start; and, at last, in what the model wrote behind it.
    stops = ("<result>42", "</result>t", "</calc><re", "4!?")
    events = play(tokens, registry=CASE_REGISTRY, stop=stops, **options)
    assert finished(events).stop_string == "4!?"
    assert finished(events).text == streamed(events) == "<calc>40+2</calc><result>42</result>t>"


@LEVELS
@pytest.mark.parametrize(
    ("stop", "text"),
    [("<calc>", ""), ("alc>4", "<c"), ("+2", "<calc>40"), ("2</calc>", "<calc>40+"), ("</ca", "<calc>40+2")],
)
def test_a_string_inside_a_span_leaves_it_unevaluated(options: dict[str, Any], stop: str, text: str) -> None:
    events = play(["<calc>", "40+2", "</calc>", "."], registry=CASE_REGISTRY, stop=(stop,), **options)
    assert finished(events).reason == "stop_string"
    assert finished(events).text == streamed(events) == text
    assert "evaluated" not in kinds(events)


def test_a_string_behind_a_close_tag_in_the_same_token_is_left_for_the_model_to_say_again() -> None:
    tokens = ["<calc>40+2</calc>END", "so END"]
    events = play(tokens, registry=CASE_REGISTRY, mode="no-grammar", stop=("END",))
    assert finished(events).text == "<calc>40+2</calc><result>42</result>so "


def test_what_was_held_back_comes_out_at_the_end_and_before_a_restated_text() -> None:
    assert finished(play(["so E"], stop=("END",))).text == "so E"
    tokens = ["<calc>", "1+1", "</calc>", "E", "."]
    grammar = LarkText('start: @calc "E" @calc.result "."')
    events = play(tokens, registry=CASE_REGISTRY, grammar=grammar, stop=("END",))
    assert finished(events).text == streamed(events) == "<calc>1+1</calc><result>2</result>E2."


def test_each_request_of_a_batch_has_its_own_strings() -> None:
    with Driver(ScriptedBackend.replay(list("abcdef"), slots=3)) as driver:
        results = driver.generate_many(Request("go", stop=(letter,)) for letter in "cez")
    assert [(result.text, result.reason) for result in results] == [
        ("ab", "stop_string"),
        ("abcd", "stop_string"),
        ("abcdef", "eos"),
    ]


def test_a_request_engine_is_cancelled_at_a_stop_string() -> None:
    backend = ScriptedBackend.replay(list("abcdef"), level="request")
    engine = backend.engine
    assert isinstance(engine, ScriptedRequests)
    with Driver(backend) as driver:
        assert driver.generate("go", stop=("c",)).text == "ab"
    assert engine.cancelled == 1
    assert engine.requests[0].stop == tuple(sorted({rule.close for rule in driver.registry.spans}))


@pytest.mark.parametrize("stop", [("",), ("x" * 1025,), ("x",) * 65, "abc", (1,), ("\udc80",)])
def test_strings_that_cannot_be_honoured_are_refused(stop: Any) -> None:
    with pytest.raises(RequestError):
        StopStrings(stop)
