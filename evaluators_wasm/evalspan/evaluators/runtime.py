"""The protocol that every runtime implements, and what it says about an evaluator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from evalspan.evaluators.manifest import Option
from evalspan.evaluators.outcome import Outcome
from evalspan.policies import EvaluatorEntry, Limits

__all__ = ["Description", "Run", "Runtime", "RuntimeName", "SandboxMode", "SandboxPath"]

RuntimeName = Literal["wasm", "in_process", "subprocess"]
"""The runtimes: the sandbox, Python in this process, and Python in a process of its own."""

SandboxPath = Literal["fast", "portable"]
"""How the sandbox calls wasmtime: through its C functions, or through its public Python API."""

SandboxMode = Literal["auto", "fast", "portable"]
"""Which path to take: `auto` is the fast one where it passes its self-test."""

Run = Callable[[bytes], Outcome]
"""Evaluates one input that is not longer than the limit. Answers every time, raises never."""


@dataclass(frozen=True, slots=True)
class Description:
    """What a runtime knows about an evaluator once it is loaded."""

    spec: str
    """The operator specification, such as `arithmetic/1`."""
    digest: str
    """SHA-256 of the code that answers: the module, or the Python source."""
    size: int
    """Bytes of that code."""
    options: tuple[Option, ...]
    max_input_bytes: int
    """The most input bytes that the evaluator itself can take."""
    unicode: str | None = None
    sample: str | None = None
    functions: tuple[str, ...] = ()


class Runtime(Protocol):
    """How evaluators run. For one thread; closing it frees what it holds."""

    def describe(self, entry: EvaluatorEntry) -> Description:
        """Load and validate an evaluator; a second call is cheap.

        Raises:
            ModuleRefused: the module fails validation.
            EvaluatorUnavailable: this runtime does not have the evaluator.
        """
        ...

    def bind(self, entry: EvaluatorEntry, limits: Limits, options: Sequence[int]) -> Run:
        """What evaluates under `limits`; `options` are the values in the order of the description.

        Raises:
            ModuleRefused: the module cannot run under these limits.
        """
        ...

    def close(self) -> None:
        """Free modules, instances and processes. A closed runtime is not used again."""
        ...
