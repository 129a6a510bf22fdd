"""The sandbox: limits, traps, threads, forks and interrupts, on the fast path and on the portable one."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from evaluators.guests import audited, guest, registry

from evalspan.evaluators import Evaluators, EvaluatorUnavailable, Failure, Value, selftest
from evalspan.evaluators.artefacts import Artefacts
from evalspan.evaluators.engine import PROPOSALS_OFF, new_config
from evalspan.evaluators.epochs import TICK_MS, EpochClock, ticks
from evalspan.evaluators.fast import FastSandbox
from evalspan.evaluators.module_cache import ModuleCache
from evalspan.evaluators.portable import PortableSandbox
from evalspan.evaluators.runtime import SandboxMode
from evalspan.evaluators.validation import check_memory
from evalspan.policies import ErrorCode, Limits, Registry

PATHS: list[SandboxMode] = ["fast", "portable"]

LOOP = """
(module
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (global (export "evalspan_heap") i32 (i32.const 16))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (local $x i64)
    (local.set $x (i64.const -1))
    (loop
      (local.set $x (i64.rem_u (i64.sub (local.get $x) (i64.const 1)) (i64.const -3)))
      (br_if 0 (i32.eq (i32.load8_u (i32.const 1024)) (i32.const 0x6c))))
    (i64.const 0x100000800)))
"""
"""Loops for ever where the input begins with `l`, in slow instructions: a billion of fuel lasts seconds."""


@pytest.fixture(params=["restored", "fresh", "portable"])
def sandbox(request: pytest.FixtureRequest) -> Iterator[tuple[FastSandbox | PortableSandbox, bool, EpochClock]]:
    """Each way to run a module: a sandbox, whether modules pass for audited ones, and the clock."""
    clock, limits = EpochClock(), Limits()
    box: FastSandbox | PortableSandbox
    if request.param == "portable":
        box = PortableSandbox(limits.max_stack_bytes, limits, clock)
    else:
        box = FastSandbox(limits.max_stack_bytes, limits, clock, Artefacts(cache=ModuleCache(None)))
    yield box, request.param == "restored", clock
    box.close()
    clock.close()


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script that may end its process."""
    path = os.pathsep.join(sys.path)
    return subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_deadline_interrupts_what_fuel_lets_run_and_the_next_is_right(
    sandbox: tuple[FastSandbox | PortableSandbox, bool, EpochClock],
) -> None:
    box, ours, _ = sandbox
    code = guest(LOOP)
    file = audited("loop", code) if ours else _file("loop", code)
    run = box.bind(file, Limits(fuel=1_000_000_000, deadline_ms=1), ())
    before = time.monotonic()
    outcome = run(b"loop")
    held = time.monotonic() - before
    assert isinstance(outcome, Failure)
    assert (outcome.code, outcome.message) == (ErrorCode.INTERNAL, "the evaluation took more than 1 ms")
    assert held < 0.4  # two ticks, and whatever the machine adds
    assert run(b"on") == Value("", fuel=run(b"on").fuel)


@pytest.mark.parametrize("sandbox", ["restored", "fresh"], indirect=True)
def test_an_interrupt_out_of_nowhere_leaves_the_next_evaluation_right(
    sandbox: tuple[FastSandbox | PortableSandbox, bool, EpochClock], monkeypatch: pytest.MonkeyPatch
) -> None:
    box, ours, _ = sandbox
    assert isinstance(box, FastSandbox)  # the portable path holds nothing between two evaluations
    code = guest(selftest._GUEST)
    run, other = (
        box.bind(audited(name, code) if ours else _file(name, code), Limits(memory_pages=2), ())
        for name in ("counts", "counts too")
    )
    assert other(b"answer") == run(b"answer")
    api = box._frame.api
    for name in ("set_fuel", "call", "get_fuel", "memory_bytes"):
        for data in (b"answer", b"trap"):
            function = getattr(api, name)

            def then_interrupt(*arguments: object, function: object = function) -> object:
                function(*arguments)  # type: ignore[operator]
                raise KeyboardInterrupt

            monkeypatch.setattr(api, name, then_interrupt)
            with pytest.raises(KeyboardInterrupt):
                run(data)
            monkeypatch.setattr(api, name, function)
            for outcome in (other(b"answer"), run(b"answer")):
                assert isinstance(outcome, Value) and outcome.text == "11"


def test_ticks_of_a_deadline_are_never_fewer_than_its_milliseconds() -> None:
    for deadline in range(1, 400):
        assert (ticks(deadline) - 1) * TICK_MS >= deadline


