"""The driver for asyncio: decoding runs in one thread of its own, and waits for who reads the events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from copy import deepcopy
from typing import Self, TypeVar

from evalspan.orchestrator.counters import Counters
from evalspan.orchestrator.driver import Driver
from evalspan.orchestrator.events import Event
from evalspan.orchestrator.requests import Generation, Request, gathered

__all__ = ["AsyncDriver"]

_T = TypeVar("_T")
_NOT_OPEN = "an AsyncDriver is used as an async context manager"


class AsyncDriver:
    """Runs generations of a driver one after the other, without blocking the event loop.

    A driver belongs to one thread, so `make` is called there, and so is everything else. The next event is computed
    when it is asked for: a slow reader holds decoding back, and nothing piles up.
    """

    def __init__(self, make: Callable[[], Driver]) -> None:
        self._make = make
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="evalspan-decode")
        self._turn = asyncio.Lock()
        self._driver: Driver | None = None

    async def __aenter__(self) -> Self:
        self._driver = await self._run(self._make)
        return self

    async def __aexit__(self, *exception: object) -> None:
        if self._driver is not None:
            await self._run(self._driver.close)
        self._thread.shutdown()

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Yield the events of a generation; closing the generator cancels it and lets the next one begin.

        Raises:
            As `Driver.stream`.
        """
        driver = self._driver
        if driver is None:
            raise RuntimeError(_NOT_OPEN)
        async with self._turn:
            events = await self._run(lambda: driver.begin(request))
            try:
                while (event := await self._run(lambda: next(events, None))) is not None:
                    yield event
            finally:
                # Shielded: a cancelled reader must not leave the engine's slot taken.
                await asyncio.shield(self._run(events.close))

    async def generate(self, request: Request) -> Generation:
        """Run a generation to its end."""
        async with aclosing(self.stream(request)) as events:
            generation = gathered([event async for event in events])
        driver = self._driver
        if not request.receipt or driver is None:
            return generation
        return await self._run(lambda: driver.with_receipt(request, generation))

    async def counters(self) -> Counters:
        """What the driver has done so far; a copy that does not change."""
        driver = self._driver
        if driver is None:
            raise RuntimeError(_NOT_OPEN)
        return await self._run(lambda: deepcopy(driver.counters))

    async def _run(self, function: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)
