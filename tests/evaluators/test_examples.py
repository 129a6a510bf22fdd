"""The example evaluators: the same answers from Rust, C and WAT, and modules that are what the sources give."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

import pytest
import tomli
import wasmtime
from evaluators.toolchain import toolchain
from hypothesis import given
from hypothesis import strategies as st

from evalspan.evaluators import Evaluators, Failure, Outcome, Value
from evalspan.evaluators.epochs import EpochClock
from evalspan.evaluators.inspection import inspect_module
from evalspan.evaluators.manifest import read_manifest
from evalspan.evaluators.module_files import check_file
from evalspan.evaluators.portable import PortableSandbox
from evalspan.evaluators.runtime import SandboxMode
from evalspan.policies import ErrorCode, Limits, Registry

EXAMPLES = Path(__file__).parents[2] / "examples" / "evaluators"
ABI = EXAMPLES.parents[1] / "docs" / "abi.md"
NAMES = ("roman-rust", "roman-c", "roman-wat")
FOLDERS = ("rust", "c", "wat")
STANDARD_FORM = re.compile(
    "M{0,3}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})"  # of at most 15 letters
)
VALUES = (
    *((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L")),
    *((40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
)


@dataclass(frozen=True)
class Case:
    """One case of roman.toml."""

    id: str
    comment: str
    input: str = ""
    bytes: str = ""
    value: str | None = None
    error: str = ""
    offset: int = 0
    piece: int = 0

    @property
    def data(self) -> bytes:
        return bytes.fromhex(self.bytes) if self.bytes else self.input.encode()


CASES = [Case(**case) for case in tomli.loads(EXAMPLES.joinpath("roman.toml").read_text("utf-8"))["case"]]


def written(number: int) -> str:
    """The numeral of a number, by taking away the largest value each time."""
    text = ""
    for value, letters in VALUES:
        while number >= value:
            number, text = number - value, text + letters
    return text


NUMBERS = {written(number): number for number in range(1, 4000)}


@pytest.fixture(params=["fast", "portable"])
def examples(request: pytest.FixtureRequest) -> Iterator[Evaluators]:
    sandbox: SandboxMode = request.param
    with Evaluators(Registry.load(EXAMPLES / "registry.toml"), sandbox=sandbox) as evaluators:
        yield evaluators


@pytest.fixture(scope="module")
def fast() -> Iterator[Evaluators]:
    with Evaluators(Registry.load(EXAMPLES / "registry.toml"), sandbox="fast") as evaluators:
        yield evaluators


def agreed(evaluators: Evaluators, data: bytes) -> Outcome:
    """The one answer of all three, but for the fuel."""
    answers = {replace(evaluators.answer(name, data), fuel=None) for name in NAMES}
    assert len(answers) == 1, answers
    return answers.pop()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_three_languages_give_the_answer_of_the_case(case: Case, examples: Evaluators) -> None:
    outcome = agreed(examples, case.data)
    if case.value is not None:
        assert outcome == Value(case.value)
    else:
        assert isinstance(outcome, Failure)
        assert (str(outcome.code), outcome.offset, outcome.piece_length) == (case.error, case.offset, case.piece)
        assert outcome.message


def test_case_ids_are_there_once_and_each_has_one_verdict() -> None:
    assert len({case.id for case in CASES}) == len(CASES)
    assert all((case.value is None) != (case.error == "") for case in CASES)


def test_every_number_goes_there_and_back(fast: Evaluators) -> None:
    for numeral, number in NUMBERS.items():
        for name in NAMES:
            there, back = fast.answer(name, str(number).encode()), fast.answer(name, numeral.encode())
            assert isinstance(there, Value) and there.text == numeral
            assert isinstance(back, Value) and back.text == str(number)


@given(text=st.text("IIIVXLCDM0123 \té\0", max_size=12) | st.from_regex(STANDARD_FORM, fullmatch=True))
def test_any_text_is_answered_alike_and_right(text: str) -> None:
    with Evaluators(Registry.load(EXAMPLES / "registry.toml"), sandbox="fast") as evaluators:
        outcome = agreed(evaluators, text.encode())
    core = text.strip(" \t")
    if re.fullmatch("0|[1-9][0-9]*", core):
        number = int(core)
        assert outcome == Value(written(number)) if 1 <= number <= 3999 else is_error(outcome, ErrorCode.RANGE)
    elif core and STANDARD_FORM.fullmatch(core):
        assert outcome == Value(str(NUMBERS[core]))
    else:
        assert is_error(outcome, ErrorCode.SYNTAX)


def is_error(outcome: Outcome, code: ErrorCode) -> bool:
    return isinstance(outcome, Failure) and outcome.code == code


@pytest.mark.parametrize("folder", FOLDERS)
def test_module_keeps_the_limit_that_it_is_given(folder: str) -> None:
    file = check_file("roman", EXAMPLES.joinpath(folder, "roman.wasm").read_bytes())
    limits = Limits()
    sandbox = PortableSandbox(limits.max_stack_bytes, limits, EpochClock())
    run = sandbox.bind(file, limits, [3])
    assert isinstance(run(b"MMM"), Value)
    outcome = run(b"xMMM")
    assert isinstance(outcome, Failure)
    assert (outcome.code, outcome.offset, outcome.piece_length) == (ErrorCode.TOO_LONG, 3, 0)
    sandbox.close()


def test_every_module_is_pinned_and_has_a_span_of_its_own(fast: Evaluators) -> None:
    fast.open()
    registry = fast.registry
    assert tuple(entry.name for entry in registry.evaluators) == NAMES
    for entry, folder in zip(registry.evaluators, FOLDERS, strict=True):
        assert entry.sha256 == hashlib.sha256(EXAMPLES.joinpath(folder, "roman.wasm").read_bytes()).hexdigest()
    assert [rule.evaluator for rule in registry.spans] == list(NAMES)
    assert len({rule.open for rule in registry.spans}) == len(NAMES)


def test_the_worked_examples_of_the_spans_have_values(fast: Evaluators) -> None:
    values = []
    for rule in fast.registry.spans:
        for example in rule.examples:
            content = example.answer.partition(rule.open)[2].partition(rule.close)[0]
            outcome = fast.evaluate(rule.evaluator, content.encode(), rule)
            assert isinstance(outcome, Value), outcome
            values.append(outcome.text)
    assert values == ["1776", "MCMXCIV", "5"]


def test_the_manifest_is_one() -> None:
    manifests = {read_manifest(EXAMPLES.joinpath(folder, "roman.wasm").read_bytes()) for folder in FOLDERS}
    assert len(manifests) == 1
    files = {EXAMPLES.joinpath(folder, "manifest.json").read_text("utf-8") for folder in ("rust", "c")}
    assert len(files) == 1
    assert json.loads(files.pop())["spec"] == manifests.pop().spec


def test_the_wat_module_is_what_its_text_gives() -> None:
    text = EXAMPLES.joinpath("wat", "roman.wat").read_text("utf-8")
    assert bytes(wasmtime.wat2wasm(text)) == EXAMPLES.joinpath("wat", "roman.wasm").read_bytes()


def test_the_c_module_was_built_from_this_source() -> None:
    source = hashlib.sha256(EXAMPLES.joinpath("c", "roman.c").read_bytes()).hexdigest()
    assert source in EXAMPLES.joinpath("README.md").read_text("utf-8"), "roman.c has changed: build it, see README.md"


def test_the_commands_of_the_pages_are_those_of_the_makefile() -> None:
    makefile = " ".join(EXAMPLES.joinpath("Makefile").read_text("utf-8").replace("\\\n", " ").split())
    (command,) = re.findall(r"python (-m ziglang cc .*? roman\.c)", EXAMPLES.joinpath("README.md").read_text("utf-8"))
    assert command.replace("-m ziglang cc", "$(ZIG_CC)") in makefile
    assert f"python {command}\n" in ABI.read_text("utf-8")


def test_the_module_of_the_abi_page_loads_and_echoes() -> None:
    (text,) = re.findall(r"```wat\n(.*?)```", ABI.read_text("utf-8"), re.DOTALL)
    inspection = inspect_module(bytes(wasmtime.wat2wasm(text)), Registry.load())
    assert inspection.loads, inspection.reason
    assert isinstance(inspection.sample, Value) and inspection.sample.text == "hello"


def test_the_rust_module_is_what_its_sources_give(tmp_path: Path) -> None:
    compiler = toolchain()
    built = compiler.build(EXAMPLES / "rust", tmp_path).read_bytes()
    committed = EXAMPLES.joinpath("rust", "roman.wasm").read_bytes()
    if compiler.version.startswith("rustc 1.63.0"):
        assert built == committed
        return
    limits = Limits()  # another compiler gives other bytes, and must give the same answers
    sandbox = PortableSandbox(limits.max_stack_bytes, limits, EpochClock())
    run, old = (sandbox.bind(check_file(str(i), code), limits, [64]) for i, code in enumerate((built, committed)))
    for case in CASES:
        if len(case.data) <= 64:
            assert replace(run(case.data), fuel=None) == replace(old(case.data), fuel=None)


def test_the_rust_example_has_the_abi_of_the_scaffold() -> None:
    template = resources.files("evalspan.evaluators") / "templates" / "rust" / "src" / "abi.rs"
    assert EXAMPLES.joinpath("rust", "src", "abi.rs").read_text("utf-8") == template.read_text("utf-8")
