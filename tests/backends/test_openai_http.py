"""Stop and resume over HTTP against a scripted server: what goes over the wire, and what happens when it fails."""

from __future__ import annotations

import gc
import json
import logging
import os
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme
from http_support import CONTROL, Scripted, completion, decode, serving, token_routes, tokens_of
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from support import finished, kinds, streamed

from evalspan.backends.openai_http import OpenAIHttpBackend
from evalspan.backends.openai_http_settings import ApiKey, HttpSettings
from evalspan.orchestrator import (
    BackendError,
    Driver,
    Event,
    FreeText,
    Message,
    ModelError,
    PromptError,
    Request,
    RequestError,
    SamplingParams,
)

SECRET = "sk-very-secret-0123456789"  # noqa: S105  a made-up key, looked for in what is shown
CALC = ("a ", "<calc>", "1+1", "</", "calc>")
DONE = "a <calc>1+1</calc><result>2</result>"


@contextmanager
def driving(script: Scripted, **settings: Any) -> Iterator[Driver]:
    """A driver on a scripted server; waits are short unless a test sets them."""
    settings = {"backoff": 0.01, "read_timeout": 5.0, **settings}
    with serving(script) as url, Driver(OpenAIHttpBackend.connect(HttpSettings(url, **settings))) as driver:
        yield driver


def vllm(*replies: Any, **options: Any) -> Scripted:
    """A server that speaks as vLLM does."""
    return Scripted(list(replies), owner="vllm", card={"max_model_len": 512}, routes=token_routes(), **options)


# What is said


def test_a_span_is_evaluated_and_the_text_resumed() -> None:
    script = Scripted([completion(*CALC, " never seen", finish="length"), completion(" and", " so")])
    with driving(script) as driver:
        events = list(driver.stream("go ", max_tokens=100))
    assert streamed(events) == finished(events).text == DONE + " and so"
    assert kinds(events) == ["span_opened", "evaluated", "injected", "finished"]
    first, second = script.bodies
    assert (first["prompt"], second["prompt"]) == ("go ", "go " + DONE)
    assert second["max_tokens"] == 100 - len(CALC) - len("<result>2</result>")  # in bytes, which no tokens exceed
    assert "stop" not in first
    assert (first["seed"], second["seed"]) == (0, 1)


def test_a_server_that_runs_on_is_cut_at_the_close_tag() -> None:
    script = Scripted([completion("<calc>1+1</calc>. So <calc>", hang=True), completion("!")])
    with driving(script) as driver:
        start = time.monotonic()
        assert driver.generate("go", max_tokens=100).text == "<calc>1+1</calc><result>2</result>!"
        assert time.monotonic() - start < 4  # seconds; the server would have gone on for 60
        wait_until(lambda: script.closed == 1)


def test_vllm_is_resumed_with_its_own_tokens() -> None:
    script = vllm(
        completion("é <ca", "lc>1+1</ca", "lc>", tokens=True, extra={"stop_reason": "</calc>"}),
        completion("!", tokens=True),
    )
    with driving(script) as driver:
        assert "vLLM, resumes with token ids" in driver.backend.model
        events = list(driver.stream("go ", max_tokens=100))
    first, second = script.bodies
    assert first["prompt"] == tokens_of("go ")
    assert second["prompt"] == tokens_of("go é <calc>1+1</calc><result>2</result>")
    assert first["include_stop_str_in_output"] is first["return_token_ids"] is True
    assert "</calc>" in first["stop"]
    done = finished(events)
    assert (done.prompt_tokens, done.forced_tokens, done.sampled_tokens) == (3, 18, len("é <calc>1+1</calc>!") + 1 + 1)
    assert [event.tokens for event in events if event.event == "injected"] == [tuple(b"<result>2</result>")]


def test_a_stop_string_that_closes_nothing_is_gone_on_from() -> None:
    script = vllm(
        completion("a</calc>", tokens=True, extra={"stop_reason": "</calc>"}),
        completion("b", tokens=True),
    )
    with driving(script) as driver:
        assert driver.generate("go", max_tokens=50).text == "a</calc>b"
    assert script.bodies[1]["prompt"] == tokens_of("goa</calc>")
    assert script.bodies[1]["max_tokens"] == 50 - len("a</calc>")
    assert script.bodies[1]["seed"] != script.bodies[0]["seed"]


