"""The Rust toolchain that the tests build guests with: one that has the wasm32 target."""

from __future__ import annotations

import functools
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

TARGET = "wasm32-unknown-unknown"

INSTALL = (
    f"no Rust compiler with the target {TARGET} was found. Install one: on Debian "
    f"`apt-get install rustc cargo libstd-rust-dev-wasm32 lld`, elsewhere `rustup target add {TARGET}`"
)


@dataclass(frozen=True)
class Toolchain:
    """A compiler with the target, and the cargo beside it."""

    rustc: str
    cargo: str
    version: str

    def run(self, *arguments: str, folder: Path, target: Path) -> str:
        """Run cargo in a crate's folder, building below `target`; its output, which a failure shows."""
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("CARGO_BUILD_", "CARGO_PROFILE_", "CARGO_TARGET_", "RUSTFLAGS", "CARGO_ENCODED"))
        }
        done = subprocess.run(
            [self.cargo, *arguments, "--offline", "--target-dir", str(target)],
            cwd=folder,
            env=environment | {"RUSTC": self.rustc},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def build(self, folder: Path, target: Path) -> Path:
        """Build a crate as anybody does; the module."""
        self.run("build", "--release", "--target", TARGET, folder=folder, target=target)
        return target / TARGET / "release" / "evaluator.wasm"


@functools.cache
def _found() -> Toolchain | None:
    for rustc in ("/usr/bin/rustc", "rustc"):  # Debian's first: rustup's usually lacks the target
        libraries = _output([rustc, "--print", "target-libdir", "--target", TARGET])
        if libraries and any(Path(libraries).glob("libstd-*.rlib")):
            cargo = "/usr/bin/cargo" if rustc.startswith("/") else "cargo"
            version = _output([rustc, "--version"])
            if _output([cargo, "--version"]):
                return Toolchain(rustc, cargo, version)
    return None


def _output(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def toolchain() -> Toolchain:
    """The toolchain. Where there is none the test is skipped, but in CI it fails."""
    found = _found()
    if found is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(INSTALL)
    return found
