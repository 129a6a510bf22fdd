"""Build the guest modules, and check that the committed ones are what the sources give.

    python scripts/guests.py build [guest ...]   compile all or some, copy to evaluators/modules, write modules.json
    python scripts/guests.py verify              compile to a temporary folder and compare with what is committed

Exit status of `verify`: 0 the same bytes; 1 other bytes or a broken tree; 3 another compiler than the recorded one,
and the vectors, which decide then, pass; 2 is argparse's own.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

__all__ = ["BuildError", "Module", "build", "main", "verify"]

_ROOT = Path(__file__).resolve().parent.parent
_GUEST = _ROOT / "evaluators_wasm" / "guest"
_MODULES = _ROOT / "evaluators_wasm" / "evalspan" / "evaluators" / "modules"
_DIGESTS = "modules.json"
_TARGET = "wasm32-unknown-unknown"

MAX_MODULE_BYTES = 400_000
"""A built-in module larger than this is a mistake: the largest, strings, is mostly Unicode tables of 100 KB."""

OTHER_COMPILER = 3
"""Exit status of `verify` where the compiler is not the recorded one, so that bytes cannot be compared."""

_VECTORS = ["-c", "from evalspan.orchestrator.cli import main; main()", "conformance", "vectors", "--runtime", "wasm"]
"""What runs the operator vectors on the committed modules, by the interpreter that runs this script."""

_HOW_TO_INSTALL = f"""\
no Rust compiler with the target {_TARGET} was found (tried: %s). Install one of:
  Debian, Ubuntu:  apt-get install rustc cargo libstd-rust-dev-wasm32 lld
  rustup:          rustup target add {_TARGET}
or name a compiler in the environment variable RUSTC."""


class BuildError(Exception):
    """The modules cannot be built; the text says what is missing or wrong."""


@dataclass(frozen=True)
class Toolchain:
    """A Rust compiler that has the target, and the cargo that goes with it."""

    rustc: str
    cargo: str
    version: str


@dataclass(frozen=True)
class Module:
    """A built module as it is recorded: its size in bytes and the SHA-256 of its file."""

    file: str
    sha256: str
    size: int


def _first_line(command: list[str]) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.partition("\n")[0].strip()


def _toolchain() -> Toolchain:
    """The first compiler that has the target.

    Debian's comes first, although rustup's is usually first on the path: the committed modules are built with it.
    """
    tried = []
    for rustc in dict.fromkeys(["/usr/bin/rustc", os.environ.get("RUSTC", ""), "rustc"]):
        if not rustc:
            continue
        tried.append(rustc)
        libraries = _first_line([rustc, "--print", "target-libdir", "--target", _TARGET])
        if libraries is None or not any(Path(libraries).glob("libstd-*.rlib")):
            continue
        beside = Path(rustc).with_name("cargo")
        cargo = str(beside) if beside.is_absolute() and beside.exists() else "cargo"
        version = _first_line([rustc, "--version"])
        if version is not None and _first_line([cargo, "--version"]) is not None:
            return Toolchain(rustc, cargo, version)
    raise BuildError(_HOW_TO_INSTALL % ", ".join(tried))


def _flags(folder: str) -> list[str]:
    """The compiler's flags; `folder` is where the sources are, which the module must not depend on.

    The inliner's own threshold, 275, makes a module a quarter larger and its evaluations no faster.
    """
    return [f"--remap-path-prefix={folder}=guest", "-Cllvm-args=-inline-threshold=100"]


def _guests() -> list[str]:
    """The crates that are modules: those with a manifest."""
    guests = sorted(path.parent.name for path in _GUEST.glob("*/manifest.json"))
    for guest in guests:
        crate = tomllib.loads((_GUEST / guest / "Cargo.toml").read_text(encoding="utf-8"))
        if crate.get("lib", {}).get("crate-type") != ["cdylib"]:
            # Beside any other type, cargo leaves out link-time optimization and does not say so.
            raise BuildError(f'{guest}/Cargo.toml must have crate-type = ["cdylib"] under [lib], and nothing else')
    return guests


def _compile(toolchain: Toolchain, target: Path, guests: list[str]) -> dict[str, Path]:
    """Build modules below the folder `target`; the files by the module's name."""
    environment = {
        name: value
        for name, value in os.environ.items()
        # What a user has set for other builds must not reach this one.
        if not name.startswith(("CARGO_BUILD_", "CARGO_PROFILE_", "CARGO_TARGET_", "RUSTFLAGS", "CARGO_ENCODED"))
    }
    environment |= {
        "RUSTC": toolchain.rustc,
        "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(_flags(str(_GUEST))),
        "CARGO_INCREMENTAL": "0",
    }
    command = [toolchain.cargo, "build", "--release", "--locked", "--offline", "--target", _TARGET]
    command += ["--target-dir", str(target)]
    command += [word for guest in guests for word in ("--package", f"evalspan-{guest}")]
    done = subprocess.run(command, cwd=_GUEST, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"cargo failed with {toolchain.version}:\n{done.stderr.strip()}")
    folder = target / _TARGET / "release"
    return {guest: folder / f"evalspan_{guest}.wasm" for guest in guests}