def test_tokens_that_run_past_a_stop_string_are_not_sent_back() -> None:
    def reply(body: Mapping[str, Any]) -> Response:
        choice = (
            '{"text": "<calc>1+1</calc>", "index": 0, "finish_reason": "stop", "stop_reason": "</calc>", '
            f'"token_ids": {tokens_of("<calc>1+1</calc>. So")}}}'
        )
        return StreamingResponse(iter([f'data: {{"choices": [{choice}]}}\n\n']), media_type="text/event-stream")

    script = vllm(reply, completion("!", tokens=True))
    with driving(script) as driver:
        assert driver.generate("go", max_tokens=100).text == "<calc>1+1</calc><result>2</result>!"
    assert script.bodies[1]["prompt"] == tokens_of("go<calc>1+1</calc><result>2</result>")


def test_tokens_that_run_past_a_close_tag_are_cut() -> None:
    script = vllm(completion("<calc>1+1</calc>. So", hang=True, tokens=True), completion("!", tokens=True))
    with driving(script) as driver:
        assert driver.generate("go", max_tokens=100).text == "<calc>1+1</calc><result>2</result>!"
    assert script.bodies[1]["prompt"] == tokens_of("go<calc>1+1</calc><result>2</result>")


@pytest.mark.parametrize("tokens", [False, True])
def test_a_server_without_tokens_is_resumed_with_text(tokens: bool) -> None:
    script = Scripted(
        [completion(*CALC, tokens=tokens), completion("!")],
        owner="vllm",
        routes=token_routes() if not tokens else token_routes(fail=True),
    )
    with driving(script) as driver:
        assert driver.generate("go ", max_tokens=100).text == DONE + "!"
        assert isinstance(driver.backend, OpenAIHttpBackend)
        assert driver.backend.engine.path == "resumes with text"
    assert script.bodies[1]["prompt"] == "go " + DONE


def test_a_forged_result_is_unverified() -> None:
    script = Scripted([completion("<calc>1+1</calc", "<result>3</result>")])
    with driving(script) as driver:
        events = list(driver.stream("go", max_tokens=100))
    assert kinds(events) == ["span_opened", "unverified", "unverified", "unclosed_span", "finished"]


def test_an_open_span_at_the_end_is_not_evaluated() -> None:
    script = Scripted([completion("<calc>1+1")])
    with driving(script) as driver:
        events = list(driver.stream("go", max_tokens=100))
    assert kinds(events) == ["span_opened", "unclosed_span", "finished"]
    assert finished(events).reason == "eos"


def test_a_result_that_spells_a_control_token_stays_text() -> None:
    text = '<strop>lower("<|END|>")</strop>'
    script = vllm(completion(text, tokens=True, hang=True), completion("!", tokens=True))
    plain = Scripted([completion(text, hang=True), completion("!")])
    with driving(script) as driver:
        result = driver.generate("go", max_tokens=300)
    (injected,) = result.injections
    assert "<|end|>" in injected.text
    assert CONTROL not in injected.tokens
    assert decode(list(injected.tokens)) == injected.text
    with driving(plain) as driver:
        (refused,) = driver.generate("go", max_tokens=300).injections
    assert refused.kind == "error"
    assert "<|" not in refused.text


def test_a_conversation_goes_into_the_servers_template() -> None:
    script = vllm(completion("hi", tokens=True))
    with driving(script) as driver:
        driver.generate([Message("user", "2+2?")])
        driver.generate([Message("user", "<|end|>")])
    assert script.bodies[0]["prompt"] == [*tokens_of("[user]2+2?"), CONTROL, *tokens_of("[assistant]")]
    assert script.bodies[1]["prompt"] == [*tokens_of("[user]<|end|>"), CONTROL, *tokens_of("[assistant]")]


def test_without_a_template_a_conversation_is_refused() -> None:
    script = Scripted([completion("hi")])
    with driving(script) as driver, pytest.raises(PromptError, match="--raw"):
        driver.generate([Message("user", "2+2?")])
    assert script.bodies == []


def test_what_cannot_be_done_is_refused_at_once() -> None:
    with driving(vllm(completion("hi"))) as driver:
        for request, says in (
            (Request("go", mode="grammar-eval"), "no-grammar"),
            (Request("go", grammar=FreeText(("calc",))), "no-grammar"),
            (Request("go", ledger=True), "ledger"),
            (Request("go", sampling=SamplingParams(0.7, top_p=0.5, min_p=0.5)), "order"),
            (Request("go" * 300), "the context holds 512"),
            (Request(""), "empty"),
            (Request("\ud800"), "surrogate"),
        ):
            with pytest.raises((RequestError, PromptError), match=says):
                driver.begin(request)
        with pytest.raises(BackendError, match="no vocabulary"):
            _ = driver.backend.tokenizer


