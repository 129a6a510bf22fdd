"""The self-test of the fast path: its answers, traps, fuel and statelessness must be the portable one's."""

from __future__ import annotations

import hashlib
from importlib.metadata import version

import wasmtime

from evalspan.evaluators.artefacts import Artefacts
from evalspan.evaluators.epochs import EpochClock
from evalspan.evaluators.fast import FastSandbox
from evalspan.evaluators.manifest import Manifest
from evalspan.evaluators.module_cache import ModuleCache
from evalspan.evaluators.module_files import ModuleFile
from evalspan.evaluators.outcome import Failure, Value
from evalspan.evaluators.portable import PortableSandbox
from evalspan.policies import ErrorCode, Limits

__all__ = ["CHECKED_RELEASES", "fault_of_fast_path"]

CHECKED_RELEASES = range(46, 51)
"""Releases of wasmtime whose C functions were checked: a wrong signature could end the process in the test."""

# Counts its evaluations in memory, then does what the first byte says; answers the count and the pages.
_GUEST = """
(module
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (global (export "evalspan_heap") i32 (i32.const 16))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (local $do i32)
    (i32.store (i32.const 16) (i32.const 4096))
    (i32.store (i32.const 32) (i32.add (i32.load (i32.const 32)) (i32.const 1)))
    (local.set $do (i32.load8_u (i32.const 1024)))
    (if (i32.eq (local.get $do) (i32.const 0x6c)) (then (loop (br 0))))
    (if (i32.eq (local.get $do) (i32.const 0x74)) (then unreachable))
    (if (i32.eq (local.get $do) (i32.const 0x67)) (then (drop (memory.grow (i32.const 1)))))
    (i32.store8 (i32.const 2049) (i32.add (i32.const 0x30) (i32.load (i32.const 32))))
    (i32.store8 (i32.const 2050) (i32.add (i32.const 0x30) (memory.size)))
    (i64.const 0x300000800)))
"""

_LIMITS = Limits(fuel=1000, memory_pages=2)

_CASES = (
    (b"answer", Value("11", True)),
    (b"another", Value("11", True)),
    (b"trap", Failure(ErrorCode.INTERNAL, "the evaluator trapped: unreachable code")),
    (b"again", Value("11", True)),
    (b"loop", Failure(ErrorCode.FUEL_EXHAUSTED, "the evaluation took more than 1000 units of fuel")),
    (b"grow", Value("12", True)),
    (b"once more", Value("11", True)),
)


def fault_of_fast_path(clock: EpochClock) -> str | None:
    """What is wrong with the fast path on this machine and release, or None."""
    release = version("wasmtime")
    if int(release.partition(".")[0]) not in CHECKED_RELEASES:
        return f"wasmtime {release} is not among the releases it was checked with"
    code = bytes(wasmtime.wat2wasm(_GUEST))
    manifest = Manifest(abi=1, name="selftest", spec="selftest/1", request_bytes=64)
    digest = hashlib.sha256(code).hexdigest()
    portable = PortableSandbox(_LIMITS.max_stack_bytes, _LIMITS, clock)
    fast = FastSandbox(_LIMITS.max_stack_bytes, _LIMITS, clock, Artefacts(cache=ModuleCache(None)))
    try:
        plain = portable.bind(ModuleFile("plain", code, digest, manifest, audited=False), _LIMITS, ())
        for audited in (False, True):
            file = ModuleFile(f"audited={audited}", code, digest, manifest, audited)
            run = fast.bind(file, _LIMITS, ())
            for data, meant in _CASES:
                expected, found = plain(data), run(data)
                if found != expected:
                    return f"{data!r} with {file.name} gave {found}, not {expected}"
                if _without_fuel(found) != meant:
                    return f"{data!r} gave {found}, not {meant}"
    except Exception as error:  # noqa: BLE001 - whatever it is, the portable way is there
        return f"{type(error).__name__}: {error}"
    finally:
        fast.close()
        portable.close()
    return None


def _without_fuel(outcome: Value | Failure) -> Value | Failure:
    if isinstance(outcome, Value):
        return Value(outcome.text, outcome.exact)
    return Failure(outcome.code, outcome.message)
