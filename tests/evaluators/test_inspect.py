"""`evalspan inspect`: its verdict is the loader's, its outline is right for any bytes, and its output is safe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from evaluators.guests import ECHO, MANIFEST, assemble, custom, guest, leb
from evaluators.instructions import INSTRUCTIONS
from evaluators.zoo import Case, cases, plain
from hypothesis import given
from hypothesis import strategies as st

from evalspan.evaluators import Evaluators, Failure, Value
from evalspan.evaluators.engine import PROPOSALS_OFF
from evalspan.evaluators.inspection import Inspection, inspect_module
from evalspan.evaluators.inspection.features import FEATURES
from evalspan.evaluators.inspection.outline import read_outline
from evalspan.orchestrator.cli.inspect import inspect
from evalspan.policies import ErrorCode, Registry

DEFAULT = Registry.load()
BUILTINS = Path(__file__).parents[2] / "evaluators_wasm/evalspan/evaluators/modules"


def limited(**limits: int) -> Registry:
    """A registry with nothing but a policy."""
    return Registry.parse("\n".join(["version = 1", "[policy.default]", *(f"{k} = {v}" for k, v in limits.items())]))


def features(inspection: Inspection) -> list[str]:
    """Names of the features that it uses and may not."""
    return [use.feature.name for use in inspection.outline.features]


def command(folder: Path, code: bytes, *options: str) -> tuple[int, str]:
    """What the command answers about a file of these bytes: exit status and standard output."""
    path = folder / "module.wasm"
    path.write_bytes(code)
    result = CliRunner().invoke(inspect, [str(path), *options], standalone_mode=False)
    assert result.exception is None, result.exception
    return result.return_value, result.stdout


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_verdict_on_the_zoo_is_that_of_the_loader(case: Case) -> None:
    registry = limited(memory_pages=case.pages, fuel=case.fuel, max_result_bytes=case.max_result_bytes)
    inspection = inspect_module(case.code(), registry)
    assert (inspection.check or "") == case.refused, inspection.reason
    if inspection.loads:
        assert inspection.reason is None and not inspection.advice
        assert not inspection.outline.features
        assert not inspection.outline.unread
        assert inspection.outline.problem is None
        assert inspection.manifest is not None
    else:
        assert inspection.reason is not None and inspection.reason.isprintable()
        assert all(line.isprintable() for line in inspection.advice)


PROPOSALS = {
    "atomics": "threads",
    "custom_page_sizes": "custom_page_sizes",
    "custom_page_sizes_small": "custom_page_sizes",
    "exceptions": "exceptions",
    "function_references": "function_references",
    "gc": "gc",
    "host_references": "host_references",
    "memory64": "memory64",
    "multi_memory": "multi_memory",
    "relaxed_simd": "relaxed_simd",
    "simd": "simd",
    "stack_switching": "stack_switching",
    "tail_calls": "tail_call",
    "threads": "threads",
    "wide_arithmetic": "wide_arithmetic",
}


@pytest.mark.parametrize("proposal", PROPOSALS)
def test_a_feature_that_is_off_is_named_with_the_flags_against_it(proposal: str) -> None:
    feature = FEATURES[PROPOSALS[proposal]]
    code = next(case for case in cases() if case.id == f"proposal_{proposal}").code()
    inspection = inspect_module(code, DEFAULT)
    assert feature.name in features(inspection)
    assert set(features(inspection)) - {feature.name} <= {"simd"}  # relaxed vectors are vectors too
    (line,) = (line for line in inspection.advice if line.startswith(f"{feature.name} is off"))
    assert feature.rustc in line and feature.clang in line


def test_every_feature_is_met_in_the_zoo_and_every_switch_has_a_feature() -> None:
    assert set(PROPOSALS.values()) == set(FEATURES)
    assert set(PROPOSALS_OFF) - {"component_model"} <= set(FEATURES)


FENCE = "atomic.fence"
"""Comes behind each instruction: a reader that passes one wrongly misses it."""


def body(instructions: str) -> bytes:
    """A module with one function, valid or not."""
    return assemble(f"(module (func {instructions}))")


@pytest.mark.parametrize("feature", INSTRUCTIONS, ids=lambda feature: feature or "none")
def test_every_instruction_is_passed_and_marked_with_its_feature(feature: str) -> None:
    for instruction in INSTRUCTIONS[feature]:
        outline = read_outline(body(f"{instruction} {FENCE}"))
        found = {use.feature.name: use.count for use in outline.features}
        assert outline.unread == [], instruction
        assert found.pop("threads") == (2 if feature == "threads" else 1), instruction
        if feature != "threads":
            assert set(found) == ({feature} if feature else set()), instruction


def test_instructions_of_continuations_end_the_reading_of_their_function_only() -> None:
    outline = read_outline(assemble("(module (func cont.new 18 cont.new 18) (func i64.add128))"))
    assert [use.feature.name for use in outline.features] == ["wide_arithmetic", "stack_switching"]
    assert len(outline.unread) == 1


def test_instructions_outside_functions_are_read() -> None:
    vector = "v128.const i64x2 0 0"
    for text, feature in (
        (f"(global v128 ({vector}))", "simd"),
        ("(table 1 funcref) (elem (table 0) (i64.add128) func)", "wide_arithmetic"),
        ("(elem (ref i31) (item ref.i31))", "gc"),
        ("(elem externref (ref.null extern))", "host_references"),
        ("(table 1 (ref func) (ref.func 0))", "function_references"),
    ):
        outline = read_outline(assemble(f"(module {text})"))
        assert outline.unread == []
        assert feature in {use.feature.name for use in outline.features}, text


def test_uses_of_a_feature_are_counted_from_the_first() -> None:
    code = body("nop i64.mul_wide_s i64.mul_wide_s")
    (use,) = read_outline(code).features
    assert (use.count, use.offset) == (2, code.index(b"\xfc\x15"))


@pytest.mark.parametrize("name", ["arithmetic", "checksums", "dates", "strings"])
def test_built_in_modules_are_read_whole_and_load(name: str) -> None:
    inspection = inspect_module(BUILTINS.joinpath(f"{name}.wasm").read_bytes(), DEFAULT)
    assert inspection.loads
    assert (inspection.outline.unread, inspection.outline.imports) == ([], [])
    assert inspection.outline.functions > 10
    with Evaluators(DEFAULT) as evaluators:
        info = evaluators.describe(name)
        assert inspection.digest == info.digest and inspection.manifest is not None
        assert info.sample is not None
        assert inspection.sample == evaluators.evaluate(name, info.sample.encode())


def test_imports_and_exports_are_listed_with_their_types() -> None:
    outline = read_outline(
        assemble("""
        (module
          (import "env" "clock" (func (param i32 f64) (result i64 i32)))
          (import "env" "table" (table 1 funcref))
          (import "env" "memory" (memory 2 5))
          (import "env" "state" (global (mut i64)))
          (func (export "run") (param i32) (result i64) (i64.const 0))
          (func (export "nothing"))
          (global (export "g") i32 (i32.const 1))
          (export "t" (table 0)) (export "m" (memory 0)) (export "clock" (func 0)))
        """)
    )
    assert [(each.module, each.name, each.kind, each.type) for each in outline.imports] == [
        ("env", "clock", "func", "(i32, f64) -> (i64, i32)"),
        ("env", "table", "table", "funcref, 1 or more"),
        ("env", "memory", "memory", "2 to 5 pages"),
        ("env", "state", "global", "mut i64"),
    ]
    assert [(each.name, each.kind, each.type) for each in outline.exports] == [
        ("run", "func", "(i32) -> i64"),
        ("nothing", "func", "() -> ()"),
        ("g", "global", "i32"),
        ("t", "table", "funcref, 1 or more"),
        ("m", "memory", "2 to 5 pages"),
        ("clock", "func", "(i32, f64) -> (i64, i32)"),
    ]


@pytest.mark.parametrize(
    ("wat", "says"),
    [
        ('(import "wasi_snapshot_preview1" "fd_write" (func)) (memory (export "memory") 1)', "operating system"),
        ('(import "__wbindgen_placeholder__" "x" (func)) (memory (export "memory") 1)', "wasm-bindgen"),
        ('(import "env" "memcpy" (func)) (memory (export "memory") 1)', "define what is imported"),
        ('(import "env" "memory" (memory 1))', "--import-memory"),
        ('(import "env" "__memory_base" (global i32))', "shared library"),
        ("(func $f) (start $f)", "start function"),
        ("(func)", "--export=evalspan_request"),
        ("(func)", 'export_name("evalspan_evaluate")'),
        ('(memory (export "memory") 300)', "stack-size"),
    ],
)
def test_advice_says_what_to_do(wat: str, says: str) -> None:
    code = assemble(f"(module {wat})") + custom("evalspan", json.dumps(MANIFEST).encode())
    inspection = inspect_module(code, DEFAULT)
    assert not inspection.loads
    assert any(says in line for line in inspection.advice), inspection.advice


@given(data=st.binary(max_size=200))
def test_any_bytes_have_an_outline_and_a_verdict(data: bytes) -> None:
    for code in (data, b"\0asm\x01\0\0\0" + data, guest()[: len(data)], guest() + data):
        inspection = inspect_module(code, DEFAULT)
        assert inspection.loads or inspection.reason


def test_no_flipped_bit_changes_what_the_verdict_means() -> None:
    good, loaded = plain(), 0
    for bit in range(0, 8 * len(good), 3):
        flipped = bytearray(good)
        flipped[bit // 8] ^= 1 << bit % 8
        inspection = inspect_module(bytes(flipped), DEFAULT)
        loaded += inspection.loads
        if inspection.loads:
            assert not inspection.outline.features
            assert not inspection.outline.unread
    assert 0 < loaded < len(good) * 8 // 3


def test_sections_that_claim_much_are_read_in_little_time_and_memory() -> None:
    for number in (1, 2, 3, 4, 5, 6, 7, 9, 10, 13):
        body = leb(2**32 - 1) + b"\x7f" * 8
        outline = read_outline(b"\0asm\x01\0\0\0" + bytes([number]) + leb(len(body)) + body)
        assert outline.problem is None and len(outline.unread) == 1
    many = leb(50_000) + b"\0\0\0\0" * 50_000
    outline = read_outline(b"\0asm\x01\0\0\0\x07" + leb(len(many)) + many)
    assert outline.export_count > len(outline.exports) == 1000


def test_the_sample_is_run_under_the_result_policy() -> None:
    registry = Registry.load()
    assert inspect_module(guest(sample="hello"), registry).sample == Value("hello", fuel=12)
    refused = inspect_module(guest(sample="a</calc>"), registry).sample
    assert isinstance(refused, Failure) and refused.code == ErrorCode.REFUSED
    long = inspect_module(guest(sample="x" * 65), registry)
    assert long.loads and isinstance(long.sample, Failure) and long.sample.code == ErrorCode.TOO_LONG
    endless = ECHO.replace("(i32.store8 (i32.const 1023) (i32.const 0))", "(loop (br 0))")
    out = inspect_module(guest(endless, sample="x"), limited(fuel=1000))
    assert out.loads and isinstance(out.sample, Failure) and out.sample.code == ErrorCode.FUEL_EXHAUSTED


def test_command_says_ok_and_shows_value_and_fuel(tmp_path: Path) -> None:
    options = [{"name": "digits", "default": 3, "maximum": 9}]
    status, text = command(tmp_path, guest(sample="hello", options=options))
    assert status == 0
    first, *rest = text.splitlines()
    assert first == f"{tmp_path}/module.wasm: ok, it would load"
    for fact in (
        "memory        1 page (65,536 bytes), at most 2",
        "imports       none",
        "disabled      none used",
        "manifest      guest, specification guest/1",
        "request       64 bytes, input of at most 60",
        "options       digits = 3 (0 to 9)",
    ):
        assert fact in rest
    assert any(line.startswith("sample        hello = ") and line.endswith(" fuel") for line in rest)


def test_command_answers_json(tmp_path: Path) -> None:
    status, text = command(tmp_path, guest(sample="hello"), "--json")
    answer: dict[str, Any] = json.loads(text)
    assert status == 0
    assert answer["loads"] is True and answer["check"] is None
    assert answer["sample"] == {"value": "hello", "exact": True, "fuel": 12}
    assert answer["manifest"]["spec"] == "guest/1"
    assert answer["memories"][0]["minimum_bytes"] == 65_536
    assert {"name": "evalspan_evaluate", "kind": "func", "type": "(i32) -> i64"} in answer["exports"]
    status, text = command(tmp_path, body("v128.not"), "--json")
    answer = json.loads(text)
    assert status == 1
    assert (answer["check"], answer["manifest"], answer["sample"]) == ("manifest", None, None)
    (use,) = answer["features_off"]
    assert (use["feature"], use["rustc"], use["clang"]) == ("simd", "-C target-feature=-simd128", "-mno-simd128")


def test_command_takes_the_limits_of_a_registry(tmp_path: Path) -> None:
    code = guest(ECHO.replace("1 2)", "17)"))
    assert command(tmp_path, code)[0] == 0  # what compilers start with by default
    path = tmp_path / "small.toml"
    path.write_text("version = 1\n[policy.default]\nmemory_pages = 16\n")
    status, text = command(tmp_path, code, "--registry", str(path))
    assert status == 1
    assert "would not load (memory): starts with 17 pages" in text
    assert "-zstack-size" in text


@pytest.mark.parametrize("code", [b"", b"\0asm", plain()[:-1], plain()[:40], b"#!/bin/sh\n", b"\x1b[31m" * 9])
def test_command_says_what_is_wrong_with_a_damaged_file_in_one_line(code: bytes, tmp_path: Path) -> None:
    status, text = command(tmp_path, code)
    assert status == 1
    assert text.splitlines()[0].startswith(f"{tmp_path}/module.wasm: would not load (format): ")
    assert all(line.isprintable() for line in text.splitlines())


def test_names_out_of_a_module_cannot_garble_a_terminal(tmp_path: Path) -> None:
    wat = '(module (import "\\1b[2J" "\\c2\\9b\\e2\\80\\ae" (func)) (func (export "a\\0ab")))'
    for options in ([], ["--json"]):
        _, text = command(tmp_path, assemble(wat) + custom("\x1b[31m", b""), *options)
        assert all(line.isprintable() for line in text.splitlines())
    assert json.loads(text)["imports"][0]["name"] == "\x9b\u202e"


def test_a_file_over_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.wasm"
    path.touch()
    os.truncate(path, 2**40)
    result = CliRunner().invoke(inspect, [str(path)], standalone_mode=False)
    assert result.return_value == 1
    assert "would not load (size): has 1099511627776 bytes" in result.stdout


@pytest.mark.parametrize(("path", "says"), [("no/such", "No such file"), (".", "directory"), ("/dev/zero", "regular")])
def test_a_file_that_cannot_be_read_is_one_line_and_status_3(path: str, says: str) -> None:
    evalspan = Path(sys.executable).with_name("evalspan")
    result = subprocess.run([evalspan, "inspect", path], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (3, "")
    assert result.stderr.startswith("evalspan: ") and says in result.stderr
    assert result.stderr.count("\n") == 1
