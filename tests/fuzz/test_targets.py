"""What can be fuzzed: what each kind of target answers, and what its oracles say."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evalspan.conformance.fuzz import FuzzError
from evalspan.conformance.fuzz.targets import Target, TargetSpec, open_target, resolve
from evalspan.conformance.fuzz.targets.replies import Reply
from evalspan.conformance.generators import Sample
from evalspan.policies import EvalspanError

MODULES = Path(__file__).parents[2] / "evaluators_wasm/evalspan/evaluators/modules"
HERE = Path(__file__).parent


@contextmanager
def opened(name: str | None, *, command: str | None = None, **settings: object) -> Iterator[Target]:
    target = open_target(resolve(name, command, TargetSpec("evaluator", "", **settings)))  # type: ignore[arg-type]
    try:
        yield target
    finally:
        target.close()


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)


@pytest.mark.parametrize("name", ["arithmetic", "strings", "dates", "checksums"])
def test_a_built_in_and_its_module_as_a_file_give_the_same_answer_for_the_same_fuel(name: str) -> None:
    with opened(name) as audited, opened(str(MODULES / f"{name}.wasm")) as file:
        for entry in (b"1+1", b"(", b'len("a")', b'crc32("a")', b"2024-01-31 + 1 month", b"\xff"):
            assert audited.ask(Sample(entry, {})) == file.ask(Sample(entry, {}))
        assert "reference" in file.described.oracles, "a module that claims a specification must keep it"


def test_an_evaluator_of_a_registry_has_its_options_and_limits(tmp_path: Path) -> None:
    registry = tmp_path / "registry.toml"
    registry.write_text(
        'version = 1\n[[evaluator]]\nname = "short"\nbuiltin = "arithmetic/1"\n'
        "options = { precision = 3 }\npolicy = { max_input_bytes = 20 }\n"
    )
    with opened("short", registry=registry) as target:
        base = target.vocabulary.base
        assert base == {"precision": 3, "max_input_bytes": 20}
        assert target.ask(Sample(b"1/3", base)).text == "0.333"


def test_the_module_of_somebody_else_is_fuzzed_with_the_words_of_its_manifest(zoo_module: Path) -> None:
    with opened(str(zoo_module)) as target:
        assert "reference" not in target.described.oracles
        assert target.vocabulary.grammar is None
        assert list(target.vocabulary.options)
        answer = target.ask(Sample(b"1", {}))
        assert list(target.check(Sample(b"1", {}), answer, 0)) == []


@pytest.fixture(scope="module")
def zoo_module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The module of checksums under a specification that nobody knows."""
    code = (MODULES / "checksums.wasm").read_bytes()
    assert code.count(b'"checksums/1"') == 1
    path = tmp_path_factory.mktemp("zoo") / "sums.wasm"
    path.write_bytes(code.replace(b'"checksums/1"', b'"checksumz/1"'))
    return path


@pytest.mark.usefixtures("here")
def test_each_fault_of_a_callable_is_told_apart() -> None:
    with opened("faulty:ask", allow=frozenset({"ValueError"}), seconds=0.5, memory_bytes=2**28) as target:
        kinds = {letter: target.ask(Sample(letter.encode(), {})) for letter in ("1", "^", "&", ";", "|", "~", "@", "1")}
        assert {letter: reply.kind for letter, reply in kinds.items()} == {
            "1": "value",
            "^": "declared",
            "&": "exception",
            ";": "hang",
            "|": "memory",
            "~": "died",
            "@": "exception",
        }
        assert (kinds["&"].what, kinds["&"].where) == ("KeyError", "faulty.py:ask")
        assert kinds["~"].what == "ended with status 3"
        assert kinds["@"].what == "SystemExit"
        complaints = {
            letter: [each.oracle for each in target.complaints(Sample(letter.encode(), {}))] for letter in "1^&!"
        }
        assert complaints == {"1": [], "^": [], "&": ["exception"], "!": ["two runs"]}