def _record(files: dict[str, Path]) -> dict[str, Module]:
    modules = {}
    for guest, path in files.items():
        code = path.read_bytes()
        if len(code) > MAX_MODULE_BYTES:
            raise BuildError(f"{path.name} has {len(code)} bytes, the limit is {MAX_MODULE_BYTES}")
        modules[guest] = Module(f"{guest}.wasm", hashlib.sha256(code).hexdigest(), len(code))
    return modules


def build(chosen: list[str]) -> dict[str, Module]:
    """Build modules, all if none is chosen, and write files and digests into the package; what is there is replaced."""
    guests = _guests()
    if unknown := set(chosen) - set(guests):
        raise BuildError(f"no guest {', '.join(sorted(unknown))}; the guests are {', '.join(guests)}")
    toolchain = _toolchain()
    document = {"compiler": toolchain.version, "target": _TARGET, "flags": _flags("<guest>")}
    kept = _recorded_alike(document) if chosen else {}
    with tempfile.TemporaryDirectory(prefix="evalspan-guests-") as folder:
        files = _compile(toolchain, Path(folder), chosen or guests)
        modules = _record(files)
        _MODULES.mkdir(parents=True, exist_ok=True)
        for guest, path in files.items():
            shutil.copyfile(path, _MODULES / modules[guest].file)
    modules = dict(sorted((kept | modules).items()))
    for file in _MODULES.glob("*.wasm"):
        if file.stem not in modules:
            file.unlink()
    record = document | {"modules": {guest: asdict(module) for guest, module in modules.items()}}
    (_MODULES / _DIGESTS).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return modules


def _read_record() -> dict[str, Any]:
    try:
        record: dict[str, Any] = json.loads((_MODULES / _DIGESTS).read_text(encoding="utf-8"))
    except OSError:
        raise BuildError(f"{_DIGESTS} is missing: run `guests.py build`") from None
    return record


def _recorded_alike(document: Mapping[str, object]) -> dict[str, Module]:
    """The modules that are recorded already, if they were built in the same way."""
    if not (_MODULES / _DIGESTS).exists():
        return {}
    record = _read_record()
    if any(record[key] != value for key, value in document.items()):
        raise BuildError("the other modules were built by another compiler or with other flags: build all of them")
    return {guest: Module(**fields) for guest, fields in record["modules"].items()}


def verify() -> int:
    """Compare the committed modules with the record and with a build from source; the exit status."""
    recorded = _read_record()
    expected = {guest: Module(**fields) for guest, fields in recorded["modules"].items()}
    committed = _record({guest: _MODULES / module.file for guest, module in expected.items()})
    faults = list(_differences("the record", expected, "the committed file", committed))
    toolchain = _toolchain()
    with tempfile.TemporaryDirectory(prefix="evalspan-guests-") as folder:
        built = _record(_compile(toolchain, Path(folder), _guests()))
        if toolchain.version == recorded["compiler"] and recorded["flags"] == _flags("<guest>"):
            faults += _differences("the record", expected, "the build from source", built)
            other = False
        else:
            faults += [f"{guest}: is built but not recorded" for guest in sorted(built.keys() - expected.keys())]
            other = True
    if faults:
        _say("\n".join(faults))
        return 1
    if not other:
        _say(f"{len(built)} modules: the committed bytes are what {toolchain.version} gives")
        return 0
    _say(f"the modules are recorded for {recorded['compiler']}, this is {toolchain.version}: bytes cannot be compared")
    return OTHER_COMPILER if _vectors_pass() else 1


def _differences(left: str, expected: dict[str, Module], right: str, found: dict[str, Module]) -> Iterator[str]:
    for guest in sorted(expected.keys() | found.keys()):
        if guest not in found or guest not in expected:
            yield f"{guest}: {right if guest not in found else left} lacks it"
        elif found[guest] != expected[guest]:
            was, now = expected[guest], found[guest]
            yield f"{guest}: {left} says {was.sha256} ({was.size} bytes), {right} is {now.sha256} ({now.size} bytes)"


def _vectors_pass() -> bool:
    """Run the operator vectors on the committed modules: what decides where bytes cannot be compared."""
    done = subprocess.run([sys.executable, *_VECTORS], cwd=_ROOT, check=False)
    return done.returncode == 0


def _say(text: str) -> None:
    print(text)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build").add_argument("guest", nargs="*", help="all if none is named")
    commands.add_parser("verify")
    options = parser.parse_args(arguments)
    try:
        if options.command == "verify":
            return verify()
        for guest, module in build(options.guest).items():
            _say(f"{guest:12} {module.size:7} bytes  {module.sha256}")
    except BuildError as error:
        _say(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
