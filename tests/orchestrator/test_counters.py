"""Counters add up what happened, and Prometheus can read them."""

from evalspan.backends.scripted import ScriptedBackend
from evalspan.orchestrator import Driver, Request


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
    assert names == {line.partition("{")[0].split()[0] for line in lines if not line.startswith("#")}


def test_a_request_engine_is_counted_once() -> None:
    backend = ScriptedBackend.replay(["<calc>", "1+1", "</calc>"], level="request")
    with Driver(backend) as driver:
        driver.generate("go")
        driver.generate_many([Request("go")])
        assert driver.counters.generations == {"eos": 2}
        assert driver.counters.evaluations == {"arithmetic": 1}  # the script is used up by the first
