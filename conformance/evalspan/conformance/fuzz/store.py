"""A corpus folder: inputs worth keeping, findings, and where a run stopped.

    FOLDER/inputs/<digest>           the bytes of an input; any file put there is taken in
    FOLDER/findings/<oracle>-<digest>.json
    FOLDER/state.json                target, seed, inputs asked, and the options of each input

Every file is written beside its place and renamed, the state last: a run that is killed loses some seconds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evalspan.conformance.fuzz.errors import FuzzError
from evalspan.conformance.fuzz.files import write_whole
from evalspan.conformance.fuzz.findings import Finding, load_finding, save_finding
from evalspan.conformance.generators import Sample
from evalspan.conformance.generators.library import MAX_INPUT_BYTES

__all__ = ["Store"]

_VERSION = 1


@dataclass
class Store:
    """The folder of one target."""

    folder: Path
    target: str
    seed: int
    inputs: int = 0
    """Asked in all runs so far."""
    seconds: float = 0.0
    """Taken by all runs so far."""
    samples: list[Sample] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    _options: dict[str, Mapping[str, int]] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: Path, target: str, seed: int) -> Store:
        """Read a folder, which need not be there yet.

        Raises:
            FuzzError: it is of another target, or something in it cannot be read.
        """
        store = cls(folder, target, seed)
        try:
            folder.joinpath("inputs").mkdir(parents=True, exist_ok=True)
            folder.joinpath("findings").mkdir(exist_ok=True)
            store._read_state()
            for path in sorted(folder.joinpath("inputs").iterdir()):
                if path.is_file() and not path.name.startswith("."):
                    with path.open("rb") as file:
                        data = file.read(MAX_INPUT_BYTES)
                    store.samples.append(Sample(data, store._options.get(path.name, {})))
            paths = sorted(folder.joinpath("findings").glob("*.json"))
        except OSError as error:
            raise FuzzError(f"{error.filename or folder}: cannot be used: {error.strerror}") from None
        store.findings = [load_finding(path) for path in paths if not path.name.startswith(".")]
        return store

    def keep(self, samples: Iterable[Sample]) -> None:
        """Write inputs.

        Raises:
            FuzzError: one cannot be written.
        """
        for sample in samples:
            name = hashlib.sha256(sample.data).hexdigest()[:20]
            if name not in self._options:
                self._options[name] = dict(sample.options)
                write_whole(self.folder / "inputs" / name, sample.data)

    def add_finding(self, finding: Finding) -> Path:
        """Write a finding.

        Raises:
            FuzzError: it cannot be written.
        """
        self.findings.append(finding)
        return save_finding(self.folder / "findings", finding)

    def save_state(self, inputs: int, seconds: float) -> None:
        """Write how far the run is: inputs and seconds since the folder was opened.

        Raises:
            FuzzError: it cannot be written.
        """
        state = {
            "version": _VERSION,
            "target": self.target,
            "seed": self.seed,
            "inputs": self.inputs + inputs,
            "seconds": round(self.seconds + seconds, 1),
            "options": {name: options for name, options in sorted(self._options.items()) if options},
        }
        write_whole(self.folder / "state.json", (json.dumps(state, indent=1) + "\n").encode())

    def _read_state(self) -> None:
        path = self.folder / "state.json"
        if not path.exists():
            return
        try:
            state = json.loads(path.read_bytes())
            version, target = state["version"], state["target"]
            self.inputs, self.seconds = int(state["inputs"]), float(state["seconds"])
            self._options = {
                str(name): {str(key): int(value) for key, value in options.items()}
                for name, options in state["options"].items()
            }
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise FuzzError(f"{path}: is no state of `evalspan fuzz` ({type(error).__name__}): remove it") from None
        if version != _VERSION:
            raise FuzzError(f"{path}: is of version {version}, this is {_VERSION}: use another folder")
        if target != self.target:
            raise FuzzError(f"{self.folder}: is the corpus of {target!r}, not of {self.target!r}: use another folder")
