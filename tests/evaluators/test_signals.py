"""A trap is no signal: whoever else in the process has the handlers of signals, a guest cannot end it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from evaluators.guests import guest

TRAPS = {
    "a read out of bounds": "(drop (i64.load (i32.const 0x7fffffff)))",
    "a write out of bounds": "(i64.store (i32.const -1) (i64.const 1))",
    "a division by zero": "(drop (i32.div_u (i32.const 1) (local.get $zero)))",
    "an overflow": "(drop (i32.div_s (i32.const 0x80000000) (i32.sub (local.get $zero) (i32.const 1))))",
    "unreachable": "(unreachable)",
    "a call of nothing": "(call_indirect (i32.const 0))",
    "a deep recursion": "(call $deep)",
}

MODULE = """
(module
  (memory (export "memory") 1 2)
  (table 1 funcref)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func $deep (call $deep) (call $deep))
  (func (export "evalspan_evaluate") (param i32) (result i64) (local $zero i32)
    {body}
    (i64.const 0x100000800)))
"""

SCRIPT = """
import ctypes, signal, sys
from pathlib import Path
from evalspan.evaluators import Evaluators, Failure
from evalspan.policies import Registry

names = sys.argv[1:]
text = "version = 1\\n" + "".join(f'[[evaluator]]\\nname = "{name}"\\nmodule = "{name}.wasm"\\n' for name in names)
with Evaluators(Registry.parse(text, folder=Path.cwd())) as evaluators:
    evaluators.open()
    libc = ctypes.CDLL(None)
    libc.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
    for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE):
        libc.signal(number, None)  # the default, which ends the process
    for name in names:
        outcome = evaluators.evaluate(name, b"x")
        assert isinstance(outcome, Failure), outcome
        print(name, outcome.code)
"""


@pytest.mark.parametrize("mode", ["fast", "portable"])
def test_a_trap_is_an_error_also_where_another_library_has_taken_the_signals(tmp_path: Path, mode: str) -> None:
    names = [f"t{index}" for index in range(len(TRAPS))]
    for name, body in zip(names, TRAPS.values(), strict=True):
        tmp_path.joinpath(f"{name}.wasm").write_bytes(guest(MODULE.format(body=body)))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *names],
        cwd=tmp_path,
        env={"PYTHONPATH": os.pathsep.join(sys.path), "EVALSPAN_SANDBOX": mode},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-800:]
    assert [line.split()[0] for line in done.stdout.splitlines()] == names
