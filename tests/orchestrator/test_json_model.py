"""A real model under a schema: what it computes wrong elsewhere is right here."""

import json

import pytest
from json_support import bind, fields

from evalspan.orchestrator import Driver, Injected, JsonSchema, Message, SamplingParams
from evalspan.orchestrator.experiment import problems

pytestmark = pytest.mark.model

SCHEMA = fields(
    expression={"type": "string", "pattern": r"^[1-9][0-9]{0,2}( [-+*] [1-9][0-9]{0,2}){1,3}$"},
    answer={"type": "integer", "x-evalspan": bind(input="/expression")},
)


def test_the_answer_of_a_real_model_is_the_value_of_its_expression() -> None:
    example = Message("assistant", '{"expression": "17 * 23 + 91", "answer": 482}')
    with Driver.open("llama_cpp", context_tokens=512) as driver:
        for seed, problem in enumerate(problems(3, seed=5)):
            turns = [
                Message(
                    "user", "A box has 17 rows of 23 items, then 91 more are added. How many items are in the box?"
                ),
                example,
                Message("user", problem.question),
            ]
            sampling = SamplingParams(temperature=0.8, seed=seed)
            result = driver.generate(turns, grammar=JsonSchema(SCHEMA), sampling=sampling, max_tokens=64)
            assert result.reason == "eos", result.text
            read = json.loads(result.text)
            total, sign = 0, 1
            words = read["expression"].split(" ")
            product = int(words[0])
            for operator, number in zip(words[1::2], words[2::2], strict=True):
                if operator == "*":
                    product *= int(number)
                else:
                    total += sign * product
                    sign, product = (1 if operator == "+" else -1), int(number)
            assert read["answer"] == total + sign * product
            assert [(e.span, e.kind, e.text) for e in result.injections] == [("/answer", "bound", f" {read['answer']}")]
            assert all(isinstance(event, Injected) for event in result.injections)
