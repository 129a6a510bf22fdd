"""`evalspan new-evaluator`: a crate that builds, tests, loads and answers as it is, and never half a folder."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path

import pytest
from click.testing import CliRunner
from evaluators.toolchain import toolchain
from hypothesis import given
from hypothesis import strategies as st

from evalspan.evaluators import Evaluators, Failure, Value
from evalspan.evaluators.inspection import inspect_file
from evalspan.evaluators.manifest import Manifest
from evalspan.evaluators.scaffold import MODULE, SAMPLE, ScaffoldError, new_crate, render, write_folder
from evalspan.orchestrator.cli.evaluate import evaluate
from evalspan.orchestrator.cli.inspect import inspect
from evalspan.orchestrator.cli.new_evaluator import new_evaluator
from evalspan.policies import ErrorCode, EvalspanError, Registry


def files_below(folder: Path) -> set[str]:
    """Paths of the files, below the folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new crate, built as its README says."""
    compiler = toolchain()
    folder = tmp_path_factory.mktemp("new") / "my-sums"
    assert new_crate(folder) == "my-sums"
    assert compiler.build(folder, folder / "target") == folder / MODULE
    return folder


def test_new_crate_builds_to_a_module_that_loads(crate: Path) -> None:
    inspection = inspect_file(crate / MODULE, Registry.load(crate / "registry.toml"))
    assert inspection.loads, inspection.reason
    assert (inspection.outline.imports, inspection.outline.features, inspection.outline.unread) == ([], (), [])
    assert inspection.outline.memories[0].minimum == 1
    assert isinstance(inspection.sample, Value) and inspection.sample.text == "42"
    result = CliRunner().invoke(inspect, [str(crate / MODULE)], standalone_mode=False)
    assert result.return_value == 0
    assert ": ok, it would load" in result.stdout
    assert f"{SAMPLE} = 42, " in result.stdout


@pytest.mark.parametrize("sandbox", ["fast", "portable"])
def test_new_evaluator_answers(sandbox: str, crate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALSPAN_SANDBOX", sandbox)
    arguments = ["my-sums", SAMPLE, "--registry", str(crate / "registry.toml")]
    result = CliRunner().invoke(evaluate, arguments, standalone_mode=False)
    assert (result.stdout, result.return_value) == ("42\n", 0)
    with Evaluators(Registry.load(crate / "registry.toml")) as evaluators:
        outcome = evaluators.evaluate("my-sums", b"1 + 18446744073709551615")
        assert isinstance(outcome, Failure)
        assert (outcome.code, outcome.offset) == (ErrorCode.TOO_LARGE, 4)
        assert outcome.message == "the sum must be below 2^64: 18446744073709551615"
        assert isinstance(evaluators.evaluate("my-sums", b"1+" * 300 + b"1"), Failure)


def test_the_inputs_to_try_have_the_answers_that_they_show(crate: Path) -> None:
    registry = Registry.load(crate / "registry.toml")
    answers = []
    with Evaluators(registry) as evaluators:
        evaluators.open()
        for line in crate.joinpath("inputs.jsonl").read_text("utf-8").splitlines():
            outcome = evaluators.evaluate("my-sums", json.loads(line)["input"].encode())
            answers.append(outcome.text if isinstance(outcome, Value) else str(outcome.code))
        assert answers == ["42", "6", "syntax", "too_large"]
        (rule,) = registry.spans
        content = rule.examples[0].answer.partition(rule.open)[2].partition(rule.close)[0]
        outcome = evaluators.evaluate("my-sums", content.encode(), rule)
        assert isinstance(outcome, Value) and outcome.text == "173"


def test_new_crate_passes_its_own_tests(crate: Path) -> None:
    output = toolchain().run("test", folder=crate, target=crate / "target")
    assert re.search(r"test result: ok\. [1-9][0-9]* passed; 0 failed", output)
    assert "warning" not in output


def test_what_cargo_makes_without_any_flags_loads_too(crate: Path, tmp_path: Path) -> None:
    """Without build.rs there is the linker's own stack of 1 MiB, and without a profile the module is not stripped."""
    folder = tmp_path / "plain"
    write_folder(folder, render("plain"))
    folder.joinpath("build.rs").unlink()
    manifest = folder / "Cargo.toml"
    manifest.write_text(re.sub(r"(?s)\[profile\.release\].*?\n\n", "", manifest.read_text()))
    assert "profile" not in manifest.read_text()
    inspection = inspect_file(toolchain().build(folder, folder / "target"), Registry.load())
    assert inspection.loads, inspection.reason
    assert inspection.outline.memories[0].minimum == 17
    assert inspection.size > 100_000
    assert isinstance(inspection.sample, Value) and inspection.sample.text == "42"


def test_unsafe_is_in_the_glue_only_and_there_are_no_dependencies() -> None:
    files = render("sums")
    with_unsafe = {path for path, text in files.items() if path.endswith(".rs") and re.search(r"\bunsafe\b", text)}
    assert with_unsafe == {"src/abi.rs"}
    cargo = tomllib.loads(files["Cargo.toml"])
    assert cargo["dependencies"] == {}
    assert cargo["workspace"] == {}  # whatever workspace it is put in
    assert not any("path" in text for text in files["Cargo.toml"].splitlines())


