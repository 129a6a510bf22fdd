"""The parts of the HTTP backend without a server: addresses, keys, events, dialects."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalspan.backends.openai_http_dialects import DIALECTS
from evalspan.backends.openai_http_settings import HttpSettings
from evalspan.backends.openai_http_sse import EventStream
from evalspan.backends.openai_http_turn import Turn
from evalspan.orchestrator import BackendError, ModelError, RequestError, SamplingParams

SECRET = "sk-very-secret-0123456789"  # noqa: S105  a made-up key, looked for in what is shown


@pytest.mark.parametrize(
    ("address", "url", "model"),
    [
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1", None),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1", None),
        ("https://example.org/llm/v1/#org/model", "https://example.org/llm/v1", "org/model"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1", None),
    ],
)
def test_an_address_is_completed(address: str, url: str, model: str | None) -> None:
    settings = HttpSettings.read(address, environment={})
    assert (settings.url, settings.model) == (url, model)
    assert HttpSettings.read(None, environment={"EVALSPAN_HTTP_URL": address}).url == url


@pytest.mark.parametrize(
    ("address", "says"),
    [
        (None, "EVALSPAN_HTTP_URL"),
        ("model.gguf", "http://HOST:PORT/v1"),
        ("ftp://host/v1", "http://HOST:PORT/v1"),
        ("http://host:port/v1", "http://HOST:PORT/v1"),
        ("http://host/v1/completions", "ends with /v1"),
        ("http://host/v1?x=1", "no query"),
        (f"http://user:{SECRET}@host/v1", "EVALSPAN_HTTP_KEY"),
    ],
)
def test_an_address_that_is_none_is_explained(address: str | None, says: str) -> None:
    with pytest.raises(ModelError, match=says) as raised:
        HttpSettings.read(address, environment={})
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize(
    ("environment", "url", "sent"),
    [
        ({}, "http://10.0.0.1/v1", None),
        ({"EVALSPAN_HTTP_KEY": SECRET}, "http://10.0.0.1/v1", "EVALSPAN_HTTP_KEY"),
        ({"OPENAI_API_KEY": SECRET}, "https://api.example.org/v1", "OPENAI_API_KEY"),
        ({"OPENAI_API_KEY": SECRET}, "http://127.0.0.1:1/v1", "OPENAI_API_KEY"),
        ({"OPENAI_API_KEY": SECRET}, "http://localhost:1/v1", "OPENAI_API_KEY"),
        ({"OPENAI_API_KEY": SECRET}, "http://10.0.0.1/v1", None),
        ({"OPENAI_API_KEY": "other", "EVALSPAN_HTTP_KEY": SECRET}, "http://localhost/v1", "EVALSPAN_HTTP_KEY"),
    ],
)
def test_a_key_for_openai_does_not_leave_in_clear_text(environment: Any, url: str, sent: str | None) -> None:
    key = HttpSettings.read(url, environment=environment).key
    assert (key.variable if key else None) == sent
    assert key is None or key.secret == SECRET


def test_a_key_is_in_no_text_of_the_settings() -> None:
    settings = HttpSettings.read("http://h/v1", environment={"EVALSPAN_HTTP_KEY": SECRET})
    assert SECRET not in f"{settings!r} {settings} {settings.key!r} {settings.key}"
    with pytest.raises(BackendError) as raised:
        HttpSettings.read("http://h/v1", environment={"EVALSPAN_HTTP_KEY": SECRET + "\n"})
    assert SECRET not in str(raised.value)
    assert "EVALSPAN_HTTP_KEY" in str(raised.value)


@pytest.mark.parametrize("name", ["CONNECT_TIMEOUT", "READ_TIMEOUT", "TOTAL_TIMEOUT", "RETRIES"])
@pytest.mark.parametrize("value", ["x", "nan", "-1", "inf"])
def test_a_time_that_is_none_is_explained(name: str, value: str) -> None:
    with pytest.raises(BackendError):
        HttpSettings.read("http://h/v1", environment={f"EVALSPAN_HTTP_{name}": value})


STREAM = (
    b"\xef\xbb\xbf: a comment\n\ndata: one\n\nevent: x\nid: 7\ndata: caf\xc3\xa9 \xf0\x9f\xa6\x80\n\n"
    b"data:two\r\ndata:  lines\r\n\r\n\n\ndata\n\nretry: 10\n\ndata: [DONE]\n\ndata: cut off"
)
EVENTS = ["one", "café 🦀", "two\n lines", "", "[DONE]"]


@settings(max_examples=500, deadline=None)
@given(st.lists(st.integers(0, len(STREAM)), max_size=12), st.booleans())
def test_every_chunking_of_a_stream_gives_the_same_events(cuts: list[int], returns: bool) -> None:
    data = STREAM.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") if returns else STREAM
    stream = EventStream()
    places = [0, *sorted(cuts), len(data)]
    pieces = [data[start:end] for start, end in pairwise(places)]
    assert [event for piece in pieces for event in stream.feed(piece)] == EVENTS


def test_single_returns_end_lines() -> None:
    stream = EventStream()
    assert [event for byte in b"data: a\r\rdata: b\r\r" for event in stream.feed(bytes([byte]))] == ["a", "b"]


@pytest.mark.parametrize("data", [b"data: \xff\n\n", b"x" * (16 << 20) + b"yy"])
def test_an_event_that_is_none_is_an_error(data: bytes) -> None:
    with pytest.raises(BackendError):
        EventStream().feed(data)


def event(**choice: Any) -> bytes:
    return f"data: {json.dumps({'choices': [choice]})}\n\n".encode()


def test_a_stripped_stop_string_is_put_back() -> None:
    turn = Turn(DIALECTS["vllm"], ("</calc>", "</date>"))
    chunks = turn.read(event(text="<calc>1", token_ids=[1, 2]))
    chunks += turn.read(event(text="+1", token_ids=[3], finish_reason="stop", stop_reason="</calc>"))
    assert b"".join(chunk.data for chunk in chunks) == b"<calc>1+1</calc>"
    assert chunks[-1].tokens == ()  # nobody knows those of the stop string
    assert turn.end == "stop"


def test_a_kept_stop_string_is_not_repeated() -> None:
    turn = Turn(DIALECTS["sglang"], ("</calc>",))
    chunks = turn.read(event(text="<calc>1+1</ca", token_ids=[1, 2]))
    chunks += turn.read(event(text="lc>", token_ids=[3], finish_reason="stop", matched_stop="</calc>"))
    assert b"".join(chunk.data for chunk in chunks) == b"<calc>1+1</calc>"
    assert [chunk.tokens for chunk in chunks] == [(1, 2), (3,)]


def test_an_end_token_is_not_taken_for_a_stop_string() -> None:
    turn = Turn(DIALECTS["vllm"], ("</calc>",))
    turn.read(event(text="<calc>1+1", token_ids=[1], finish_reason="stop", stop_reason=None))
    assert turn.end == "eos"


def test_tokens_wait_for_their_text() -> None:
    turn = Turn(DIALECTS["vllm"], ())
    assert turn.read(event(text="", token_ids=[7])) == []
    (chunk,) = turn.read(event(text="🦀", token_ids=[8, 9]))
    assert (chunk.data, chunk.tokens) == ("🦀".encode(), (7, 8, 9))


def test_halves_of_a_character_are_joined() -> None:
    turn = Turn(DIALECTS["other"], ())
    chunks = turn.read(event(text="a\ud83e") + event(text="\udd80b") + event(text="\ud83e", finish_reason="length"))
    assert b"".join(chunk.data for chunk in chunks).decode() == "a🦀b�"


def test_the_seed_is_another_one_in_every_turn() -> None:
    for dialect in DIALECTS.values():
        params = SamplingParams(temperature=1.0, seed=5)
        assert [dialect.parameters(params, turn)["seed"] for turn in range(3)] == [5, 6, 7]
        assert 0 <= dialect.parameters(SamplingParams(seed=2**40), 3)["seed"] < 2**31


@pytest.mark.parametrize(
    ("name", "params", "says"),
    [
        ("other", {"temperature": 1.0, "top_k": 5}, "top_k"),
        ("other", {"temperature": 1.0, "min_p": 0.1}, "min_p"),
        ("other", {"repetition_penalty": 1.2}, "repetition_penalty"),
        ("llama_cpp", {"repetition_penalty": 1.2}, "repetition_penalty"),
        ("llama_cpp", {"temperature": 0.7, "top_p": 0.9}, "order top_p, temperature"),
        ("vllm", {"temperature": 1.0, "top_p": 0.9, "min_p": 0.1}, "order min_p, top_p"),
        ("vllm", {"temperature": 0.001}, "temperature"),
        ("vllm", {"logit_bias": ((3, 200.0),)}, "logit_bias"),
    ],
)
def test_what_a_server_would_ignore_or_take_otherwise_is_refused(name: str, params: Any, says: str) -> None:
    with pytest.raises(RequestError, match=says):
        DIALECTS[name].check(SamplingParams(**params))


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("other", {"top_k": 5}),  # greedy: the largest stays whatever is cut
        ("other", {"temperature": 0.7, "top_p": 0.9}),
        ("llama_cpp", {"temperature": 0.7, "top_k": 40}),
        ("llama_cpp", {"temperature": 0.7, "top_p": 0.9, "order": ("top_k", "top_p", "min_p", "temperature")}),
        ("vllm", {"temperature": 0.7, "top_k": 40, "top_p": 0.9}),
        ("vllm", {"temperature": 0.7, "top_k": 40, "min_p": 0.1}),
        ("sglang", {"temperature": 0.7, "top_k": 40, "top_p": 0.9, "min_p": 0.1, "repetition_penalty": 1.1}),
        ("llama_server", {"temperature": 0.7, "top_p": 0.9, "min_p": 0.1, "repetition_penalty": 1.1}),
    ],
)
def test_what_a_server_samples_as_asked_is_sent(name: str, params: Any) -> None:
    DIALECTS[name].check(SamplingParams(**params))
    body = DIALECTS[name].parameters(SamplingParams(**params), 0)
    for key in ("temperature", "top_p", "min_p"):
        assert key not in body or body[key] == getattr(SamplingParams(**params), key)


def test_llama_server_is_told_the_order() -> None:
    order = ("top_p", "temperature", "min_p", "top_k")
    params = SamplingParams(temperature=0.5, top_p=0.5, order=order)
    assert DIALECTS["llama_server"].parameters(params, 0)["samplers"] == ["penalties", *order]
