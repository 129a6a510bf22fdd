"""Nothing of one evaluation is visible to the next: neither in answers nor in memory, fuel included."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources

import pytest
import tomli
from hypothesis import given, settings
from hypothesis import strategies as st

from evalspan.evaluators import Evaluators, Failure
from evalspan.evaluators.binary import sections
from evalspan.evaluators.restored import RestoredGuest
from evalspan.policies import ErrorCode, Registry

REGISTRY = Registry.load()
INPUTS = st.one_of(
    st.sampled_from(
        [b"17 * 23 + 91", b"1/0", b"2**3000/3**600", b"sqrt(2)", b"factorial(300)", b"", b"((((1))))", b"9**9**9"]
    ),
    st.text("0123456789+-*/%().^ sqrtmax,", max_size=40).map(str.encode),
    st.binary(max_size=40),
)


@pytest.fixture(scope="module")
def evaluators() -> Iterator[Evaluators]:
    """The default registry on the fast path."""
    with Evaluators(REGISTRY, sandbox="fast") as opened:
        yield opened


def restored(evaluators: Evaluators, name: str) -> RestoredGuest:
    """The guest behind an evaluator of the default registry."""
    guest = evaluators._bind(name, None)._run.__self__  # type: ignore[attr-defined]
    assert isinstance(guest, RestoredGuest)
    return guest


def vector_inputs(name: str) -> list[bytes]:
    """The inputs of the conformance vectors of an operator."""
    text = resources.files("evalspan.conformance").joinpath("vectors", f"{name}.toml").read_text("utf-8")
    return [case["input"].encode() for case in tomli.loads(text)["case"] if isinstance(case.get("input"), str)]


@pytest.fixture(scope="module")
def others() -> Iterator[tuple[Evaluators, Evaluators]]:
    """The same module as somebody else's, with a fresh instance for each evaluation: fast, and portable."""
    with resources.as_file(resources.files("evalspan.evaluators").joinpath("modules")) as folder:
        text = 'version = 1\n[[evaluator]]\nname = "arithmetic"\nmodule = "arithmetic.wasm"\n'
        registry = Registry.parse(text, folder=folder)
        with Evaluators(registry, sandbox="fast") as fresh, Evaluators(registry, sandbox="portable") as portable:
            yield fresh, portable


@settings(max_examples=60, deadline=None)
@given(inputs=st.lists(INPUTS, min_size=2, max_size=6))
def test_answers_and_fuel_do_not_depend_on_what_came_before(evaluators: Evaluators, inputs: list[bytes]) -> None:
    forward = [evaluators.evaluate("arithmetic", data) for data in inputs]
    backward = [evaluators.evaluate("arithmetic", data) for data in reversed(inputs)]
    assert forward == backward[::-1]


@settings(max_examples=100, deadline=None)
@given(data=INPUTS)
def test_restored_fresh_and_portable_give_one_answer_with_one_fuel(
    evaluators: Evaluators, others: tuple[Evaluators, Evaluators], data: bytes
) -> None:
    restored, fresh, portable = (opened.evaluate("arithmetic", data) for opened in (evaluators, *others))
    assert restored == fresh == portable
    assert restored.fuel is not None and restored.fuel > 0


@pytest.mark.parametrize("name", sorted(entry.name for entry in REGISTRY.evaluators))
def test_no_module_writes_above_the_end_that_it_reports_nor_lets_the_order_of_inputs_show(
    evaluators: Evaluators, name: str
) -> None:
    inputs = vector_inputs(name)
    assert len(inputs) > 100
    guest = restored(evaluators, name)
    answers = {}
    for data in inputs:
        answers[data] = evaluators.evaluate(name, data)
        live = guest._live
        if live is not None:  # else its memory grew, and it is thrown away
            assert live.view[guest._dirty :] == guest._image[guest._dirty :]
            live.view[: guest._dirty] = guest._image[: guest._dirty]
            assert live.view == guest._image
    inputs.sort()  # another order
    assert all(evaluators.evaluate(name, data) == answers[data] for data in inputs)


def test_an_instance_that_ran_out_of_fuel_is_not_used_again(evaluators: Evaluators) -> None:
    poor = Registry.parse(
        'version = 1\n[[evaluator]]\nname = "a"\nbuiltin = "arithmetic/1"\npolicy = { fuel = 20000 }\n'
    )
    with Evaluators(poor, sandbox="fast") as opened:
        expected = opened.evaluate("a", b"1+1")
        guest = opened._bind("a", None)._run.__self__  # type: ignore[attr-defined]
        for _ in range(3):
            outcome = opened.evaluate("a", b"2**3000/3**600")
            assert isinstance(outcome, Failure)
            assert (outcome.code, outcome.fuel) == (ErrorCode.FUEL_EXHAUSTED, 20000)
            assert guest._live is None
            assert opened.evaluate("a", b"1+1") == expected


@pytest.mark.parametrize("name", sorted(entry.name for entry in REGISTRY.evaluators))
def test_an_audited_module_has_one_mutable_global_and_no_instruction_that_writes_a_table(name: str) -> None:
    with Evaluators(REGISTRY, sandbox="fast") as opened:
        opened.describe(name)
        code = opened._shared.files.get(REGISTRY.evaluator(name)).code
    (section,) = (section for section in sections(code) if section.number == 6)
    content = code[section.start : section.end]
    # Each global: its type (0x7f, i32), 1 if it is mutable, `i32.const`, a number, `end`.
    count, at, mutable = content[0], 1, 0
    for _ in range(count):
        assert content[at] == 0x7F and content[at + 2] == 0x41
        mutable += content[at + 1]
        at = content.index(0x0B, at + 3) + 1
    assert (at, mutable) == (len(content), 1)
    # A table is written by instructions of the reference types only, and those need a declared function.
    assert not any(section.number == 9 and _declares(code[section.start : section.end]) for section in sections(code))


def _declares(elements: bytes) -> bool:
    """Whether an element section has a segment that is passive or declared, which only such instructions use."""
    return elements[1] & 1 == 1
