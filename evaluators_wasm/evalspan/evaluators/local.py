"""The `in_process` runtime: the operators' Python references, called as they are."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib import resources

from evalspan.evaluators.errors import EvaluatorUnavailable
from evalspan.evaluators.in_process import SPECS, Reference, load_reference
from evalspan.evaluators.manifest import Option
from evalspan.evaluators.outcome import Failure, Outcome
from evalspan.evaluators.runtime import Description, Run
from evalspan.policies import ErrorCode, EvaluatorEntry, Limits

__all__ = ["InProcessRuntime"]


class InProcessRuntime:
    """Runs built-in evaluators only: a module has no Python twin. No fuel, no memory limit, no sandbox."""

    def describe(self, entry: EvaluatorEntry) -> Description:
        """Import a reference; see `Runtime.describe`."""
        reference = _reference(entry)
        options = tuple(
            Option(name=name, default=spec.default, minimum=spec.minimum, maximum=spec.maximum)
            for name, spec in reference.OPTIONS.items()
        )
        source = _source()
        declared = [option.maximum for option in options if option.name == "max_input_bytes"]
        return Description(
            spec=reference.SPEC,
            digest=hashlib.sha256(source).hexdigest(),
            size=len(source),
            options=options,
            max_input_bytes=min(declared, default=16_384),
        )

    def bind(self, entry: EvaluatorEntry, limits: Limits, options: Sequence[int]) -> Run:
        """What evaluates a reference; see `Runtime.bind`."""
        reference = _reference(entry)
        values = dict(zip(reference.OPTIONS, options, strict=True))
        evaluate = reference.evaluate

        def run(data: bytes) -> Outcome:
            try:
                return evaluate(data, values)
            except EvaluatorUnavailable:
                raise  # a library is missing: nothing that an input could have caused
            except Exception as error:  # noqa: BLE001 - a fault in a reference is an answer, as a trap is
                return Failure(ErrorCode.INTERNAL, f"the evaluator raised {type(error).__name__}")

        return run

    def close(self) -> None:
        """Nothing is held."""


def _source() -> bytes:
    """The source of every reference: they share modules, and a digest must not miss one."""
    folder = resources.files("evalspan.evaluators.in_process")
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".py")), key=lambda file: file.name)
    return b"".join(file.name.encode() + b"\n" + file.read_bytes() for file in files)


def _reference(entry: EvaluatorEntry) -> Reference:
    if entry.builtin is None:
        raise EvaluatorUnavailable(entry.name, "a module runs in the `wasm` runtime only")
    if entry.builtin not in SPECS:
        raise EvaluatorUnavailable(entry.name, f"there is no Python reference of {entry.builtin}")
    try:
        return load_reference(entry.builtin)
    except ImportError as error:
        raise EvaluatorUnavailable(
            entry.name, f"its Python reference needs {error.name}: pip install 'evalspan[reference]'"
        ) from None
