"""The engine's process ends while generations run: each of them ends with an error that says so, and nothing hangs."""

from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path
from threading import Timer

import pytest
from vllm_support import sums

from evalspan.backends.vllm_backend import VllmBackend
from evalspan.backends.vllm_settings import VllmSettings
from evalspan.orchestrator import BackendError, Driver, Request, Text


@pytest.mark.parametrize("path", ["in-engine", "sessions"])
def test_generations_end_when_the_engine_dies(model: Path, path: str) -> None:
    before = {child.pid for child in multiprocessing.active_children()}
    settings = VllmSettings(model, context_tokens=1024, slots=8, path=path)
    with Driver(VllmBackend.connect(settings)) as driver:
        engines = [child.pid for child in multiprocessing.active_children() if child.pid and child.pid not in before]
        assert engines, "the engine runs in no process of its own"
        requests = [Request(sums(7 * i + 3, 11 * i + 5), max_tokens=900) for i in range(8)]
        watch = Timer(120, os.kill, (os.getpid(), signal.SIGINT))  # a hang is a failure, and does not go on for ever
        watch.start()
        try:
            seen = 0
            with pytest.raises(BackendError, match="open the backend again"):
                for _, event in driver.stream_many(requests):
                    seen += isinstance(event, Text)
                    if seen == 20:
                        seen += 1
                        for pid in engines:
                            os.kill(pid, signal.SIGKILL)
            assert seen > 20, "the engine was not killed in the middle"
            with pytest.raises(BackendError, match="open the backend again"):
                driver.generate("Once more", max_tokens=3)
        finally:
            watch.cancel()
