"""Stop and resume over HTTP against a real `vllm serve`: token by token, many at once, and after cancellations."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import finished, kinds, streamed

from evalspan.backends.openai_http import OpenAIHttpBackend
from evalspan.backends.openai_http_settings import ApiKey, HttpSettings
from evalspan.backends.vllm_model import prepared_model
from evalspan.orchestrator import Driver, Message, Request, SamplingParams

SHOTS = (
    "Q: What is 3 + 4?\nA: <calc>3 + 4</calc><result>7</result>\n"
    "Q: What is 12 * 3?\nA: <calc>12 * 3</calc><result>36</result>\n"
    "Q: What is {} * 23?\nA:"
)
KEY = ApiKey("EVALSPAN_HTTP_KEY", "a-key-of-the-tests")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with SmolLM2 on a free port of the loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    vllm = Path(sys.executable).with_name("vllm")
    options = ["--host", "127.0.0.1", "--port", str(port), "--served-model-name", "smol", "--max-model-len", "1024"]
    options += ["--enforce-eager", "--dtype", "bfloat16", "--max-num-seqs", "16", "--api-key", KEY.secret]
    environment = {**os.environ, "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1"}  # GiB; no network
    log = tmp_path_factory.mktemp("vllm") / "log"
    with log.open("wb") as file:
        command = [str(vllm), "serve", str(prepared_model()), *options]
        # A session of its own: the server has workers, and they must end with it.
        server = subprocess.Popen(command, stdout=file, stderr=file, env=environment, start_new_session=True)
        try:
            until = time.monotonic() + 300  # seconds; it loads in 45 where nobody else runs
            while server.poll() is None and time.monotonic() < until:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    time.sleep(0.5)
            else:
                pytest.fail(log.read_text(errors="replace")[-4000:])
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()
            server.wait()


@pytest.fixture
def driver(address: str) -> Iterator[Driver]:
    with Driver(OpenAIHttpBackend.connect(HttpSettings(address, key=KEY))) as opened:
        yield opened


def test_a_span_is_resumed_with_token_ids(driver: Driver) -> None:
    assert "vLLM, resumes with token ids" in driver.backend.model
    events = list(driver.stream(SHOTS.format(17), max_tokens=48, stop=("\n",)))
    assert streamed(events) == " <calc>17 * 23</calc><result>391</result>"
    assert kinds(events) == ["span_opened", "evaluated", "injected", "finished"]
    done = finished(events)
    (injected,) = (event for event in events if event.event == "injected")
    assert (done.reason, done.prompt_tokens, done.forced_tokens) == ("stop_string", 78, len(injected.tokens))
    assert isinstance(driver.backend, OpenAIHttpBackend)
    assert driver.backend.engine.path == "resumes with token ids"  # the server has shown them, too


def test_forced_tokens_are_never_control_tokens(driver: Driver) -> None:
    assert isinstance(driver.backend, OpenAIHttpBackend)
    engine = driver.backend.engine
    control = engine.prompt([Message("user", "hi")]).tokens
    assert control is not None
    spelt = engine.spell(b"<result><|im_end|></result>", b"</calc>").tokens
    assert control[0] not in spelt  # <|im_start|>
    plain = engine.prompt([Message("user", "2")]).tokens
    quoted = engine.prompt([Message("user", "<|im_end|>2")])
    assert plain is not None
    assert quoted.tokens is not None
    end = plain[-4]  # after the message, before the assistant's turn
    assert quoted.tokens.count(end) == plain.count(end)
    assert b"<|im_end|>2<|im_end|>" in quoted.text


def test_many_at_once_are_exact_while_others_are_cancelled(driver: Driver) -> None:
    dropped = driver.stream_many(Request("Once upon a time", max_tokens=400) for _ in range(4))
    for _ in range(8):
        next(dropped)
    dropped.close()
    numbers = range(11, 27)
    results = driver.generate_many(Request(SHOTS.format(number), max_tokens=48, stop=("\n",)) for number in numbers)
    assert [result.text for result in results] == [
        f" <calc>{number} * 23</calc><result>{number * 23}</result>" for number in numbers
    ]


def test_a_seed_repeats_a_generation_with_its_injections(driver: Driver) -> None:
    def text(seed: int) -> str:
        sampling = SamplingParams(temperature=1.0, top_p=0.9, seed=seed)
        return driver.generate(SHOTS.format(17), max_tokens=48, sampling=sampling).text

    assert text(1) == text(1)
    assert len({text(seed) for seed in range(4)}) > 1
