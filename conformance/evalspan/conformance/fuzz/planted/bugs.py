"""Faults that are put into the built-in evaluators on purpose: what the fuzzer must find.

Each is a file `patches/<name>.toml`: the operator whose module is built, the fault in words, and a text in one source
file of the guests that is there exactly once, with what stands in its place.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import tomli

from evalspan.conformance.fuzz.errors import FuzzError

__all__ = ["PlantedBug", "bugs", "built", "guest_sources"]

_BUILD_SECONDS = 600.0
"""A build takes 10 to 30 s; a machine that is busy takes longer."""


@dataclass(frozen=True, slots=True)
class PlantedBug:
    """One fault."""

    name: str
    operator: str
    fault: str
    file: str
    """The source file, below the guests' folder."""
    find: str
    replace: str

    def patched(self, source: str) -> str:
        """The source with the fault.

        Raises:
            FuzzError: the text is not there exactly once.
        """
        count = source.count(self.find)
        if count != 1:
            raise FuzzError(f"planted bug {self.name}: its text is {count} times in {self.file}, must be there once")
        return source.replace(self.find, self.replace)


def bugs() -> tuple[PlantedBug, ...]:
    """All of them, by name."""
    folder = files("evalspan.conformance.fuzz.planted").joinpath("patches")
    paths = sorted((path for path in folder.iterdir() if path.name.endswith(".toml")), key=lambda path: path.name)
    return tuple(PlantedBug(path.name.removesuffix(".toml"), **tomli.loads(path.read_text("utf-8"))) for path in paths)


def guest_sources() -> Path:
    """The folder of the guests' sources.

    Raises:
        FuzzError: evalspan is installed without them.
    """
    for folder in Path(__file__).resolve().parents:
        sources = folder / "evaluators_wasm" / "guest"
        if sources.joinpath("Cargo.toml").is_file() and folder.joinpath("scripts", "guests.py").is_file():
            return sources
    raise FuzzError("--planted builds the modules from source, and needs evalspan in a checkout of its repository")


@contextmanager
def built(bug: PlantedBug) -> Iterator[Path]:
    """The module with the fault, built with the compiler and the flags of the ones that ship, from a copy.

    Raises:
        FuzzError: there are no sources or no compiler, or the fault does not compile.
    """
    sources = guest_sources()
    with tempfile.TemporaryDirectory(prefix="evalspan-planted-") as name:
        root = Path(name)
        copy = root / "evaluators_wasm" / "guest"
        shutil.copytree(sources, copy, ignore=shutil.ignore_patterns("target"))
        file = copy / bug.file
        file.write_text(bug.patched(file.read_text("utf-8")), encoding="utf-8")
        root.joinpath("scripts").mkdir()
        # The script builds what lies beside it: a copy of it builds the copy.
        script = root / "scripts" / "guests.py"
        shutil.copyfile(sources.parent.parent / "scripts" / "guests.py", script)
        command = [sys.executable, str(script), "build", bug.operator]
        done = subprocess.run(  # noqa: S603 - the project's own script
            command, capture_output=True, text=True, timeout=_BUILD_SECONDS, check=False
        )
        if done.returncode:
            raise FuzzError(f"planted bug {bug.name}: cannot be built: {(done.stdout + done.stderr).strip()[-2000:]}")
        yield root / "evaluators_wasm" / "evalspan" / "evaluators" / "modules" / f"{bug.operator}.wasm"
