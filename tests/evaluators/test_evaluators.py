"""`Evaluators`: names, descriptions, identity, and a life that ends cleanly."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from evaluators.guests import ECHO, custom, digest, guest, registry

import evalspan.evaluators as package
from evalspan.evaluators import Evaluators, EvaluatorUnavailable, Failure, ModuleRefused, Value
from evalspan.evaluators.runtime import RuntimeName
from evalspan.policies import ErrorCode, Registry, RegistryError

RUNTIMES: list[RuntimeName] = ["wasm", "in_process", "subprocess"]


def test_names_are_sorted_and_exported() -> None:
    assert package.__all__ == sorted(package.__all__)
    assert all(hasattr(package, name) for name in package.__all__)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_every_runtime_gives_the_same_answers(runtime: RuntimeName) -> None:
    found = Registry.load()
    with Evaluators(found, runtime) as evaluators:
        rule = found.span("calc")
        value = evaluators.evaluate("arithmetic", b"17 * 23 + 91", rule)
        assert isinstance(value, Value) and (value.text, value.exact) == ("482", True)
        rounded = evaluators.evaluate("arithmetic", b"1/3", rule)
        assert isinstance(rounded, Value) and (rounded.text, rounded.exact) == ("0.333333333333333", False)
        failure = evaluators.evaluate("arithmetic", b"1/0", rule)
        assert isinstance(failure, Failure) and (failure.code, failure.offset) == (ErrorCode.DIVISION_BY_ZERO, 1)
        long = evaluators.evaluate("arithmetic", b"1" * 513, rule)
        assert isinstance(long, Failure) and (long.code, long.offset) == (ErrorCode.TOO_LONG, 512)
        assert (value.fuel is None) == (runtime != "wasm")


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_description_has_what_is_in_force(runtime: RuntimeName) -> None:
    text = (
        'version = 1\n[policy.default]\nmax_depth = 9\n[[evaluator]]\nname = "a"\nbuiltin = "arithmetic/1"\n'
        "options = { precision = 20 }\npolicy = { max_input_bytes = 99 }\n"
    )
    with Evaluators(Registry.parse(text), runtime) as evaluators:
        info = evaluators.describe("a")
    assert (info.name, info.spec, info.runtime) == ("a", "arithmetic/1", runtime)
    assert len(info.digest) == 64 and info.size > 1000
    values = dict(zip((option.name for option in info.options), info.values, strict=True))
    assert values["precision"] == 20 and values["max_depth"] == 9 and values["max_input_bytes"] == 99
    assert info.limits.max_input_bytes == 99


def test_limits_shown_are_cut_to_the_module_s_own(tmp_path: Path) -> None:
    with Evaluators(registry(tmp_path, {"echo": guest()})) as evaluators:
        assert evaluators.describe("echo").limits.max_input_bytes == 64


def test_identity_follows_the_registry_and_every_module(tmp_path: Path) -> None:
    def identity(code: bytes, rest: str = "") -> str:
        with Evaluators(registry(tmp_path, {"echo": code}, rest)) as evaluators:
            return evaluators.identity

    plain = identity(guest())
    assert len(plain) == 64 and identity(guest()) == plain
    other_module = identity(guest() + custom("x", b""))
    other_registry = identity(guest(), '[[channel]]\nname = "t"\nopen = "<t>"\nclose = "</t>"\n')
    assert len({plain, other_module, other_registry}) == 3


def test_digest_is_of_the_file(tmp_path: Path) -> None:
    with Evaluators(registry(tmp_path, {"echo": guest()})) as evaluators:
        info = evaluators.describe("echo")
    assert (info.digest, info.size) == (digest(guest()), len(guest()))


def test_unknown_evaluator_is_an_error_of_the_registry_that_names_the_closest() -> None:
    with Evaluators(Registry.load()) as evaluators, pytest.raises(RegistryError, match="did you mean 'arithmetic'"):
        evaluators.evaluate("arithmetics", b"1")


def test_unknown_runtime_is_an_error() -> None:
    with pytest.raises(ValueError, match="docker"):
        Evaluators(Registry.load(), "docker")  # type: ignore[arg-type]


@pytest.mark.parametrize("runtime", ["in_process", "subprocess"])
def test_a_module_runs_in_the_sandbox_only(runtime: RuntimeName, tmp_path: Path) -> None:
    found = registry(tmp_path, {"echo": guest()})
    with Evaluators(found, runtime) as evaluators, pytest.raises(EvaluatorUnavailable, match="wasm"):
        evaluators.evaluate("echo", b"x")


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_closed_evaluators_answer_no_more(runtime: RuntimeName) -> None:
    evaluators = Evaluators(Registry.load(), runtime)
    evaluators.evaluate("arithmetic", b"1")
    evaluators.close()
    evaluators.close()
    with pytest.raises(EvaluatorUnavailable, match="closed"):
        evaluators.evaluate("arithmetic", b"1")


def test_closing_in_one_thread_ends_the_others_after_their_evaluation() -> None:
    evaluators = Evaluators(Registry.load())
    answered, closed = threading.Event(), threading.Event()
    ends: list[str] = []

    def work() -> None:
        evaluators.evaluate("arithmetic", b"1")
        answered.set()
        closed.wait(10)
        try:
            evaluators.evaluate("arithmetic", b"1")
        except EvaluatorUnavailable as error:
            ends.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    answered.wait(10)
    evaluators.close()
    closed.set()
    thread.join()
    assert len(ends) == 1 and "closed" in ends[0]


def test_open_finds_what_is_wrong_before_any_evaluation(tmp_path: Path) -> None:
    found = registry(tmp_path, {"echo": guest(), "bad": b"x"})
    with Evaluators(found) as evaluators, pytest.raises(ModuleRefused, match="'bad'"):
        evaluators.open()
    spans = '[[span]]\nname = "s"\nopen = "<a>"\nclose = "</a>"\nevaluator = "echo"\npolicy = { memory_pages = 1 }\n'
    wat = ECHO.replace("1 2)", "2 2)", 1)
    with Evaluators(registry(tmp_path, {"echo": guest(wat)}, spans)) as evaluators:
        assert evaluators.evaluate("echo", b"x") == Value("x", fuel=12)
        with pytest.raises(ModuleRefused, match="2 pages"):
            evaluators.open()


def test_rules_without_end_do_not_fill_memory(tmp_path: Path) -> None:
    found = registry(tmp_path, {"echo": guest()})
    rule = Registry.load().span("calc")
    with Evaluators(found) as evaluators:
        for _ in range(1100):
            evaluators.evaluate("echo", b"5", rule.model_copy())
        assert len(evaluators._local.state.bound) <= 1024


def test_importing_the_package_does_not_import_wasmtime() -> None:
    script = f"import sys; sys.path[:] = {sys.path!r}; import evalspan.evaluators; print('wasmtime' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "False\n"
