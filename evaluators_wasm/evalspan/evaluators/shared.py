"""What the threads of one process share: module files, compiled code, the epoch clock."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from evalspan.evaluators.module_files import ModuleFiles
from evalspan.evaluators.runtime import SandboxMode, SandboxPath
from evalspan.policies import Registry

if TYPE_CHECKING:
    from evalspan.evaluators.artefacts import Artefacts
    from evalspan.evaluators.epochs import EpochClock

__all__ = ["Shared"]


class Shared:
    """Made on first use, so that a runtime that needs none of it pays nothing."""

    def __init__(self, registry: Registry, mode: SandboxMode, before: Shared | None = None) -> None:
        self.pid = os.getpid()
        self.files = ModuleFiles(registry)
        self._registry = registry
        self._mode: SandboxMode = mode
        self._before = before
        self._lock = threading.Lock()
        self._clock: EpochClock | None = None
        self._artefacts: Artefacts | None = None
        self._path: SandboxPath | None = None

    def after_fork(self) -> Shared:
        """The same for a child process: with locks and a clock of its own, and the code compiled so far."""
        return Shared(self._registry, self._mode, before=self)

    @property
    def clock(self) -> EpochClock:
        """The clock of every engine in this process."""
        from evalspan.evaluators.epochs import EpochClock

        with self._lock:
            if self._clock is None:
                self._clock = EpochClock()
            return self._clock

    @property
    def artefacts(self) -> Artefacts:
        """The compiled modules."""
        from evalspan.evaluators.artefacts import Artefacts

        with self._lock:
            if self._artefacts is None:
                before = self._before
                self._artefacts = Artefacts(None if before is None else before._artefacts)
            return self._artefacts

    @property
    def path(self) -> SandboxPath:
        """How the sandbox calls wasmtime, which `auto` finds out with a self-test."""
        if self._mode != "auto":
            return "fast" if self._mode == "fast" else "portable"
        from evalspan.evaluators.sandbox import choose_path

        clock = self.clock
        with self._lock:
            if self._path is None:
                before = None if self._before is None else self._before._path
                self._path = choose_path(clock) if before is None else before
            return self._path

    def close(self) -> None:
        """End the clock."""
        with self._lock:
            if self._clock is not None:
                self._clock.close()