def test_the_clock_ends_with_its_owner_and_lets_engines_go() -> None:
    clock, limits = EpochClock(), Limits()
    box = FastSandbox(limits.max_stack_bytes, limits, clock, Artefacts(cache=ModuleCache(None)))
    assert isinstance(box.bind(_file("echo", guest()), limits, ())(b"x"), Value)
    thread = clock._thread
    assert thread is not None and thread.is_alive() and len(clock._engines) == 1
    del box
    assert not clock._engines
    del clock
    thread.join(10)
    assert not thread.is_alive()


@pytest.mark.parametrize("path", PATHS)
def test_threads_have_instances_of_their_own_and_answer_alike(path: SandboxMode, tmp_path: Path) -> None:
    with Evaluators(registry(tmp_path, {"echo": guest()}), sandbox=path) as evaluators:

        def work(number: int) -> bool:
            texts = [f"{number} {i}" for i in range(50)]
            outcomes = [evaluators.evaluate("echo", text.encode()) for text in texts]
            return [getattr(outcome, "text", None) for outcome in outcomes] == texts

        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(work, range(12)))


def test_a_thread_with_a_small_stack_is_refused_and_does_not_end_the_process(tmp_path: Path) -> None:
    found = registry(tmp_path, {"echo": guest()})
    failures: list[BaseException] = []

    def work() -> None:
        try:
            evaluators.evaluate("echo", b"x")
        except EvaluatorUnavailable as error:
            failures.append(error)

    with Evaluators(found) as evaluators:
        assert evaluators.evaluate("echo", b"x") == Value("x", fuel=12)
        previous = threading.stack_size(256 * 1024)
        try:
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        finally:
            threading.stack_size(previous)
    assert len(failures) == 1 and "stack" in str(failures[0])


FORK = """
import os, sys, threading
from evalspan.evaluators import Evaluators
from evalspan.policies import Registry
registry = Registry.load()
with Evaluators(registry, sandbox=sys.argv[1] if len(sys.argv) > 1 else None) as evaluators:
    def run():
        answer = evaluators.evaluate("arithmetic", b"17 * 23 + 91").text
        assert evaluators._local.state.pid == evaluators._shared.pid == os.getpid()
        assert evaluators._shared.clock._thread.is_alive()
        return answer
    assert run() == "482"
    other = threading.Thread(target=run)
    other.start(); other.join()
    child = os.fork()
    if child == 0:
        assert run() == "482"
        threads = [threading.Thread(target=run) for _ in range(2)]
        [thread.start() for thread in threads]; [thread.join() for thread in threads]
        grandchild = os.fork()
        if grandchild == 0:
            os._exit(0 if run() == "482" else 3)
        os._exit(os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]))
    assert run() == "482"
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert run() == "482"
print("alive")
"""


@pytest.mark.parametrize("path", PATHS)
def test_evaluators_go_on_in_a_forked_child_and_in_its_parent(path: str) -> None:
    done = run_python(FORK, EVALSPAN_SANDBOX=path, EVALSPAN_CACHE="off")
    assert (done.stdout, done.returncode) == ("alive\n", 0), done.stderr


def test_configuration_and_pool_are_ones_that_wasmtime_takes() -> None:
    # An invalid one ends the process, so this one is tried in a process of its own.
    script = """
import wasmtime
from evalspan.evaluators.capi import pooled
from evalspan.evaluators.engine import new_config
for stack in (16_384, 262_144):
    for pages in (1, 16, 256):
        wasmtime.Engine(new_config(stack, pages * 65_536))
        config = new_config(stack, pages * 65_536)
        pooled(config, pages * 65_536, tables=4, table_elements=10_000, slots=4)
        wasmtime.Engine(config)
print("alive")
"""
    done = run_python(script)
    assert (done.stdout, done.returncode) == ("alive\n", 0), done.stderr


def test_proposals_are_switches_of_this_release() -> None:
    config = type(new_config(262_144, 65_536))
    assert [name for name in PROPOSALS_OFF if not hasattr(config, f"wasm_{name}")] == []


@pytest.mark.parametrize("path", PATHS)
def test_little_address_space_is_enough(path: str) -> None:
    script = """
import resource
from pathlib import Path
from evalspan.evaluators import Evaluators
from evalspan.policies import Registry
import wasmtime
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
most = used + 64 * 1024 * 1024
resource.setrlimit(resource.RLIMIT_AS, (most, most))
with Evaluators(Registry.load()) as evaluators:
    print(evaluators.evaluate("arithmetic", b"17 * 23 + 91").text)
"""
    done = run_python(script, EVALSPAN_SANDBOX=path, EVALSPAN_CACHE="off")
    assert (done.stdout, done.returncode) == ("482\n", 0), done.stderr


