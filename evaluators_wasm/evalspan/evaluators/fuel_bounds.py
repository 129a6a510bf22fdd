"""Fuel bounds: the most that one evaluation of a built-in operator takes, by the length of its input and the limits.

`docs/operators/*.md` state the same formulas under "Cost", and how each was found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from evalspan.evaluators.errors import EvaluatorError
from evalspan.policies import Limits

__all__ = ["fuel_bound"]


def _arithmetic(n: int, limits: Limits) -> int:
    # By search, with twice the dearest that was found. An operation on numbers of d digits costs d² and has operands
    # that some bytes spell; the last one may cost several times what the others do, since it may fail.
    squared = limits.max_digits**2
    return 20_000 + 3 * squared + 17_000 * n + squared * n // 12


def _strings(n: int, limits: Limits) -> int:
    # A call is at least two bytes and goes over its strings a fixed number of times; none is longer than this. What
    # it takes however short they are, some 46,000 for a sort, counts where the limits are small.
    return 20_000 + (5_000 + 36 * max(limits.max_input_bytes, limits.max_result_bytes)) * n


def _dates(n: int, limits: Limits) -> int:
    # Numbers are words, so that each byte is worth a fixed number of steps.
    return 5_000 + 800 * n


def _checksums(n: int, limits: Limits) -> int:
    # Each byte is decoded, searched and hashed once: sha256, in characters of two bytes with two of ASCII after each.
    return 20_000 + 270 * n


_BOUNDS: Mapping[str, Callable[[int, Limits], int]] = MappingProxyType(
    {"arithmetic/1": _arithmetic, "checksums/1": _checksums, "dates/1": _dates, "strings/1": _strings}
)


def fuel_bound(operator: str, input_bytes: int, limits: Limits) -> int:
    """The most fuel, in wasmtime's units, that `operator` takes for an input of `input_bytes` under `limits`.

    `operator` is a built-in specification such as `arithmetic/1`. The module of another compiler takes other fuel: the
    bound is that of the modules that ship with evalspan.

    Raises:
        EvaluatorError: no built-in operator has this name, so that nothing is known about its fuel.
    """
    bound = _BOUNDS.get(operator)
    if bound is None:
        raise EvaluatorError(operator, f"no fuel bound is known; those with one are {', '.join(_BOUNDS)}")
    return bound(input_bytes, limits)