def test_slow_bytes_and_split_characters_arrive_whole() -> None:
    data = 'data: {"choices": [{"text": "a🦀<calc>1+1</calc>", "index": 0}]}\r\n\r\n'.encode()
    script = Scripted(
        [completion(*(bytes([byte]) for byte in data), pause=0.001, hang=True), completion(b": ping\n\n", "!")]
    )
    with driving(script) as driver:
        assert driver.generate("go", max_tokens=100).text == "a🦀<calc>1+1</calc><result>2</result>!"


# What goes wrong


def failing(status: int, **headers: str) -> Any:
    return lambda body: JSONResponse({"error": {"message": "busy"}}, status, headers)


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_is_asked_again(status: int) -> None:
    script = Scripted([failing(status), failing(status), completion("hi")])
    with driving(script) as driver:
        assert driver.generate("go").text == "hi"
    assert len(script.bodies) == 3


def test_retry_after_is_honoured() -> None:
    script = Scripted([failing(429, **{"retry-after": "1"}), completion("hi")])
    with driving(script) as driver:
        start = time.monotonic()
        assert driver.generate("go").text == "hi"
        assert time.monotonic() - start >= 1


@pytest.mark.parametrize("when", ["3600", "Fri, 31 Dec 2999 23:59:59 GMT"])
def test_a_wait_that_is_too_long_is_an_error(when: str) -> None:
    script = Scripted([failing(429, **{"retry-after": when})])
    with driving(script) as driver, pytest.raises(BackendError, match="asks to come back in"):
        driver.generate("go")
    assert len(script.bodies) == 1


def test_retries_end() -> None:
    script = Scripted([failing(503)])
    with driving(script, retries=2) as driver, pytest.raises(BackendError, match="status 503: busy"):
        driver.generate("go")
    assert len(script.bodies) == 3


def test_a_stream_that_breaks_is_gone_on_with() -> None:
    script = Scripted(
        [
            completion("a ", "<calc>1", finish=None, end=b'data: {"choi'),
            completion("+1</ca", finish=None),  # [DONE] without a reason
            completion("lc>", hang=True),
            completion("!"),
        ]
    )
    with driving(script) as driver:
        assert driver.generate("go ", max_tokens=100).text == DONE + "!"
    assert [body["prompt"] for body in script.bodies] == ["go ", "go a <calc>1", "go a <calc>1+1</ca", "go " + DONE]
    assert len({body["seed"] for body in script.bodies}) == 4


def test_what_was_received_is_kept_where_a_stream_cannot_be_gone_on_with() -> None:
    script = Scripted([completion("some ", "text <ca", finish=None)])
    seen: list[Event] = []
    with driving(script, retries=0) as driver, pytest.raises(BackendError, match="after 13 bytes"):
        for event in driver.stream("go"):
            seen.append(event)
    assert streamed(seen) == "some text <ca"


def test_a_server_that_sends_nothing_is_given_up() -> None:
    script = Scripted([completion("a", hang=True)])
    with driving(script, retries=0, read_timeout=0.2) as driver, pytest.raises(BackendError, match="sent nothing for"):
        driver.generate("go")


def test_a_completion_has_a_total_time() -> None:
    script = Scripted([completion("a", hang=True)])
    with driving(script, total_timeout=0.2) as driver, pytest.raises(BackendError, match="TOTAL_TIMEOUT"):
        driver.generate("go")


def test_a_time_limit_holds_while_nothing_comes() -> None:
    script = Scripted([completion("a <ca", hang=True)])
    with driving(script) as driver:
        result = driver.generate("go", time_limit=0.2)
    assert (result.reason, result.text) == ("time_limit", "a <ca")


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (completion(b"data: {nonsense\n\n"), "no JSON"),
        (completion(b"data: [1]\n\n"), "no completion"),
        (completion(b'data: {"choices": 5}\n\n'), "no completion"),
        (completion(b'data: {"choices": [{"delta": {}}]}\n\n'), "without a text"),
        (completion(b'data: {"error": {"message": "out of memory"}}\n\n'), "out of memory"),
        (completion("a", finish="content_filter"), "content_filter"),
        (lambda body: PlainTextResponse("hello"), "text/plain where text/event-stream"),
        (lambda body: JSONResponse({"choices": []}), "does not stream"),
        (lambda body: RedirectResponse("https://elsewhere/v1"), "redirects to https://elsewhere/v1"),
        (lambda body: JSONResponse({"detail": "no such field"}, 422), "status 422: no such field"),
        (lambda body: JSONResponse({"message": "context length exceeded"}, 400), "context length"),
        (lambda body: Response("<html>", 500), "status 500$"),
    ],
)
def test_an_answer_that_is_none_is_explained_and_not_asked_for_again(reply: Any, says: str) -> None:
    script = Scripted([reply])
    with driving(script) as driver, pytest.raises(BackendError, match=says):
        driver.generate("go")
    assert len(script.bodies) == 1


