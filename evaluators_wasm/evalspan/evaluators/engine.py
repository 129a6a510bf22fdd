"""The engine's configuration: what modules may use, and how their memory is laid out.

wasmtime ends the process on some combinations of proposals, so the configuration is built here and nowhere
else, and a test proves it in a process of its own.
"""

from __future__ import annotations

import wasmtime

from evalspan.evaluators.epochs import EpochClock

__all__ = ["CONFIGURATION", "PROPOSALS_OFF", "new_config", "release_engines"]

CONFIGURATION = "2"
"""Number of the configuration below, for the keys of compiled modules: a change of it is a new number."""

PROPOSALS_OFF = (
    "threads",
    "tail_call",
    "simd",
    "relaxed_simd",
    "multi_memory",
    "memory64",
    "exceptions",
    "gc",
    "function_references",
    "wide_arithmetic",
    "custom_page_sizes",
    "stack_switching",
    "component_model",
)
"""Proposals that no compiler needs by default: each would be attack surface, and some are not deterministic.

Bulk memory, multi-value and reference types (to functions) stay on: compilers emit them, and they are
deterministic. Order matters to nobody: the configuration is checked as a whole when the engine is built.
"""


def new_config(max_stack_bytes: int, memory_bytes: int) -> wasmtime.Config:
    """A fresh configuration; an engine consumes it.

    `max_stack_bytes` is the native stack that guest frames may use; the caller's thread must have more.
    `memory_bytes` is the most that a memory may grow to under any limit.
    """
    config = wasmtime.Config()
    for proposal in PROPOSALS_OFF:
        # A release that lacks the switch lacks the proposal.
        if hasattr(type(config), f"wasm_{proposal}"):
            setattr(config, f"wasm_{proposal}", False)
    config.shared_memory = False
    config.gc_support = False  # host references have no use without imports, and need a heap of their own
    config.cranelift_nan_canonicalization = True  # the bits of a NaN would differ between machines
    config.consume_fuel = True
    config.epoch_interruption = True
    config.max_wasm_stack = max_stack_bytes
    config.parallel_compilation = False  # its thread pool does not survive a fork: a child would hang
    # Address space is reserved for what the limits allow, where the default of 4 GiB for each memory would fail
    # under `ulimit -v`. Without guard pages every access is checked in code.
    config.memory_reservation = memory_bytes
    config.memory_reservation_for_growth = 0
    config.memory_guard_size = 0
    config.memory_may_move = False
    # A trap is a check in code, not a signal: another library of the process may take the handler of SIGSEGV (tvm_ffi
    # does, which xgrammar needs), and then what a guest does would end the process.
    config.signals_based_traps = False
    return config


def release_engines(clock: EpochClock, engines: dict[str, wasmtime.Engine]) -> None:
    """Free engines that `clock` keeps the time of; what their stores and modules need of them stays."""
    for engine in engines.values():
        clock.remove(engine)
        engine.close()
    engines.clear()
