"""Any runtime as what the vectors are run on: raw input and options in, the evaluator's own answer out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

from evalspan.conformance.vectors import Evaluate
from evalspan.evaluators import Evaluators, Outcome, RuntimeName
from evalspan.policies import Limits, Registry

__all__ = ["on_runtime"]

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


@contextmanager
def on_runtime(spec: str, runtime: RuntimeName, *, fuel: int | None = None) -> Iterator[Evaluate]:
    """The evaluator of `spec` on `runtime`, opened once for each set of options that is asked for.

    `fuel` is what an evaluation may use, where the runtime has any; None is the default policy's.

    Raises:
        EvaluatorError: the runtime does not have it.
    """
    with ExitStack() as stack:
        opened: dict[tuple[tuple[str, int], ...], Evaluators] = {}

        def evaluate(data: bytes, options: Mapping[str, int]) -> Outcome:
            key = tuple(sorted(options.items()))
            if key not in opened:
                registry = Registry.parse(_registry(spec, options, fuel), source=f"{spec} with {dict(options)}")
                opened[key] = stack.enter_context(Evaluators(registry, runtime))
            return opened[key].answer("it", data)

        yield evaluate


def _registry(spec: str, options: Mapping[str, int], fuel: int | None) -> str:
    defaults = Limits()
    policy = {
        name: getattr(defaults, name) for name in ("max_input_bytes", "max_depth", "max_digits", "max_result_bytes")
    }
    policy |= {name: value for name, value in options.items() if name in _LIMITS}
    own = {name: value for name, value in options.items() if name not in _LIMITS}
    entry = f'[[evaluator]]\nname = "it"\nbuiltin = "{spec}"\n'
    head = _CEILINGS if fuel is None else f"{_CEILINGS}fuel = {fuel}\n"
    return f"{head}{entry}options = {_inline(own)}\npolicy = {_inline(policy)}\n"


def _inline(table: Mapping[str, int]) -> str:
    return "{ " + ", ".join(f"{name} = {value}" for name, value in table.items()) + " }"
