"""Any runtime as what the vectors are run on: raw input and options in, the evaluator's own answer out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Self

from evalspan.conformance.vectors import Evaluate
from evalspan.evaluators import EvaluatorInfo, Evaluators, Outcome, RuntimeName
from evalspan.policies import Limits, Registry

__all__ = ["TAGS", "Bench", "on_runtime"]

_LIMITS = frozenset(Limits.model_fields)

# The ceilings, so that a case's own options are what limits it, and no time: a machine that sleeps is no fault.
_CEILINGS = """
version = 1
[policy.default]
max_input_bytes = 16384
max_depth = 64
max_digits = 1024
max_result_bytes = 16384
deadline_ms = 60000
"""


TAGS = ("<calc>", "</calc>", "<result>", "</result>", "<result_error>", "</result_error>")
"""The tags that no injected text may hold: those of the span of every registry here."""

_SPAN = """[[span]]
name = "it"
open = "<calc>"
close = "</calc>"
evaluator = "it"
"""


class Bench:
    """One evaluator on one runtime, opened once for each set of options that is asked for. A context manager.

    It is the built-in of `spec`, or the module in a file. Options are the evaluator's own and the policy's limits.
    """

    def __init__(self, spec: str, runtime: RuntimeName, *, fuel: int | None = None, module: Path | None = None) -> None:
        """`fuel` is what an evaluation may use, where the runtime has any; None is the default policy's."""
        self._spec = spec
        self._runtime: RuntimeName = runtime
        self._fuel = fuel
        self._module = module
        self._stack = ExitStack()
        self._opened: dict[tuple[tuple[str, int], ...], Evaluators] = {}

    def answer(self, data: bytes, options: Mapping[str, int]) -> Outcome:
        """The evaluator's own answer.

        Raises:
            EvaluatorError: the runtime does not have the evaluator.
        """
        return self._with(options).answer("it", data)

    def injected(self, data: bytes, options: Mapping[str, int]) -> Outcome:
        """What would be injected: the answer behind the result policy, under the tags of `TAGS`.

        Raises:
            EvaluatorError: as `answer`.
        """
        return self._with(options).evaluate("it", data)

    def describe(self, options: Mapping[str, int] = MappingProxyType({})) -> EvaluatorInfo:
        """What the evaluator is, under these options.

        Raises:
            EvaluatorError: as `answer`.
        """
        return self._with(options).describe("it")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _with(self, options: Mapping[str, int]) -> Evaluators:
        key = tuple(sorted(options.items()))
        found = self._opened.get(key)
        if found is None:
            text = _registry(self._spec, options, self._fuel, self._module)
            registry = Registry.parse(text, source=f"{self._spec} with {dict(options)}")
            found = self._opened[key] = self._stack.enter_context(Evaluators(registry, self._runtime))
        return found


@contextmanager
def on_runtime(spec: str, runtime: RuntimeName, *, fuel: int | None = None) -> Iterator[Evaluate]:
    """The evaluator of `spec` on `runtime`, as `Bench.answer` has it.

    Raises:
        EvaluatorError: the runtime does not have it.
    """
    with Bench(spec, runtime, fuel=fuel) as bench:
        yield bench.answer


def _registry(spec: str, options: Mapping[str, int], fuel: int | None, module: Path | None) -> str:
    defaults = Limits()
    policy = {
        name: getattr(defaults, name) for name in ("max_input_bytes", "max_depth", "max_digits", "max_result_bytes")
    }
    policy |= {name: value for name, value in options.items() if name in _LIMITS}
    own = {name: value for name, value in options.items() if name not in _LIMITS}
    code = f'builtin = "{spec}"' if module is None else f"module = {json.dumps(str(module.absolute()))}"
    entry = f'[[evaluator]]\nname = "it"\n{code}\n'
    head = _CEILINGS if fuel is None else f"{_CEILINGS}fuel = {fuel}\n"
    return f"{head}{entry}options = {_inline(own)}\npolicy = {_inline(policy)}\n{_SPAN}"


def _inline(table: Mapping[str, int]) -> str:
    return "{ " + ", ".join(f"{name} = {value}" for name, value in table.items()) + " }"
