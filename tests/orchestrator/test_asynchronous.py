"""The driver under asyncio: the same events, one generation at a time, cancelled without a trace."""

import asyncio
from contextlib import aclosing

import pytest

from evalspan.backends.scripted import ScriptedBackend, ScriptedSteps
from evalspan.orchestrator import AsyncDriver, Driver, PromptError, Request

TOKENS = ["so ", "<calc>", "6*7", "</calc>", ".", "!"]
TEXT = "so <calc>6*7</calc><result>42</result>.!"


def test_generations_that_overlap_take_turns() -> None:
    async def main() -> list[str]:
        async with AsyncDriver(lambda: Driver(ScriptedBackend.replay(TOKENS))) as driver:
            results = await asyncio.gather(*(driver.generate(Request("go")) for _ in range(5)))
            return [result.text for result in results]

    assert asyncio.run(main()) == [TEXT] * 5


def test_the_loop_goes_on_and_a_slow_reader_holds_decoding_back() -> None:
    backend = ScriptedBackend.replay(TOKENS)
    engine = backend.engine
    assert isinstance(engine, ScriptedSteps)

    async def main() -> int:
        async with AsyncDriver(lambda: Driver(backend)) as driver, aclosing(driver.stream(Request("go"))) as events:
            await anext(events)
            await asyncio.sleep(0.05)
            return len(engine.calls)

    assert asyncio.run(main()) == 1  # the prompt's step, and none that nobody asked for


def test_a_cancelled_reader_frees_the_slot() -> None:
    backend = ScriptedBackend.replay(TOKENS * 50)
    engine = backend.engine
    assert isinstance(engine, ScriptedSteps)

    async def read(driver: AsyncDriver) -> None:
        async with aclosing(driver.stream(Request("go", max_tokens=5000))) as events:
            async for _ in events:
                await asyncio.sleep(0.001)

    async def main() -> str:
        async with AsyncDriver(lambda: Driver(backend)) as driver:
            task = asyncio.create_task(read(driver))
            await asyncio.sleep(0.02)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert engine.open_sequences == 0
            return (await driver.generate(Request("go", max_tokens=3))).reason

    assert asyncio.run(main()) == "length"


def test_errors_of_a_request_reach_the_caller() -> None:
    async def main() -> None:
        async with AsyncDriver(lambda: Driver(ScriptedBackend.replay(TOKENS))) as driver:
            with pytest.raises(PromptError):
                await driver.generate(Request(""))
            assert (await driver.generate(Request("go"))).text == TEXT

    asyncio.run(main())
