"""`vllm serve` on loopback: how a request opts in over HTTP, what it is refused for, and many at once."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from support import CASE_REGISTRY
from vllm_support import check_exact, sums

from evalspan.orchestrator import Finished
from evalspan.orchestrator.replay import Replayer

NAME = "evalspan.backends.vllm_plugin:EvaluatorLogitsProcessor"
START_SECONDS = 300  # it takes 45 on a quiet machine
ANSWER_SECONDS = 240  # all of the 64 requests take 20 on a quiet machine


@dataclass(frozen=True)
class Server:
    url: str
    log: Path

    def post(self, **body: Any) -> httpx.Response:
        return httpx.post(f"{self.url}/v1/completions", json=request(**body), timeout=ANSWER_SECONDS)

    def healthy(self) -> bool:
        return httpx.get(f"{self.url}/health", timeout=30).status_code == 200


def request(**body: Any) -> dict[str, Any]:
    return {"model": "m", "prompt": sums(17, 25), "max_tokens": 60, "temperature": 0, "return_token_ids": True, **body}


@pytest.fixture(scope="module")
def server(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    (folder / "registries").mkdir()
    (folder / "registries" / "cases.toml").write_text(CASE_REGISTRY)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "log"
    command = [str(Path(sys.executable).with_name("vllm")), "serve", str(model), "--served-model-name", "m"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--dtype", "float32", "--max-model-len", "512"]
    command += ["--max-num-seqs", "32", "--enforce-eager", "--logits-processors", NAME]
    environment = {**os.environ, "EVALSPAN_REGISTRIES": str(folder / "registries")}
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
    try:
        found = Server(f"http://127.0.0.1:{port}", log)
        until = time.monotonic() + START_SECONDS
        while True:
            assert process.poll() is None, log.read_text()[-3000:]
            assert time.monotonic() < until, log.read_text()[-3000:]
            try:
                if found.healthy():
                    break
            except httpx.TransportError:
                time.sleep(0.5)
        yield found
        assert process.poll() is None, "the server did not live to the end\n" + log.read_text()[-3000:]
    finally:
        # Its group holds the engine's processes too.
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_a_request_opts_in_with_a_flat_key(server: Server, replayer: Replayer) -> None:
    answer = server.post(vllm_xargs={"evalspan": "default"})
    assert answer.status_code == 200, answer.text
    choice = answer.json()["choices"][0]
    assert check_exact(choice["text"]) >= 2
    assert isinstance(replayer.replay(choice["token_ids"], max_tokens=60)[-1], Finished)


def test_a_request_that_does_not_ask_is_left_alone(server: Server) -> None:
    with pytest.raises(AssertionError):
        for number in range(6):  # sooner or later a small model is wrong
            check_exact(server.post(prompt=sums(137 + number, 468)).json()["choices"][0]["text"])


def test_a_registry_of_the_servers_folder_is_used(server: Server) -> None:
    answer = server.post(vllm_xargs={"evalspan": "cases", "evalspan_required": "calc"})
    assert check_exact(answer.json()["choices"][0]["text"]) >= 1


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"vllm_xargs": {"evalspan": "nobody"}}, "this server has default, cases"),
        ({"vllm_xargs": {"evalspan": "default", "evalspan_shema": "{}"}}, "did you mean 'evalspan_schema'?"),
        ({"vllm_xargs": {"evalspam": "default"}}, "did you mean 'evalspan'?"),
        ({"vllm_xargs": {"evalspan": True}}, "must be the name of a registry"),
        ({"vllm_xargs": {"evalspan": "default", "evalspan_regex": "(a|"}}, "evalspan_regex"),
        (
            {"vllm_xargs": {"evalspan": "default"}, "structured_outputs": {"regex": "[0-9]+"}},
            "give evalspan the grammar instead",
        ),
        ({"vllm_xargs": {"evalspan": "default"}, "ignore_eos": True}, "ignore_eos and evalspan exclude each other"),
    ],
)
def test_what_cannot_be_honoured_is_a_400_that_says_what_to_send(
    server: Server, body: dict[str, Any], said: str
) -> None:
    answer = server.post(**body)
    assert answer.status_code == 400, answer.text
    assert said in answer.json()["error"]["message"]


def test_a_nested_grammar_is_a_400(server: Server) -> None:
    assert server.post(vllm_xargs={"evalspan": "default", "evalspan_schema": {"type": "object"}}).status_code == 400


def test_a_stream_has_the_same_text(server: Server) -> None:
    xargs = {"evalspan": "default"}
    whole = server.post(vllm_xargs=xargs).json()["choices"][0]["text"]
    pieces = []
    body = request(vllm_xargs=xargs, stream=True)
    with httpx.stream("POST", f"{server.url}/v1/completions", json=body, timeout=ANSWER_SECONDS) as answer:
        for line in answer.iter_lines():
            if line.startswith("data: ") and line != "data: [DONE]":
                pieces += [choice["text"] for choice in json.loads(line[len("data: ") :])["choices"]]
    assert "".join(pieces) == whole
    assert len(pieces) > 10


def test_a_conversation_opts_in_the_same_way(server: Server) -> None:
    messages = []
    for first, second in ((3, 4), (10, 25), (7, 90)):
        messages.append({"role": "user", "content": f"{first} + {second}"})
        answer = f"<calc>{first} + {second}</calc><result>{first + second}</result>"
        messages.append({"role": "assistant", "content": answer})
    body = {
        "model": "m",
        "messages": [*messages, {"role": "user", "content": "17 + 25"}],
        "max_tokens": 60,
        "temperature": 0,
        "vllm_xargs": {"evalspan": "default"},
    }
    said = httpx.post(f"{server.url}/v1/chat/completions", json=body, timeout=ANSWER_SECONDS)
    assert check_exact(said.json()["choices"][0]["message"]["content"]) >= 1


@pytest.mark.parametrize(
    "poison",
    [
        {"vllm_xargs": {"evalspan": "default", "evalspan_history": [10**6]}},
        {"vllm_xargs": {"evalspan": "default", "evalspan_gbnf": 'root ::= "yes"'}, "allowed_token_ids": [198, 199]},
        {"vllm_xargs": {"evalspan": "default", "evalspan_regex": "(a?){200}a{200}"}},
    ],
)
def test_a_poisoned_row_ends_and_the_server_lives(server: Server, poison: dict[str, Any]) -> None:
    assert server.post(**poison).status_code in (200, 400)
    assert server.healthy()
    assert check_exact(server.post(vllm_xargs={"evalspan": "default"}).json()["choices"][0]["text"]) >= 2


async def _one(client: httpx.AsyncClient, url: str, number: int, chance: random.Random) -> tuple[int, int, Any]:
    """A request with a random prompt; every second one opts in, every fifth is dropped in the middle of its stream."""
    opted_in, cancelled = number % 2 == 0, number % 5 == 4
    body = request(prompt=sums(chance.randrange(1000), chance.randrange(1000)), max_tokens=chance.randint(20, 80))
    if opted_in:
        body["vllm_xargs"] = {"evalspan": "default"}
    if not cancelled:
        return number, body["max_tokens"], (await client.post(f"{url}/v1/completions", json=body)).json()
    async with client.stream("POST", f"{url}/v1/completions", json={**body, "stream": True}) as answer:
        lines = answer.aiter_lines()
        for _ in range(chance.randint(1, 12)):
            await anext(lines, None)
    return number, body["max_tokens"], None


async def _many(url: str, count: int) -> list[tuple[int, int, Any]]:
    chance = random.Random(6)  # noqa: S311  repeatable is what it must be
    async with httpx.AsyncClient(timeout=ANSWER_SECONDS, limits=httpx.Limits(max_connections=count)) as client:
        return await asyncio.wait_for(
            asyncio.gather(*(_one(client, url, number, chance) for number in range(count))), ANSWER_SECONDS
        )


def test_sixty_four_at_once_are_exact_or_untouched_and_none_hangs(server: Server, replayer: Replayer) -> None:
    spans = 0
    for number, most, answer in asyncio.run(_many(server.url, 64)):
        if answer is None:
            continue
        choice = answer["choices"][0]
        if number % 2 == 0:
            spans += check_exact(choice["text"])
            replayer.replay(choice["token_ids"], max_tokens=most)
        else:
            assert choice["token_ids"], "a request that did not opt in was ended"
    assert spans > 32, "a model that writes no spans tests nothing"
    assert server.healthy()
    assert "Traceback" not in server.log.read_text()
