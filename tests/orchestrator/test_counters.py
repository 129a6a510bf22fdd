"""Counters add up what happened, and Prometheus can read them."""

import asyncio

import pytest

from evalspan.backends.scripted import ScriptedBackend
from evalspan.orchestrator import AsyncDriver, Driver, JsonSchema, Regex, Request, Step


def test_counters_add_up_over_single_and_batched_generations() -> None:
    backend = ScriptedBackend.replay(["<calc>", "1+1", "</calc>", "<calc>", "1/0", "</calc>", "."], slots=4)
    with Driver(backend) as driver:
        single = driver.generate("go")
        many = driver.generate_many([Request("go") for _ in range(4)])
        counters = driver.counters
    assert counters.generations == {"eos": 5}
    assert counters.evaluations == {"arithmetic": 10}
    assert counters.errors == {("arithmetic", "division_by_zero"): 5}
    assert counters.injections == {"result": 5, "error": 5}
    forced = sum(len(block.tokens) for result in (single, *many) for block in result.injections)
    assert counters.forced_tokens == forced
    assert counters.sampled_tokens == 5 * 8
    lines = counters.prometheus().splitlines()
    assert 'evalspan_evaluation_errors_total{evaluator="arithmetic",code="division_by_zero"} 5' in lines
    assert f'evalspan_tokens_total{{kind="forced"}} {forced}' in lines
    names = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    assert names >= {line.partition("{")[0].split()[0] for line in lines if not line.startswith("#")}


def test_a_request_engine_is_counted_once() -> None:
    backend = ScriptedBackend.replay(["<calc>", "1+1", "</calc>"], level="request")
    with Driver(backend) as driver:
        driver.generate("go")
        driver.generate_many([Request("go")])
        assert driver.counters.generations == {"eos": 2}
        assert driver.counters.evaluations == {"arithmetic": 1}  # the script is used up by the first


def test_the_ledger_s_masked_mass_is_added_up() -> None:
    backend = ScriptedBackend.replay([{"a": 1.0, "b": 3.0}, {"a": 2.0, "b": 2.0}])
    with Driver(backend) as driver:
        driver.generate("go", grammar=Regex("aa"))
        assert driver.counters.masked_steps == 0
        result = driver.generate("go", grammar=Regex("aa"), ledger=True)
        masses = [event.masked_mass for event in result.events if isinstance(event, Step)]
        assert driver.counters.masked_steps == len(masses) == 3
        assert driver.counters.masked_mass == pytest.approx(sum(masses))
        assert min(masses[:2]) > 0.5
        assert f"evalspan_masked_mass_total {driver.counters.masked_mass!r}" in driver.counters.prometheus()


def test_assertions_that_do_not_hold_are_counted() -> None:
    schema = {
        "type": "object",
        "properties": {"day": {"type": "string"}},
        "required": ["day"],
        "x-evalspan-assert": {"evaluator": "dates", "template": "{0/day} < 2024-01-01"},
    }
    with Driver(ScriptedBackend.replay(list('{"day": "2025-01-01"}'))) as driver:
        driver.generate("go", grammar=JsonSchema(schema))
        assert driver.counters.assertions == {"dates": 1}
        assert driver.counters.evaluations == {"dates": 1}
        assert 'evalspan_assertions_failed_total{evaluator="dates"} 1' in driver.counters.prometheus()


def test_large_totals_are_written_whole() -> None:
    with Driver(ScriptedBackend.replay(["a"])) as driver:
        driver.counters.sampled_tokens = 123_456_789
        assert 'evalspan_tokens_total{kind="sampled"} 123456789' in driver.counters.prometheus().splitlines()


def test_an_async_driver_shows_a_copy() -> None:
    async def main() -> tuple[int, int]:
        async with AsyncDriver(lambda: Driver(ScriptedBackend.replay(["a", "b"]))) as driver:
            await driver.generate(Request("go"))
            before = await driver.counters()
            await driver.generate(Request("go"))
            return before.sampled_tokens, (await driver.counters()).sampled_tokens

    assert asyncio.run(main()) == (3, 6)