@pytest.mark.usefixtures("here")
def test_a_callable_gets_text_or_bytes_and_what_it_prints_is_no_answer() -> None:
    with opened("faulty:only_text", as_bytes=True) as target:
        assert target.ask(Sample(b"\xff", {})).what == "UnicodeDecodeError"
        assert target.ask(Sample(b"abc", {})).same_as == Reply("value", "int", "", "3").same_as
    with opened("faulty:flood") as target:
        assert target.ask(Sample(b"\xff", {})).detail == repr("�")


@pytest.mark.usefixtures("here")
def test_a_callable_runs_in_the_interpreter_that_is_named() -> None:
    with opened("faulty:ask", python=sys.executable) as target:
        assert target.ask(Sample(b"1", {})).kind == "value"
    with (
        pytest.raises(FuzzError, match="/no/such/python: cannot be started"),
        opened("faulty:ask", python="/no/such/python"),
    ):
        pass


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "evaluator"
    path.write_text(
        f"""#!{sys.executable}
import os, signal, sys, time
data = sys.stdin.buffer.read()
if b"x" in data: raise KeyError(data)
if b"h" in data: time.sleep(60)
if b"k" in data: os.kill(os.getpid(), signal.SIGSEGV)
if b"f" in data: sys.stdout.write("x" * 10_000_000)
if b"e" in data: sys.exit(2)
if b"r" in data: print(os.getpid())
print(len(data))
"""
    )
    path.chmod(0o755)
    return path


def test_each_fault_of_a_command_is_told_apart(program: Path) -> None:
    with opened(str(program), seconds=2.0) as target:
        replies = {letter: target.ask(Sample(letter.encode(), {})) for letter in "1exhkf"}
        assert {letter: (reply.kind, reply.what) for letter, reply in replies.items()} == {
            "1": ("value", "status 0"),
            "e": ("declared", "status 2"),
            "x": ("report", "Traceback (most recent call last)"),
            "h": ("hang", "no answer"),
            "k": ("died", "ended by SIGSEGV"),
            "f": ("report", "Traceback (most recent call last)"),
        }
        assert replies["1"].detail == "1\n"
        assert [each.oracle for each in target.complaints(Sample(b"r", {}))] == ["two runs"]
    with opened("mine", command=f"{sys.executable} {program}") as target:
        assert target.ask(Sample(b"12", {})).detail == "2\n"


@pytest.mark.parametrize(
    ("name", "command", "says"),
    [
        (None, None, "name a TARGET"),
        ("nope", None, r"'nope' is no evaluator \(arithmetic, strings, dates, checksums\)"),
        ("nope.wasm", None, "cannot be read: No such file"),
        ("no.such.module:f", None, "cannot be imported: ModuleNotFoundError"),
        ("faulty:nothing", None, "cannot be imported: AttributeError"),
        ("faulty:CALLS", None, "is not callable"),
        (None, "no-such-program -x", "there is no program 'no-such-program'"),
        (None, "'", "No closing quotation"),
        (None, " ", "names no program"),
    ],
)
@pytest.mark.usefixtures("here")
def test_a_target_that_is_none_says_why_on_one_line(name: str | None, command: str | None, says: str) -> None:
    with pytest.raises(EvalspanError, match=says) as caught, opened(name, command=command):
        pass
    assert "\n" not in str(caught.value)


def test_an_error_code_that_there_is_not_cannot_be_allowed() -> None:
    with pytest.raises(FuzzError, match="--allow slow: an evaluator answers one of syntax"):
        open_target(TargetSpec("evaluator", "dates", allow=frozenset({"slow"})))


@pytest.mark.usefixtures("here")
def test_no_process_is_left_when_a_target_is_closed() -> None:
    with opened("faulty:ask") as target:
        pid = target._child._process.pid  # type: ignore[attr-defined]
        os.kill(pid, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
