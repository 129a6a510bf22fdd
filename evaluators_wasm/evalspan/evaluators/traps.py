"""What wasmtime's traps and errors mean for the caller: out of a resource, or broken."""

from __future__ import annotations

from evalspan.evaluators.outcome import Failure
from evalspan.policies import ErrorCode, Limits

__all__ = ["OUT_OF_FUEL", "failure_of_trap", "innermost"]

_STACK_OVERFLOW = 0
_UNREACHABLE = 9
_INTERRUPT = 10
OUT_OF_FUEL = 11
_NAMES = {
    1: "an access outside memory",
    2: "a misaligned access",
    3: "an access outside a table",
    4: "a call of an empty table entry",
    5: "a call with another signature",
    6: "an integer overflow",
    7: "a division by zero",
    8: "a conversion of no integer",
    _UNREACHABLE: "unreachable code",
}
"""Trap codes of wasmtime's C API, `wasmtime/trap.h`; new ones are only ever added behind them."""


def failure_of_trap(code: int | None, limits: Limits, fuel: int, *, memory_exhausted: bool) -> Failure:
    """The failure that a trap is.

    `memory_exhausted` says that memory had grown to its limit, or that the guest reported a refused
    allocation: a guest that is out of memory can only trap, so that the trap's own code tells nothing.
    wasmtime looks at fuel at calls and loops only: a caller that finds none left says `OUT_OF_FUEL`, whatever
    the guest did, and the `fuel` of another trap is what was counted until the last such place.
    """
    if code == OUT_OF_FUEL:
        message = f"the evaluation took more than {limits.fuel} units of fuel"
        return Failure(ErrorCode.FUEL_EXHAUSTED, message, fuel=limits.fuel)
    if code == _STACK_OVERFLOW:
        message = f"the evaluation took more than {limits.max_stack_bytes} bytes of stack"
        return Failure(ErrorCode.MEMORY_EXHAUSTED, message, fuel=fuel)
    if code == _INTERRUPT:
        message = f"the evaluation took more than {limits.deadline_ms} ms"
        return Failure(ErrorCode.INTERNAL, message, fuel=fuel)
    if memory_exhausted:
        message = f"the evaluation took more than {limits.memory_pages} pages of memory"
        return Failure(ErrorCode.MEMORY_EXHAUSTED, message, fuel=fuel)
    what = "an unknown cause" if code is None else _NAMES.get(code, f"trap code {code}")
    return Failure(ErrorCode.INTERNAL, f"the evaluator trapped: {what}", fuel=fuel)


def innermost(report: str) -> str:
    """The innermost cause in a report of wasmtime, on one line."""
    lines = [line.strip() for line in report.splitlines() if line.strip()]
    cause = lines[-1] if lines else "no cause is given"
    head, _, rest = cause.partition(": ")
    return rest if head.isdigit() else cause  # where there are several causes they are numbered