def test_a_server_that_is_not_there_is_named() -> None:
    with serving(Scripted([])) as url:
        pass
    with pytest.raises(ModelError, match="is the server up") as raised:
        OpenAIHttpBackend.connect(HttpSettings(url, retries=1, backoff=0.01))
    assert url in str(raised.value)


@pytest.mark.parametrize(
    ("models", "asked", "says"),
    [
        (("a", "b"), None, "#NAME: a, b"),
        (("a",), "b", "no model 'b'"),
        ((), None, "there is none"),
    ],
)
def test_a_model_that_cannot_be_chosen_is_explained(models: Any, asked: str | None, says: str) -> None:
    with serving(Scripted([], models=models)) as url, pytest.raises(ModelError, match=says):
        OpenAIHttpBackend.connect(HttpSettings(url, model=asked))


def test_a_model_is_chosen_by_its_name() -> None:
    script = Scripted([completion("hi")], models=("a", "b"))
    with serving(script) as url, Driver.open("openai_http", model=f"{url}#b") as driver:
        driver.generate("go")
    assert script.bodies[0]["model"] == "b"


# Keys and certificates


def test_a_key_is_sent_and_never_shown(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    shown = []
    monkeypatch.setenv("EVALSPAN_HTTP_KEY", SECRET)
    with serving(Scripted([completion("hi")], key=SECRET)) as url, Driver.open("openai_http", model=url) as driver:
        assert driver.generate("go").text == "hi"
        shown += [repr(driver.backend), driver.backend.model, repr(vars(driver.backend))]
        shown += [repr(vars(driver.backend.engine))]
    with serving(Scripted([], key="another")) as url:
        with pytest.raises(BackendError, match="refuses the key in EVALSPAN_HTTP_KEY") as raised:
            Driver.open("openai_http", model=url)
        error: BaseException | None = raised.value
        while error is not None:
            shown += [str(error), repr(error), repr(getattr(error, "__dict__", ""))]
            error = error.__cause__ or error.__context__
    assert SECRET not in "".join(shown)
    assert SECRET not in caplog.text


def test_a_missing_key_is_asked_for_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVALSPAN_HTTP_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with (
        serving(Scripted([], key=SECRET)) as url,
        pytest.raises(BackendError, match=r"wants a key \(401\): set EVALSPAN_HTTP_KEY"),
    ):
        Driver.open("openai_http", model=url)


def test_a_certificate_of_ones_own_is_refused_without_its_ca(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    chain, key, ca = tmp_path / "chain.pem", tmp_path / "key.pem", tmp_path / "ca.pem"
    chain.write_bytes(b"".join(blob.bytes() for blob in certificate.cert_chain_pems))
    certificate.private_key_pem.write_to_path(str(key))
    authority.cert_pem.write_to_path(str(ca))
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    script = Scripted([completion("hi")])
    with serving(script, ssl_certfile=str(chain), ssl_keyfile=str(key)) as url:
        with pytest.raises(ModelError, match="SSL_CERT_FILE"):
            Driver.open("openai_http", model=url)
        monkeypatch.setenv("SSL_CERT_FILE", str(ca))
        with Driver.open("openai_http", model=url) as driver:
            assert driver.generate("go").text == "hi"
    assert ssl.get_default_verify_paths() is not None
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    with pytest.raises(BackendError, match="SSL_CERT_FILE"):
        Driver.open("openai_http", model=url)


# Many at once


def test_many_run_at_once_and_are_answered_in_order() -> None:
    def reply(body: Mapping[str, Any]) -> Any:
        text = body["prompt"] if isinstance(body["prompt"], str) else decode(body["prompt"])
        number = text.removeprefix("go ").partition(" ")[0]
        if "<result>" in text:
            return completion(" done", pause=0.01)(body)
        return completion(f"{number} ", "<calc>", f"{number}*2", "</calc>", pause=0.01, hang=True)(body)

    script = Scripted([reply])
    with driving(script, connections=4) as driver:
        results = driver.generate_many(Request(f"go {number} ", max_tokens=200) for number in range(12))
    assert [result.text for result in results] == [
        f"{number} <calc>{number}*2</calc><result>{number * 2}</result> done" for number in range(12)
    ]
    assert 2 <= script.most <= 4


def test_closing_many_cancels_all() -> None:
    script = Scripted([completion("a", "b", hang=True)])
    with driving(script, connections=3) as driver:
        stream = driver.stream_many(Request("go") for _ in range(3))
        for _ in range(6):
            next(stream)
        start = time.monotonic()
        stream.close()
        wait_until(lambda: script.closed == 3)
        assert time.monotonic() - start < 4  # seconds
    assert len(script.bodies) == 3


def test_an_error_in_one_ends_all() -> None:
    script = Scripted([completion("a", hang=True), failing(500)])
    with driving(script, connections=2) as driver, pytest.raises(BackendError, match="status 500"):
        driver.generate_many(Request("go") for _ in range(2))


def test_dropping_a_stream_closes_its_connection() -> None:
    script = Scripted([completion("a", hang=True)])
    with driving(script) as driver:
        stream = driver.stream("go")
        next(stream)
        stream.close()
        wait_until(lambda: script.closed == 1)


def test_a_backend_leaves_no_thread_and_no_connection() -> None:
    import threading

    before = threading.active_count()
    script = Scripted([completion("a", hang=True)])
    with serving(script) as url:
        backend = OpenAIHttpBackend.connect(HttpSettings(url, key=ApiKey("X", SECRET)))
        driver = Driver(backend)
        stream = driver.stream("go")
        next(stream)
        driver.close()
        backend.shutdown()  # a second time
        stream.close()
        wait_until(lambda: script.closed == 1)
    gc.collect()
    assert threading.active_count() <= before


def wait_until(done: Any) -> None:
    """The server notices a closed connection a moment later."""
    until = time.monotonic() + 5
    while not done() and time.monotonic() < until:
        time.sleep(0.01)
    assert done()


# The command line


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    keep = {name: value for name, value in os.environ.items() if name not in ("EVALSPAN_HTTP_KEY", "OPENAI_API_KEY")}
    return subprocess.run(
        [str(Path(sys.executable).with_name("evalspan")), *arguments],
        capture_output=True,
        text=True,
        env={**keep, **environment},
        check=False,
        timeout=120,
    )


def test_the_command_line_runs_on_a_server() -> None:
    script = vllm(completion(*CALC, tokens=True, hang=True), completion(" so", tokens=True), key=SECRET)
    with serving(script) as url:
        arguments = ("run", "--backend", "openai_http", "--model", url, "--plain", "2+2?")
        done = command(*arguments, EVALSPAN_HTTP_KEY=SECRET)
        refused = command(*arguments)
    assert (done.returncode, done.stdout) == (0, DONE + " so\n")
    assert done.stderr == f"evalspan: tiny at {url} (vLLM, resumes with token ids)\n"
    assert refused.returncode == 4
    assert refused.stderr.count("\n") == 1
    assert "set EVALSPAN_HTTP_KEY" in refused.stderr


def test_the_command_line_sends_raw_text_and_answers_files(tmp_path: Path) -> None:
    script = Scripted([completion("hi")])
    prompts, out = tmp_path / "prompts.jsonl", tmp_path / "out.jsonl"
    prompts.write_text('{"prompt": "one"}\n{"prompt": "two"}\n')
    with serving(script) as url:
        where = ("--backend", "openai_http", "--model", url, "--raw")
        raw = command("run", *where, "to continue")
        many = command("run", *where, "--prompts", str(prompts), "--out", str(out))
    assert (raw.returncode, raw.stdout) == (0, "hi\n")
    assert script.bodies[0]["prompt"] == "to continue"
    assert many.returncode == 0, many.stderr
    assert sorted(body["prompt"] for body in script.bodies[1:]) == ["one", "two"]
    assert [json.loads(line)["text"] for line in out.read_text().splitlines()] == ["hi", "hi"]


def test_a_missing_extra_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(BackendError, match=r"pip install 'evalspan\[http\]'"):
        OpenAIHttpBackend.connect(HttpSettings("http://127.0.0.1:1/v1"))
