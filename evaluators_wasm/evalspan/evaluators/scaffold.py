"""A new evaluator's sources: a Rust crate that builds, loads and answers as it is, and is there to be changed."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from evalspan.policies import EvalspanError, Registry, RegistryError

__all__ = ["MODULE", "SAMPLE", "ScaffoldError", "new_crate", "render", "write_folder"]

MODULE = "target/wasm32-unknown-unknown/release/evaluator.wasm"
"""Where the crate's module is once it is built, below the crate's folder."""

SAMPLE = "17 + 25"
"""An input that the crate's evaluator answers."""

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,60}")
"""An evaluator's name; with `</` and `>` around it, it must not be longer than a tag may be, 64 characters."""

_RULE = "a name has lowercase letters, digits, - and _, begins with a letter, and has at most 61 characters"

_RENAMED = {"gitignore": ".gitignore"}
"""Files that would have an effect where the templates lie."""


class ScaffoldError(EvalspanError):
    """A folder or a name for a new evaluator that cannot be used."""


def new_crate(folder: Path, name: str | None = None) -> str:
    """Write the crate of a new evaluator to `folder` and answer the evaluator's name, by default the folder's.

    The folder may exist if it is empty. It is there in whole or not at all.

    Raises:
        ScaffoldError: the name is none, or the folder is taken or cannot be written.
    """
    folder = Path(os.path.abspath(folder))  # noqa: PTH100 - `resolve` would follow a link that is in the way
    if name is None:
        name = folder.name
        if not _NAME.fullmatch(name):
            raise ScaffoldError(f"{name!r} cannot be an evaluator's name: {_RULE}; choose one with --name")
    files = render(name)
    _check_free(folder)
    write_folder(folder, files)
    return name


def render(name: str) -> dict[str, str]:
    """The files of the crate, by their path below its folder.

    Raises:
        ScaffoldError: `name` cannot be the name of an evaluator and of its tag.
    """
    if not _NAME.fullmatch(name):
        raise ScaffoldError(f"{name!r} cannot be an evaluator's name: {_RULE}")
    values = {"@NAME@": name, "@SPEC@": f"{name}/1"}
    files = {}
    for path, text in sorted(_templates(resources.files("evalspan.evaluators") / "templates" / "rust")):
        for placeholder, value in values.items():
            text = text.replace(placeholder, value)
        files[path] = text
    try:
        Registry.parse(files["registry.toml"])
    except RegistryError as error:  # <result>, say, is the tag of results
        raise ScaffoldError(f"{name!r} cannot be an evaluator's name: {error.problems[0][1]}") from None
    return files


def _templates(folder: Traversable, below: str = "") -> list[tuple[str, str]]:
    found = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _templates(entry, f"{below}{entry.name}/")
        else:
            found.append((below + _RENAMED.get(entry.name, entry.name), entry.read_text("utf-8")))
    return found


def _check_free(folder: Path) -> None:
    """Refuse what renaming would refuse too, or what it would surprise somebody with; renaming has the last word."""
    try:
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise ScaffoldError(f"{folder} exists and is no folder")
        if folder.exists() and any(folder.iterdir()):
            raise ScaffoldError(f"{folder} exists and is not empty")
        if folder.exists() and folder.samefile(Path.cwd()):
            raise ScaffoldError(f"{folder} is the current folder; name a new one")
    except OSError as error:
        raise ScaffoldError(f"{folder} cannot be made: {error.strerror}") from None


def write_folder(folder: Path, files: dict[str, str]) -> None:
    """Write `files` to a folder beside `folder`, then give it that name in one step.

    Raises:
        ScaffoldError: something else is there, or the folder cannot be written.
    """
    beside = folder.with_name(f".{folder.name[:64]}-{secrets.token_hex(8)}")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside.mkdir()
        for path, text in files.items():
            file = beside / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8", newline="\n")
        beside.rename(folder)  # an empty folder is replaced, anything else is an error
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR) and folder.exists():
            raise ScaffoldError(f"{folder} exists and is not an empty folder") from None
        raise ScaffoldError(f"{folder} cannot be written: {error.strerror}") from None
    finally:
        with contextlib.suppress(OSError):
            shutil.rmtree(beside)