def test_fast_path_passes_its_self_test_and_is_chosen() -> None:
    assert selftest.fault_of_fast_path(EpochClock()) is None
    assert Evaluators(Registry.load()).sandbox == "fast"


@pytest.mark.parametrize("fault", ["release", "answer", "statelessness", "exception"])
def test_portable_path_is_chosen_when_the_fast_one_fails_its_self_test(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from evalspan.evaluators import fresh, restored
    from evalspan.evaluators.frames import Frame

    if fault == "release":
        monkeypatch.setattr(selftest, "CHECKED_RELEASES", range(0))
    elif fault == "answer":
        monkeypatch.setattr(fresh, "read_response", lambda *_: Value("12", fuel=1))
    elif fault == "statelessness":
        forgets = property(lambda _: 0, lambda _, value: None)  # restores nothing
        monkeypatch.setattr(restored.RestoredGuest, "_dirty", forgets, raising=False)
    else:
        monkeypatch.setattr(Frame, "put", lambda *_: 1 / 0)
    with caplog.at_level(logging.WARNING), Evaluators(registry(tmp_path, {"echo": guest()})) as evaluators:
        assert evaluators.evaluate("echo", b"hi") == Value("hi", fuel=12)
        assert evaluators.sandbox == "portable"
    assert "self-test" in caplog.text


def test_path_is_forced_by_the_environment_and_by_the_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALSPAN_SANDBOX", "portable")
    assert Evaluators(Registry.load()).sandbox == "portable"
    assert Evaluators(Registry.load(), sandbox="fast").sandbox == "fast"
    monkeypatch.setenv("EVALSPAN_SANDBOX", "quick")
    with pytest.raises(ValueError, match="quick"):
        Evaluators(Registry.load())


@pytest.mark.parametrize("path", PATHS)
def test_memory_grows_to_the_limit_in_force_and_no_further(path: SandboxMode, tmp_path: Path) -> None:
    wat = """
    (module
      (memory (export "memory") 1)
      (global (export "evalspan_request") i32 (i32.const 1024))
      (func (export "evalspan_evaluate") (param i32) (result i64)
        (block (loop (br_if 1 (i32.eq (memory.grow (i32.const 1)) (i32.const -1))) (br 0)))
        (i32.store8 (i32.const 2049) (i32.add (i32.const 0x30) (memory.size)))
        (i64.const 0x200000800)))
    """
    spans = '[[span]]\nname = "s"\nopen = "<a>"\nclose = "</a>"\nevaluator = "grow"\npolicy = { memory_pages = 3 }\n'
    found = registry(tmp_path, {"grow": guest(wat)}, spans, memory_pages=9)
    with Evaluators(found, sandbox=path) as evaluators:
        for rule, pages in ((None, "9"), (found.span("s"), "3"), (None, "9")):
            outcome = evaluators.evaluate("grow", b"", rule)
            assert isinstance(outcome, Value) and outcome.text == pages


@pytest.mark.parametrize("path", PATHS)
def test_stack_is_limited_to_the_limit_in_force(path: SandboxMode, tmp_path: Path) -> None:
    wat = """
    (module
      (memory (export "memory") 1)
      (global (export "evalspan_request") i32 (i32.const 1024))
      (func $down (export "evalspan_evaluate") (param i32) (result i64)
        (if (i32.eqz (local.get 0)) (then (return (i64.const 0x100000010))))
        (drop (call $down (i32.sub (local.get 0) (i32.const 1))))
        (i64.const 0x100000010)))
    """
    spans = (
        '[[span]]\nname = "s"\nopen = "<a>"\nclose = "</a>"\nevaluator = "d"\npolicy = { max_stack_bytes = 16384 }\n'
    )
    found = registry(tmp_path, {"d": guest(wat, request_bytes=2000)}, spans, max_input_bytes=1500)
    with Evaluators(found, sandbox=path) as evaluators:
        assert isinstance(evaluators.evaluate("d", b"x" * 1500), Value)
        outcome = evaluators.evaluate("d", b"x" * 1500, found.span("s"))
        assert isinstance(outcome, Failure) and outcome.code is ErrorCode.MEMORY_EXHAUSTED
        assert isinstance(evaluators.evaluate("d", b"x" * 9, found.span("s")), Value)


def _file(name: str, code: bytes):  # type: ignore[no-untyped-def]
    from evalspan.evaluators.module_files import check_file

    file = check_file(name, code)
    check_memory(file, Limits())
    return file
