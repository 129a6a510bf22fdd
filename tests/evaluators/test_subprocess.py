"""The subprocess runtime: a warm worker that is confined, dies alone and comes back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalspan.evaluators import Evaluators, Failure, Value
from evalspan.evaluators.wire import (
    REPLY_HEAD,
    REQUEST_HEAD,
    decode_reply,
    encode_reply,
    encode_request,
    reply_length,
)
from evalspan.evaluators.worker import SubprocessRuntime
from evalspan.policies import ErrorCode, Registry

REGISTRY = Registry.load()
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
OUTCOMES = st.one_of(
    st.builds(Value, TEXTS, st.booleans()),
    st.builds(Failure, st.sampled_from(ErrorCode), TEXTS, st.integers(0, 16_384), st.integers(0, 32)),
)


def runtime_of(evaluators: Evaluators) -> SubprocessRuntime:
    """The runtime of this thread, with its worker."""
    evaluators.evaluate("arithmetic", b"1")
    runtime = evaluators._local.state.runtime
    assert isinstance(runtime, SubprocessRuntime)
    return runtime


def is_running(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def test_worker_is_warm_and_answers_as_the_reference_does() -> None:
    with Evaluators(REGISTRY, "subprocess") as there, Evaluators(REGISTRY, "in_process") as here:
        pid = runtime_of(there).worker.pid
        for data in (b"17 * 23 + 91", b"1/0", b"sqrt(2)", b"factorial(400)", b"(", b"\xff", b"", b"1" * 512):
            assert there.evaluate("arithmetic", data) == here.evaluate("arithmetic", data)
        assert runtime_of(there).worker.pid == pid


def test_a_killed_worker_is_one_failure_and_is_replaced() -> None:
    with Evaluators(REGISTRY, "subprocess") as evaluators:
        pid = runtime_of(evaluators).worker.pid
        os.kill(pid, signal.SIGKILL)
        outcome = evaluators.evaluate("arithmetic", b"1+1")
        assert outcome == Failure(ErrorCode.INTERNAL, "the evaluator's process ended")
        assert evaluators.evaluate("arithmetic", b"1+1") == Value("2")
        assert runtime_of(evaluators).worker.pid != pid


def test_a_worker_that_does_not_answer_is_killed_at_the_deadline() -> None:
    text = 'version = 1\n[[evaluator]]\nname = "arithmetic"\nbuiltin = "arithmetic/1"\npolicy = { deadline_ms = 100 }\n'
    with Evaluators(Registry.parse(text), "subprocess") as evaluators:
        pid = runtime_of(evaluators).worker.pid
        os.kill(pid, signal.SIGSTOP)
        before = time.monotonic()
        outcome = evaluators.evaluate("arithmetic", b"1+1")
        assert outcome == Failure(ErrorCode.INTERNAL, "the evaluation took more than 100 ms")
        assert 0.09 < time.monotonic() - before < 5
        assert not is_running(pid)
        assert evaluators.evaluate("arithmetic", b"1+1") == Value("2")


def test_the_worker_ends_with_its_owner_and_with_its_parent() -> None:
    evaluators = Evaluators(REGISTRY, "subprocess")
    pid = runtime_of(evaluators).worker.pid
    assert is_running(pid)
    evaluators.close()
    assert not is_running(pid)
    script = f"""
import os, sys
sys.path[:] = {sys.path!r}
from evalspan.evaluators import Evaluators
from evalspan.policies import Registry
evaluators = Evaluators(Registry.load(), "subprocess")
evaluators.evaluate("arithmetic", b"1")
print(evaluators._local.state.runtime.worker.pid, flush=True)
os._exit(0)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    orphan = int(done.stdout)
    for _ in range(100):
        if not is_running(orphan):
            break
        time.sleep(0.02)
    assert not is_running(orphan)


CONFINED = """
import errno, os, socket, sys
sys.path[:] = {path!r}
from evalspan.evaluators.confinement import MEMORY_BYTES, confine
how = confine()
def refused(act):
    try:
        act()
    except MemoryError:
        return "memory"
    except OSError as error:
        return errno.errorcode[error.errno]
    return "allowed"
print(how, *map(refused, (
    lambda: open("/etc/passwd"),
    lambda: os.open("/tmp", os.O_RDONLY),
    lambda: socket.socket(),
    lambda: os.fork(),
    lambda: os.kill(os.getppid(), 0),
    lambda: os.execv("/bin/true", ["true"]),
    lambda: os.unlink("/tmp/no such file"),
    lambda: bytearray(2 * MEMORY_BYTES),
    lambda: bytearray(MEMORY_BYTES // 4),
)), flush=True)
os._exit(0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="system call filters are Linux's")
def test_a_confined_process_reaches_no_file_socket_or_process_and_has_little_memory() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CONFINED.format(path=sys.path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    how, *acts = done.stdout.split()
    assert acts[-2:] == ["memory", "allowed"]
    if how == "rlimits":
        pytest.skip("this kernel has no system call filter")
    assert acts[:-2] == ["EPERM"] * 7


@given(outcome=OUTCOMES)
def test_an_outcome_survives_the_wire(outcome: Value | Failure) -> None:
    reply = encode_reply(outcome)
    assert reply_length(reply[: REPLY_HEAD.size]) == len(reply) - REPLY_HEAD.size
    assert decode_reply(reply) == outcome


@given(reply=st.binary(min_size=REPLY_HEAD.size, max_size=60))
def test_any_reply_is_an_outcome_or_a_value_error(reply: bytes) -> None:
    try:
        reply_length(reply[: REPLY_HEAD.size])
        decode_reply(reply)
    except ValueError as error:
        assert str(error)


def test_a_text_with_a_lone_surrogate_is_refused_on_the_wire() -> None:
    outcome = decode_reply(encode_reply(Value("\ud800")))
    assert isinstance(outcome, Failure) and outcome.code is ErrorCode.REFUSED


def test_a_request_has_its_options_before_its_input() -> None:
    request = encode_request(1, (7, 2**32 - 1), b"1+1")
    assert REQUEST_HEAD.unpack_from(request) == (1, 2, 3)
    assert request[REQUEST_HEAD.size :] == b"\x07\0\0\0\xff\xff\xff\xff1+1"
