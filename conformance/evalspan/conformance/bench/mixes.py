"""Instruction mixes that burn fuel slowly: what a hostile module would run to hold a batch for long.

wasmtime charges one unit of fuel for nearly every instruction, whatever it costs, so that time per unit differs a
thousandfold. Each mix repeats one expensive thing for ever, in a loop that is unrolled so that little else is charged.
What it works on comes from its argument or from memory, or the compiler would compute it once.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["MIXES", "Mix"]

_UNROLLED = 4000
"""Units of fuel that a loop's body is charged: the loop itself adds 0.1%, and a body keeps to its limit of 64 KiB."""

_FUNCTIONS = 4000
"""Functions that are referred to in turn; a module may have 10,000."""


class Mix(NamedTuple):
    """A module that never ends."""

    name: str
    about: str
    wat: str


def _module(body: str, *, declare: str = "", local: str = "", before: str = "") -> str:
    """A module that runs `body` for ever. `$n` is the argument of the evaluation, which is 1, `before` runs once."""
    return f"""
(module
  (@custom "evalspan" "{{\\"abi\\": 1, \\"name\\": \\"mix\\", \\"spec\\": \\"mix/1\\", \\"request_bytes\\": 64}}")
  (memory (export "memory") 16)
  (global (export "evalspan_request") i32 (i32.const 0))
  {declare}
  (func (export "evalspan_evaluate") (param $n i32) (result i64)
    {local}
    {before}
    (loop $again
      {body}
      (br $again))
    (i64.const 0)))
"""


def _chain(step: str, kind: str, seed: str, *, charged: int = 1, local: str = "", before: str = "") -> str:
    """`step`, which is charged that many units, over and over: each takes what the one before gave, and must wait."""
    return _module(
        f"local.get $value {' '.join([step] * (_UNROLLED // charged))} local.set $value",
        local=f"(local $value {kind}) {local}",
        before=f"{before} (local.set $value {seed})",
    )


def _statements(statement: str, *, declare: str = "", charged: int) -> str:
    return _module(" ".join([statement] * (_UNROLLED // charged)), declare=declare)


def _numbered(form: str) -> str:
    return " ".join(form.format(i) for i in range(_FUNCTIONS))


# Memory is one cycle of addresses, one in each cache line, in an order that prefetchers do not follow: x -> 5x + 7 runs
# through all of the 16,384 lines of 64 bytes.
_CYCLE = """
    (loop $fill
      (i32.store (i32.shl (local.get $line) (i32.const 6))
        (i32.shl (i32.and (i32.add (i32.mul (local.get $line) (i32.const 5)) (i32.const 7)) (i32.const 16383))
          (i32.const 6)))
      (br_if $fill (i32.lt_u (local.tee $line (i32.add (local.get $line) (i32.const 1))) (i32.const 16384))))"""

_DECLARED = f"{_numbered('(func $f{0})')} (elem declare func {_numbered('$f{0}')})"
_TABLED = f"(table $t {_FUNCTIONS} funcref) {_numbered('(func $f{0})')} (elem (i32.const 0) {_numbered('$f{0}')})"

MIXES = (
    Mix("loop", "nothing else", _module("")),
    Mix(
        "division",
        "each of the last quotient",
        _chain(
            "local.get $by i64.div_s",
            "i64",
            "(i64.const 0x7fffffffffffffff)",
            charged=2,
            local="(local $by i64)",
            before="(local.set $by (i64.extend_i32_u (local.get $n)))",
        ),
    ),
    Mix("square-root", "each of the last root", _chain("f64.sqrt", "f64", "(f64.const 1.7e308)")),
    Mix(
        "subnormal",
        "divisions of tiny numbers",
        _chain(
            "local.get $by f64.div",
            "f64",
            "(f64.const 1e-310)",
            charged=2,
            local="(local $by f64)",
            before="(local.set $by (f64.convert_i32_u (local.get $n)))",
        ),
    ),
    Mix(
        "pointer-chase",
        "each waits for the last",
        _chain("i32.load", "i32", "(i32.const 0)", local="(local $line i32)", before=_CYCLE),
    ),
    Mix(
        "call-indirect",
        "of 4,000 functions in turn",
        _module(
            " ".join(f"(call_indirect $t (i32.const {i * 769 % _FUNCTIONS}))" for i in range(_UNROLLED)),
            declare=_TABLED,
        ),
    ),
    Mix(
        "copy-little",
        "copies of single bytes",
        _statements("(memory.copy (i32.const 127) (i32.const 125) (local.get $n))", charged=4),
    ),
    Mix(
        "copy-much",
        "copies of 512 KiB",
        _module("(memory.copy (i32.const 0) (i32.const 524288) (i32.const 524288))"),
    ),
    Mix(
        "table-grow",
        "growths by nothing",
        _statements("(drop (table.grow $t (ref.null func) (i32.const 0)))", declare="(table $t 1 funcref)", charged=3),
    ),
    Mix(
        "function-reference",
        "to 4,000 functions in turn",
        _module(_numbered("(drop (ref.func $f{0}))"), declare=_DECLARED),
    ),
    Mix(
        "memory-grow",
        "growths that are refused",
        _chain("memory.grow", "i32", "(i32.const -1)"),
    ),
)
"""From what a module is expected to do to what only one that means ill does."""
