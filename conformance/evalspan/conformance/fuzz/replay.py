"""Asking a finding again."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from evalspan.conformance.fuzz.complaint import Complaint
from evalspan.conformance.fuzz.findings import load_input
from evalspan.conformance.fuzz.targets import TargetSpec, open_target
from evalspan.conformance.generators import Sample

__all__ = ["corpus_files", "replay"]


def replay(target: TargetSpec, path: Path) -> list[Complaint]:
    """What the oracles say to the input in a file, after the inputs that the file says come before it.

    Raises:
        EvalspanError: the file or the target cannot be used.
    """
    sample, before = load_input(path)
    opened = open_target(target)
    try:
        for data in before:
            opened.ask(Sample(data, sample.options))
        return list(opened.complaints(sample))
    finally:
        opened.close()


def corpus_files() -> Iterator[tuple[str, Path]]:
    """The committed findings, each with the name of its evaluator: every one was a fault once, or would have been."""
    folder = Path(str(files("evalspan.conformance").joinpath("corpus")))
    for path in sorted(folder.glob("*/*.json")):
        yield path.parent.name, path
