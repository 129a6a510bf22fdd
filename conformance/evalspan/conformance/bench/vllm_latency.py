"""How long one calculation keeps a reader waiting: by each path, and against a tool-call loop."""

from __future__ import annotations

import json
import time
from contextlib import closing, nullcontext

from evalspan.backends.vllm_backend import VllmBackend
from evalspan.conformance.bench.vllm_load import neighbours, prompt
from evalspan.evaluators import Value
from evalspan.orchestrator import Driver, Evaluated, FreeText, Injected, Text
from evalspan.orchestrator.sampling import SamplingParams

__all__ = ["NEIGHBOURS", "calculation_seconds", "injection_seconds", "tool_call_seconds"]

NEIGHBOURS = 8
_LONG = 900  # tokens: neighbours are not to end before the measured one
_TOKENS = 70  # of the measured one: two injections or three
_EXPRESSION = "17 + 23"
_QUESTION = "".join(prompt(number) for number in range(3)) + "Day 13: first 17, then 23: "
"""A text that goes on with a span. Some 380 tokens: three blocks of a prefix cache on a CPU, and many on a GPU."""


def injection_seconds(driver: Driver, plain: VllmBackend, *, crowded: bool, number: int) -> list[float]:
    """From each close tag to the first token after its result, as the driver's reader sees them."""
    encode = driver.backend.tokenizer.encode_prompt
    others = [encode(f"Chapter {number}, part {i}. Once upon a time there") for i in range(NEIGHBOURS)]
    found: list[float] = []
    closed, injected = 0.0, False
    with (
        neighbours(plain.vllm, others, _LONG) if crowded else nullcontext(),
        closing(driver.stream(prompt(number), max_tokens=_TOKENS)) as events,
    ):
        for event in events:
            if isinstance(event, Evaluated):
                closed, injected = time.perf_counter(), False
            elif isinstance(event, Injected):
                injected = True
            elif isinstance(event, Text) and injected:
                found.append(time.perf_counter() - closed)
                injected = False
    return found


def calculation_seconds(driver: Driver) -> float:
    """From the request to the first token after the result, of an output that begins with a span."""
    start = time.perf_counter()
    injected = False
    with closing(driver.stream(_QUESTION, grammar=FreeText(("calc",)), max_tokens=64)) as events:
        for event in events:
            if isinstance(event, Injected):
                injected = True
            elif isinstance(event, Text) and injected:
                return time.perf_counter() - start
    raise ValueError("the output had no result")


def tool_call_seconds(driver: Driver, backend: VllmBackend) -> float:
    """The same by tool calls: the model writes a call, an evaluator answers, and in a second request, whose prompt
    begins with the first one's prompt and output, the model writes the value and the first token after it.

    The outputs have as many tokens as a call of the usual form with its end, and as the value; which ones they are
    makes no difference. What the evaluator takes, and the way between processes, are not counted.
    """
    engine, tokenizer = backend.vllm, backend.tokenizer
    rule = driver.registry.span("calc")
    outcome = driver.evaluators.evaluate(rule.evaluator, _EXPRESSION.encode(), rule)
    if not isinstance(outcome, Value):
        raise TypeError("the expression has a value")
    question = tokenizer.encode_prompt(_QUESTION)
    answer = tokenizer.encode(f"\n<tool_response>\n{outcome.text}\n</tool_response>\n".encode())
    call = json.dumps({"name": "calculate", "arguments": {"expression": _EXPRESSION}})
    size = len(tokenizer.encode(f"<tool_call>\n{call}\n</tool_call>".encode())) + 1

    value = len(tokenizer.encode(outcome.text.encode())) + 1
    # A bias keeps the model from ending before its time.
    sampling = SamplingParams(logit_bias=tuple((token, -100.0) for token in sorted(tokenizer.eos_ids)))

    async def once() -> float:
        start = time.perf_counter()
        output: list[int] = []
        async for completion in engine.outputs(question, engine.params(sampling, size, 0, {})):
            output += completion.token_ids
        extended = [*question, *output, *answer]
        async for _ in engine.outputs(extended, engine.params(sampling, value, 0, {})):
            pass
        return time.perf_counter() - start

    return engine.submit(once()).result()