@given(name=st.from_regex(r"[a-z][a-z0-9_-]{0,60}", fullmatch=True))
def test_any_name_gives_a_manifest_and_a_registry_that_are_right(name: str) -> None:
    try:
        files = render(name)
    except ScaffoldError:
        assert name in ("result", "result_error")
        return
    assert not any("@" in text for path, text in files.items())
    assert Manifest.model_validate_json(files["manifest.json"]).spec == f"{name}/1"
    registry = Registry.parse(files["registry.toml"])
    assert (registry.evaluators[0].module, registry.spans[0].open) == (MODULE, f"<{name}>")
    assert tomllib.loads(files["Cargo.toml"])["package"]["name"] == name


def test_the_templates_are_files_of_the_package() -> None:
    folder = resources.files("evalspan.evaluators") / "templates" / "rust"
    assert {entry.name for entry in folder.iterdir() if entry.is_file()} == {
        *("Cargo.toml", "Makefile", "README.md", "build.rs", "gitignore"),
        *("inputs.jsonl", "manifest.json", "registry.toml"),
    }
    assert {*render("sums")} >= {".gitignore", "src/abi.rs", "src/lib.rs"}


@pytest.mark.parametrize("name", ["", "Sums", "9", "-x", "a b", "a/b", "../a", "é", "a" * 62, "result", "x\n"])
def test_a_name_that_spans_cannot_have_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ScaffoldError, match="cannot be an evaluator's name") as error:
        new_crate(tmp_path / "sums", name)
    assert str(error.value).isprintable()
    assert list(tmp_path.iterdir()) == []


def test_the_folder_gives_the_name_where_it_can(tmp_path: Path) -> None:
    assert new_crate(tmp_path / "deep" / "down" / "sums") == "sums"
    assert new_crate(tmp_path / "My Sums", "sums") == "sums"
    with pytest.raises(ScaffoldError, match="--name"):
        new_crate(tmp_path / "Other Sums")


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    folder = tmp_path / "sums"
    folder.mkdir()
    new_crate(folder)
    assert files_below(folder) == set(render("sums"))
    assert [path.name for path in tmp_path.iterdir()] == ["sums"]


def test_what_is_there_is_never_touched(tmp_path: Path) -> None:
    kept = tmp_path / "full" / "kept.txt"
    kept.parent.mkdir()
    kept.write_text("kept")
    for there in (kept.parent, kept):
        with pytest.raises(ScaffoldError, match="exists"):
            new_crate(there, "sums")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    with pytest.raises(ScaffoldError, match="exists"):
        new_crate(link)
    with pytest.raises(ScaffoldError, match="cannot be written"):
        new_crate(kept / "below", "sums")
    assert kept.read_text() == "kept"
    assert {path.name for path in tmp_path.iterdir()} == {"full", "link"}


def test_the_current_folder_is_not_taken_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScaffoldError, match="current folder"):
        new_crate(Path(), "sums")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_filled_meanwhile_is_kept(tmp_path: Path) -> None:
    kept = tmp_path / "sums" / "kept.txt"
    kept.parent.mkdir()
    kept.write_text("kept")
    with pytest.raises(ScaffoldError, match="exists and is not an empty folder"):
        write_folder(tmp_path / "sums", {"a": "b"})
    assert files_below(tmp_path) == {"sums/kept.txt"}


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, written = Path.write_text, []

    def fails_at_the_third(path: Path, *arguments: object, **named: object) -> int:
        written.append(path)
        if len(written) == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(path, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "write_text", fails_at_the_third)
    with pytest.raises(ScaffoldError, match="No space left"):
        new_crate(tmp_path / "sums")
    assert len(written) == 3
    assert list(tmp_path.iterdir()) == []


def test_command_says_what_to_do_next(tmp_path: Path) -> None:
    folder = tmp_path / "with space"
    result = CliRunner().invoke(new_evaluator, [str(folder), "--name", "sums"], standalone_mode=False)
    assert result.exception is None
    assert f"cd '{folder}'" in result.stdout
    assert f"evalspan inspect {MODULE}" in result.stdout
    assert f"evalspan evaluate sums '{SAMPLE}' --registry registry.toml" in result.stdout
    assert "sums" in folder.joinpath("README.md").read_text()
    again = CliRunner().invoke(new_evaluator, [str(folder)], standalone_mode=False)
    assert isinstance(again.exception, EvalspanError)


def test_a_folder_that_is_taken_is_one_line_and_status_2(tmp_path: Path) -> None:
    evalspan = Path(sys.executable).with_name("evalspan")
    for status, says in ((0, ""), (2, "exists and is not empty")):
        done = subprocess.run(
            [evalspan, "new-evaluator", tmp_path / "sums"], capture_output=True, text=True, check=False
        )
        assert done.returncode == status
        assert says in done.stderr and done.stderr.count("\n") == (1 if status else 0)
