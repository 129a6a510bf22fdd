"""Findings: what an oracle objected to, made as short as it can be, in a file that repeats it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalspan.conformance.fuzz.complaint import Complaint
from evalspan.conformance.fuzz.errors import FuzzError
from evalspan.conformance.fuzz.files import write_whole
from evalspan.conformance.generators import Sample

__all__ = ["Finding", "load_finding", "load_input", "new_finding", "save_finding", "shape"]

_MOST_FILE_BYTES = 1024 * 1024  # 16 KiB of input, spelt as escapes, take 100 KB
_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*|[^\sA-Za-z0-9_.]")


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault, and the shortest input that was found for it."""

    target: str
    oracle: str
    cause: str
    detail: str
    sample: Sample
    before: tuple[bytes, ...] = ()
    """Inputs that must be asked first, where the fault depends on what came before."""
    seed: int = 0
    inputs: int = 0
    """How many inputs had been asked when it was found."""
    seconds: float = 0.0
    """Seconds from the start until it was found."""

    @property
    def key(self) -> str:
        """What findings are told apart by."""
        return f"{self.oracle}: {self.cause}"

    @property
    def name(self) -> str:
        """The name of its file, without the suffix."""
        digest = hashlib.sha256(self.key.encode()).hexdigest()[:10]
        return f"{re.sub(r'[^a-z0-9]+', '-', self.oracle.lower()).strip('-')}-{digest}"

    def as_json(self) -> dict[str, Any]:
        """The finding as a JSON object; an input that is no text is in hexadecimal."""
        return {
            "target": self.target,
            "oracle": self.oracle,
            "cause": self.cause,
            "detail": self.detail,
            **_spelt("input", self.sample.data),
            "options": dict(self.sample.options),
            "before": [_spelt("input", data) for data in self.before],
            "seed": self.seed,
            "inputs": self.inputs,
            "seconds": round(self.seconds, 3),
        }


def shape(data: bytes) -> str:
    """The words and signs of an input, each once, in order of the alphabet: what kinds of syntax it is made of."""
    words = {word.decode("latin-1") for word in _WORD.findall(data)}
    return " ".join(sorted(words)[:12])  # more than 12 tell nothing apart that 12 do not


def new_finding(
    target: str, complaint: Complaint, sample: Sample, before: tuple[bytes, ...], seed: int, inputs: int, seconds: float
) -> Finding:
    """A finding of a complaint about an input that is as short as it can be."""
    cause = f"{complaint.cause} with {shape(sample.data)}" if complaint.coarse else complaint.cause
    return Finding(target, complaint.oracle, cause, complaint.detail, sample, before, seed, inputs, seconds)


def save_finding(folder: Path, finding: Finding) -> Path:
    """Write a finding into a folder and answer its path.

    Raises:
        FuzzError: it cannot be written.
    """
    path = folder / f"{finding.name}.json"
    write_whole(path, (json.dumps(finding.as_json(), indent=2, ensure_ascii=True) + "\n").encode())
    return path


def load_finding(path: Path) -> Finding:
    """The finding in a file.

    Raises:
        FuzzError: it cannot be read, or is no finding.
    """
    data = _read(path)
    try:
        table = json.loads(data)
        options: Mapping[str, int] = {str(name): int(value) for name, value in table["options"].items()}
        return Finding(
            target=str(table["target"]),
            oracle=str(table["oracle"]),
            cause=str(table["cause"]),
            detail=str(table["detail"]),
            sample=Sample(_bytes(table), options),
            before=tuple(_bytes(entry) for entry in table.get("before", [])),
            seed=int(table.get("seed", 0)),
            inputs=int(table.get("inputs", 0)),
            seconds=float(table.get("seconds", 0)),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FuzzError(f"{path}: is no finding of `evalspan fuzz`: {type(error).__name__}: {error}") from None


def load_input(path: Path) -> tuple[Sample, tuple[bytes, ...]]:
    """The input of a finding and what comes before it; the bytes of any other file, with the default options.

    Raises:
        FuzzError: it cannot be read.
    """
    if path.suffix == ".json":
        finding = load_finding(path)
        return finding.sample, finding.before
    return Sample(_read(path), {}), ()


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_FILE_BYTES + 1)
    except OSError as error:
        raise FuzzError(f"{path}: cannot be read: {error.strerror}") from None
    if len(data) > _MOST_FILE_BYTES:
        raise FuzzError(f"{path}: has more than {_MOST_FILE_BYTES} bytes")
    return data


def _spelt(name: str, data: bytes) -> dict[str, str]:
    try:
        return {name: data.decode()}
    except UnicodeDecodeError:
        return {f"{name}_hex": data.hex()}


def _bytes(table: Mapping[str, Any]) -> bytes:
    if "input_hex" in table:
        return bytes.fromhex(table["input_hex"])
    return str(table["input"]).encode()
