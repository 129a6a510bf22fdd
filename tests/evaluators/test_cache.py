"""The cache of compiled modules: a miss whenever anything about it is doubtful."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from evaluators.guests import guest, registry

from evalspan.evaluators import Evaluators, Value, validation
from evalspan.evaluators.module_cache import ModuleCache, default_folder

KEY = "0" * 64


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one entry."""
    folder = tmp_path / "modules"
    ModuleCache(folder).put(KEY, b"compiled")
    assert ModuleCache(folder).get(KEY) == b"compiled"
    return folder


def test_folder_and_files_are_the_owner_s_alone(folder: Path) -> None:
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / KEY).stat().st_mode & 0o777 == 0o600
    assert [file.name for file in folder.iterdir()] == [KEY]


def test_every_flipped_bit_is_a_miss(folder: Path) -> None:
    content = (folder / KEY).read_bytes()
    for bit in range(0, 8 * len(content), 3):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        (folder / KEY).write_bytes(flipped)
        assert ModuleCache(folder).get(KEY) is None


def test_a_cut_file_is_a_miss(folder: Path) -> None:
    content = (folder / KEY).read_bytes()
    for end in range(len(content)):
        (folder / KEY).write_bytes(content[:end])
        assert ModuleCache(folder).get(KEY) is None


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_a_miss(folder: Path, mode: int) -> None:
    (folder / KEY).chmod(mode)
    assert ModuleCache(folder).get(KEY) is None


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_folder_that_others_can_write_is_neither_read_nor_written(folder: Path, mode: int) -> None:
    folder.chmod(mode)
    ModuleCache(folder).put("1" * 64, b"other")
    assert ModuleCache(folder).get(KEY) is None
    assert not (folder / ("1" * 64)).exists()


def test_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    (folder / KEY).rename(tmp_path / "real")
    (folder / KEY).symlink_to(tmp_path / "real")
    assert ModuleCache(folder).get(KEY) is None
    (tmp_path / "link").symlink_to(folder)
    ModuleCache(tmp_path / "link").put("1" * 64, b"other")
    assert ModuleCache(tmp_path / "link").get(KEY) is None
    assert not (folder / ("1" * 64)).exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_a_miss(folder: Path) -> None:
    os.chown(folder / KEY, 12345, -1)
    assert ModuleCache(folder).get(KEY) is None


def test_old_entries_go(folder: Path) -> None:
    for i in range(300):
        ModuleCache(folder).put(f"{i:064}", b"x")
    assert len(list(folder.iterdir())) <= 256
    assert ModuleCache(folder).get(f"{299:064}") == b"x"


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    tmp_path.joinpath("file").write_bytes(b"")
    cache = ModuleCache(tmp_path / "file" / "modules")
    cache.put(KEY, b"compiled")
    assert cache.get(KEY) is None


def test_folder_is_chosen_by_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EVALSPAN_CACHE", "off")
    assert default_folder() is None
    monkeypatch.setenv("EVALSPAN_CACHE", str(tmp_path))
    assert default_folder() == tmp_path
    monkeypatch.delenv("EVALSPAN_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "evalspan" / "modules"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == tmp_path / ".cache" / "evalspan" / "modules"


def test_second_process_does_not_compile_and_a_damaged_entry_is_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALSPAN_CACHE", str(tmp_path / "cache"))
    found = registry(tmp_path, {"echo": guest()})
    compiled = []
    compile_module = validation.compile_module

    def counted(*arguments: object) -> object:
        compiled.append(arguments)
        return compile_module(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("evalspan.evaluators.artefacts.compile_module", counted)

    def answer() -> int:
        compiled.clear()
        with Evaluators(found, sandbox="fast") as evaluators:
            assert evaluators.evaluate("echo", b"hi") == Value("hi", fuel=12)
        return len(compiled)

    assert [answer(), answer()] == [1, 0]
    (entry,) = (tmp_path / "cache").iterdir()
    content = bytearray(entry.read_bytes())
    content[len(content) // 2] ^= 1
    entry.write_bytes(content)
    assert [answer(), answer()] == [1, 0]


def test_bytes_that_wasmtime_does_not_take_are_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALSPAN_CACHE", str(tmp_path / "cache"))
    found = registry(tmp_path, {"echo": guest()})
    for _ in range(2):
        with Evaluators(found, sandbox="fast") as evaluators:
            assert evaluators.evaluate("echo", b"hi") == Value("hi", fuel=12)
        (entry,) = (tmp_path / "cache").iterdir()
        ModuleCache(tmp_path / "cache").put(entry.name, b"of another release")
