"""The `wasm` runtime: modules in a sandbox, one for each thread."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from evalspan.evaluators.artefacts import Artefacts
from evalspan.evaluators.epochs import EpochClock
from evalspan.evaluators.errors import EvaluatorUnavailable
from evalspan.evaluators.module_files import ModuleFile, ModuleFiles
from evalspan.evaluators.runtime import Description, Run, SandboxPath
from evalspan.evaluators.stack import HOST_BYTES, thread_stack_bytes
from evalspan.policies import EvaluatorEntry, Limits

__all__ = ["WasmRuntime", "choose_path"]

_log = logging.getLogger(__name__)


class _Sandbox(Protocol):
    def load(self, file: ModuleFile) -> object: ...

    def bind(self, file: ModuleFile, limits: Limits, options: Sequence[int]) -> Run: ...

    def close(self) -> None: ...


def choose_path(clock: EpochClock) -> SandboxPath:
    """The fast path where it passes its self-test, the portable one elsewhere, with a warning in the log."""
    from evalspan.evaluators.selftest import fault_of_fast_path

    fault = fault_of_fast_path(clock)
    if fault is None:
        return "fast"
    _log.warning("the fast sandbox failed its self-test, the portable one is used: %s", fault)
    return "portable"


class WasmRuntime:
    """Runs the modules of a registry. For one thread; files, artefacts and clock may be shared.

    An engine has one stack size, so there is a sandbox for each that the limits name: one, as a rule.
    """

    def __init__(
        self, path: SandboxPath, files: ModuleFiles, artefacts: Artefacts, clock: EpochClock, limits: Limits
    ) -> None:
        self._path = path
        self._files = files
        self._artefacts = artefacts
        self._clock = clock
        self._limits = limits
        self._sandboxes: dict[int, _Sandbox] = {}

    def describe(self, entry: EvaluatorEntry) -> Description:
        """Load and validate a module; see `Runtime.describe`."""
        file = self._files.get(entry)
        self._sandbox(entry, self._limits.tightened(entry.policy)).load(file)
        manifest = file.manifest
        return Description(
            spec=manifest.spec,
            digest=file.digest,
            size=len(file.code),
            options=manifest.options,
            max_input_bytes=manifest.max_input_bytes,
            unicode=manifest.unicode,
            sample=manifest.sample,
            functions=manifest.functions,
        )

    def bind(self, entry: EvaluatorEntry, limits: Limits, options: Sequence[int]) -> Run:
        """What evaluates a module; see `Runtime.bind`."""
        return self._sandbox(entry, limits).bind(self._files.get(entry), limits, options)

    def close(self) -> None:
        """Free the modules and engines."""
        for sandbox in self._sandboxes.values():
            sandbox.close()
        self._sandboxes.clear()

    def _sandbox(self, entry: EvaluatorEntry, limits: Limits) -> _Sandbox:
        stack = limits.max_stack_bytes
        sandbox = self._sandboxes.get(stack)
        if sandbox is None:
            has, wants = thread_stack_bytes(), stack + HOST_BYTES
            if has is not None and has < wants:
                reason = f"max_stack_bytes {stack} wants a thread with a stack of {wants} bytes, this has {has}"
                raise EvaluatorUnavailable(entry.name, reason)
            sandbox = self._sandboxes[stack] = self._new_sandbox(stack)
        return sandbox

    def _new_sandbox(self, stack: int) -> _Sandbox:
        if self._path == "fast":
            from evalspan.evaluators.fast import FastSandbox

            return FastSandbox(stack, self._limits, self._clock, self._artefacts)
        from evalspan.evaluators.portable import PortableSandbox

        return PortableSandbox(stack, self._limits, self._clock)
