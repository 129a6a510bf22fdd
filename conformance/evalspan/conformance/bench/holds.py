"""The longest time that one evaluation can hold a batch at the default fuel, measured on the worst that we know."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import wasmtime

from evalspan.conformance.bench.mixes import MIXES
from evalspan.conformance.bench.timing import collection_off, median_us, timed
from evalspan.evaluators import Evaluators, Outcome, Value
from evalspan.policies import Registry

__all__ = ["Hold", "count", "holds"]


class Hold(NamedTuple):
    """How long one kind of evaluation lasts."""

    name: str
    about: str
    third_party: bool
    """Whether it takes a module of somebody else's; the others are expressions that a model could write."""
    median_us: float
    longest_us: float
    fuel: int
    end: str
    """`value`, or the code of the failure: `fuel_exhausted`, or `internal` where the deadline ended it."""


# Found by trying every function on the longest inputs of each kind, nested and in sequence, and keeping the slowest of
# each evaluator. What an input lacks in length to the limit is spaces.
_EXPRESSIONS = (
    ("arithmetic", "remainders of fractions of 1,000 digits", "%".join(["((3-.3^999)/sqrt(7))/9e-501"] * 18)),
    ("strings", "28 nested replacements", "len(" + "replace(" * 28 + 'repeat("ab",512)' + ',"a","a")' * 28 + ")"),
    ("dates", "a chain of 83 additions", "0001-01-01" + "+1 day" * 83),
    ("checksums", "a digest of a text of escapes", 'sha512("' + r"\n" * 250 + '")'),
)


def count(repeats: int) -> int:
    """How often `holds` calls `step`."""
    return (len(_EXPRESSIONS) + len(MIXES)) * repeats


def holds(repeats: int, step: Callable[[], None]) -> list[Hold]:
    """Measure each `repeats` times, after once to warm up; `step` is called after each time."""
    with TemporaryDirectory(prefix="evalspan-bench-") as folder, collection_off():
        text = "version = 1\n"
        for mix in MIXES:
            Path(folder, f"{mix.name}.wasm").write_bytes(wasmtime.wat2wasm(mix.wat))
            text += f'[[evaluator]]\nname = "{mix.name}"\nmodule = "{mix.name}.wasm"\n'
        with (
            Evaluators(Registry.load()) as built_in,
            Evaluators(Registry.parse(text, source="instruction mixes", folder=Path(folder))) as modules,
        ):
            runs = [partial(built_in.evaluate, name, expression.encode()) for name, _, expression in _EXPRESSIONS]
            runs += [partial(modules.evaluate, mix.name, b"1") for mix in MIXES]
            outcomes = [run() for run in runs]
            samples = [array("q") for _ in runs]
            for _ in range(repeats):
                for run, times in zip(runs, samples, strict=True):
                    times.extend(timed(run, 1))
                    step()
    names = [(name, about, False) for name, about, _ in _EXPRESSIONS]
    names += [(mix.name, mix.about, True) for mix in MIXES]
    return [
        Hold(*name, median_us(times), max(times) / 1000, outcome.fuel or 0, _end(outcome))
        for name, times, outcome in zip(names, samples, outcomes, strict=True)
    ]


def _end(outcome: Outcome) -> str:
    return "value" if isinstance(outcome, Value) else str(outcome.code)
