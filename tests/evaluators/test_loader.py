"""Module files: where they come from, and the digests that hold them to what was meant."""

from __future__ import annotations

import json
import os
import shutil
from importlib import resources
from pathlib import Path

import pytest
from evaluators.guests import digest, guest, registry

from evalspan.evaluators import EvaluatorError, Evaluators, EvaluatorUnavailable, ModuleRefused, Value
from evalspan.evaluators.module_files import MAX_MODULE_BYTES, check_file
from evalspan.policies import Registry

BUILTIN = Registry.parse('version = 1\n[[evaluator]]\nname = "sums"\nbuiltin = "arithmetic/1"\n')


def pinned(folder: Path, pin: str) -> Registry:
    """A registry with the echo module and a pin."""
    folder.joinpath("echo.wasm").write_bytes(guest())
    text = f'version = 1\n[[evaluator]]\nname = "echo"\nmodule = "echo.wasm"\nsha256 = "{pin}"\n'
    return Registry.parse(text, folder=folder)


def test_pinned_module_loads_when_the_digest_is_its_own(tmp_path: Path) -> None:
    with Evaluators(pinned(tmp_path, digest(guest()))) as evaluators:
        assert evaluators.evaluate("echo", b"hi") == Value("hi", fuel=12)


def test_pinned_module_of_another_digest_is_refused_with_both(tmp_path: Path) -> None:
    with Evaluators(pinned(tmp_path, "0" * 64)) as evaluators, pytest.raises(ModuleRefused) as refusal:
        evaluators.evaluate("echo", b"hi")
    assert refusal.value.check == "digest"
    assert digest(guest()) in str(refusal.value) and "0" * 64 in str(refusal.value)


@pytest.mark.parametrize("make", ["nothing", "folder"])
def test_unreadable_module_is_refused_with_its_path(make: str, tmp_path: Path) -> None:
    found = registry(tmp_path, {"echo": guest()})
    path = tmp_path / "echo.wasm"
    path.unlink()
    if make == "folder":
        path.mkdir()
    with Evaluators(found) as evaluators, pytest.raises(ModuleRefused, match=r"echo\.wasm") as refusal:
        evaluators.describe("echo")
    assert refusal.value.check == "file"


@pytest.mark.parametrize("kind", ["device", "pipe"])
def test_a_module_that_is_no_regular_file_is_refused_at_once(kind: str, tmp_path: Path) -> None:
    found = registry(tmp_path, {"echo": b""})
    tmp_path.joinpath("echo.wasm").unlink()
    if kind == "pipe":
        os.mkfifo(tmp_path / "echo.wasm")
    else:
        tmp_path.joinpath("echo.wasm").symlink_to("/dev/zero")
    with Evaluators(found) as evaluators, pytest.raises(ModuleRefused, match="no regular file") as refusal:
        evaluators.describe("echo")
    assert refusal.value.check == "file"


def test_a_module_that_is_too_large_is_refused_unread(tmp_path: Path) -> None:
    found = registry(tmp_path, {"echo": b""})
    with tmp_path.joinpath("echo.wasm").open("r+b") as file:
        file.truncate(1 << 40)
    with Evaluators(found) as evaluators, pytest.raises(ModuleRefused, match=str(MAX_MODULE_BYTES)) as refusal:
        evaluators.describe("echo")
    assert refusal.value.check == "size"


def test_one_bad_evaluator_does_not_stop_another(tmp_path: Path) -> None:
    with Evaluators(registry(tmp_path, {"bad": b"\0asm", "echo": guest()})) as evaluators:
        with pytest.raises(ModuleRefused):
            evaluators.evaluate("bad", b"")
        assert evaluators.evaluate("echo", b"hi") == Value("hi", fuel=12)
        with pytest.raises(ModuleRefused):
            evaluators.open()


def test_debug_names_are_not_counted_as_code() -> None:
    assert check_file("named", guest() + b"\0\x84\x80\x40\x03abc" + bytes(1_048_576)).manifest.name == "guest"


def modules_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the installed modules, which the loader takes for the package."""
    installed = resources.files("evalspan.evaluators").joinpath("modules")
    with resources.as_file(installed) as folder:
        shutil.copytree(folder, tmp_path / "modules")
    monkeypatch.setattr("evalspan.evaluators.module_files.resources.files", lambda _: tmp_path)
    return tmp_path / "modules"


def test_built_in_module_is_audited_and_is_the_released_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = modules_copied(tmp_path, monkeypatch)
    with Evaluators(BUILTIN) as evaluators:
        assert evaluators.describe("sums").spec == "arithmetic/1"
    path = folder / "arithmetic.wasm"
    path.write_bytes(path.read_bytes() + b"\0\x02\x01x")  # one more custom section: valid, but another file
    with Evaluators(BUILTIN) as evaluators, pytest.raises(ModuleRefused, match="this release") as refusal:
        evaluators.evaluate("sums", b"1+1")
    assert refusal.value.check == "digest"


def test_built_in_module_of_another_specification_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = modules_copied(tmp_path, monkeypatch)
    code = guest()
    folder.joinpath("arithmetic.wasm").write_bytes(code)
    released = {"modules": {"arithmetic": {"file": "arithmetic.wasm", "sha256": digest(code)}}}
    folder.joinpath("modules.json").write_text(json.dumps(released))
    with Evaluators(BUILTIN) as evaluators, pytest.raises(ModuleRefused, match=r"guest/1, not of arithmetic/1"):
        evaluators.evaluate("sums", b"1+1")


@pytest.mark.parametrize("lost", ["arithmetic.wasm", "modules.json"])
def test_incomplete_package_is_said_to_be_one(lost: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modules_copied(tmp_path, monkeypatch).joinpath(lost).unlink()
    with Evaluators(BUILTIN) as evaluators, pytest.raises(EvaluatorUnavailable, match="incomplete"):
        evaluators.evaluate("sums", b"1+1")


def test_every_load_error_is_one_line_and_names_the_evaluator(tmp_path: Path) -> None:
    with Evaluators(registry(tmp_path, {"bad": b"\0asm\nx"})) as evaluators, pytest.raises(EvaluatorError) as error:
        evaluators.describe("bad")
    assert error.value.evaluator == "bad"
    assert str(error.value).startswith("evaluator 'bad': ") and str(error.value).isprintable()
