"""Options: which value each has, and which are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from evaluators.guests import guest

from evalspan.evaluators import Evaluators, Option, OptionError, Value
from evalspan.evaluators.options import option_values
from evalspan.policies import Limits, Registry

OPTIONS = (
    Option(name="max_depth", default=32, minimum=2, maximum=64),
    Option(name="precision", default=15, minimum=1, maximum=34),
)
# Answers its second option as one digit, if its input is as long as the host says.
DIGIT = """
(module
  (memory (export "memory") 1 1)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (i32.store8 (i32.const 2049) (i32.add (i32.const 0x30) (i32.load (i32.const 1028))))
    (i64.const 0x200000800)))
"""


def test_policy_options_come_from_the_limits_and_others_from_the_registry() -> None:
    assert option_values("x", OPTIONS, {"precision": 20}, Limits(max_depth=8)) == (8, 20)


def test_an_option_that_is_not_set_has_its_default() -> None:
    assert option_values("x", OPTIONS, {}, Limits()) == (32, 15)


def test_a_limit_above_what_the_evaluator_declares_is_cut_to_that() -> None:
    narrow = (Option(name="max_depth", default=4, maximum=5),)
    assert option_values("x", narrow, {}, Limits(max_depth=32)) == (5,)


@pytest.mark.parametrize(
    ("chosen", "depth", "option", "reason"),
    [
        ({"precison": 3}, 32, "precison", "unknown; it takes precision"),
        ({"max_depth": 3}, 32, "max_depth", "policy"),
        ({"precision": 0}, 32, "precision", "from 1 to 34"),
        ({"precision": 35}, 32, "precision", "from 1 to 34"),
        ({}, 1, "max_depth", "the least that the evaluator can keep is 2"),
    ],
)
def test_an_option_out_of_place_is_refused_and_named(
    chosen: dict[str, int], depth: int, option: str, reason: str
) -> None:
    with pytest.raises(OptionError, match=reason) as error:
        option_values("x", OPTIONS, chosen, Limits(max_depth=depth))
    assert error.value.option == option


@pytest.mark.parametrize("sandbox", ["fast", "portable"])
def test_options_reach_the_guest_before_the_input(sandbox: str, tmp_path: Path) -> None:
    options = [{"name": "max_depth", "default": 1}, {"name": "digit", "default": 7, "maximum": 9}]
    tmp_path.joinpath("digit.wasm").write_bytes(guest(DIGIT, options=options))
    text = 'version = 1\n[[evaluator]]\nname = "d"\nmodule = "digit.wasm"\n'
    for chosen, answer in (("", "7"), ("options = { digit = 3 }\n", "3")):
        with Evaluators(Registry.parse(text + chosen, folder=tmp_path), sandbox=sandbox) as evaluators:  # type: ignore[arg-type]
            outcome = evaluators.evaluate("d", b"anything")
            assert isinstance(outcome, Value) and outcome.text == answer
            info = evaluators.describe("d")
            assert info.values == (32, int(answer))
