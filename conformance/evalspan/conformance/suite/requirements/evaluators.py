"""What evaluators answer, and what an evaluation leaves behind: nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from evalspan.conformance.differential import Tally, compare, pair
from evalspan.conformance.runtimes import on_runtime
from evalspan.conformance.suite.outcome import Unsupported, expect
from evalspan.conformance.suite.requirement import Requirement
from evalspan.conformance.suite.scripts import registry
from evalspan.conformance.suite.subject import Subject
from evalspan.conformance.vectors import builtin_suites, comparable, run
from evalspan.evaluators import Evaluators, EvaluatorUnavailable, Failure, Outcome, RuntimeName, Value
from evalspan.policies import ErrorCode

__all__ = ["REQUIREMENTS"]

_INPUTS = 300
"""Random inputs of each operator: enough to notice that something is broken at all. `conformance differential` runs
millions."""

_HOSTILE = (b"9**9**9", b"(" * 400, b"1/0", b"x" * 600, b"max(", b"7" * 500)
"""Inputs that end in every way but a value: size, depth, division, length, syntax; and one of five hundred digits."""

_TIMES = 40
"""Evaluations in a row; with the fuel of three, what is not given anew is missing at once."""


def _vectors(runtime: RuntimeName) -> None:
    with _installed():
        for spec, suite in builtin_suites().items():
            with on_runtime(spec, runtime) as evaluate:
                results = run(suite.cases, evaluate)
            wrong = [str(result) for result in results if not result.passed]
            expect(results and not wrong, f"{spec}: {len(wrong)} of {len(results)} vectors fail: {wrong[:3]}")


def _agreement(subject: Subject) -> None:
    with _installed():
        for spec in builtin_suites():
            tally = Tally(0)
            with pair(spec) as both:
                compare(spec, both, tally, seed=7, count=_INPUTS)
            found = tally.disagreement
            expect(found is None and tally.compared == _INPUTS, f"{spec}: {found}")


def _stateless(subject: Subject) -> None:
    for runtime in ("wasm", "in_process"):
        with Evaluators(registry(), runtime) as fresh:
            first = fresh.evaluate("arithmetic", b"17 * 23 + 91")
        with Evaluators(registry(), runtime) as used:
            for hostile in _HOSTILE:
                used.evaluate("arithmetic", hostile)
                again = used.evaluate("arithmetic", b"17 * 23 + 91")
                expect(_told(again) == _told(first), f"{runtime}: {again} after {hostile[:20]!r}, {first} before it")


def _full_fuel(subject: Subject) -> None:
    with Evaluators(registry(), "wasm") as evaluators:
        one = evaluators.evaluate("arithmetic", b"17 * 23 + 91")
    expect(isinstance(one, Value) and one.fuel, f"{one}: an evaluation in the sandbox says what fuel it took")
    with Evaluators(registry(f"fuel = {3 * (one.fuel or 0)}"), "wasm") as evaluators:
        answers = {_told(evaluators.evaluate("arithmetic", b"17 * 23 + 91")) for _ in range(_TIMES)}
    expect(answers == {_told(one)}, f"{_TIMES} times the same input: {answers}")


def _limits(subject: Subject) -> None:
    cases = (
        ("max_input_bytes = 8", b"1 + 1 + 1 + 1", ErrorCode.TOO_LONG),
        ("max_depth = 2", b"((((1))))", ErrorCode.TOO_DEEP),
        ("max_digits = 4", b"99999 * 1", ErrorCode.TOO_LARGE),
        ("fuel = 50", b"17 * 23 + 91", ErrorCode.FUEL_EXHAUSTED),
        ("max_result_bytes = 4", b"12345678 * 10", ErrorCode.TOO_LARGE),
    )
    for policy, data, code in cases:
        with Evaluators(registry(policy), "wasm") as evaluators:
            answer = evaluators.evaluate("arithmetic", data)
        # A result that is too long may be the guest's own error or the policy's.
        wanted = {code, ErrorCode.REFUSED} if "result" in policy else {code}
        expect(isinstance(answer, Failure) and answer.code in wanted, f"{data!r} under {policy}: {answer}")


def _told(outcome: Outcome) -> tuple[object, ...]:
    return (*comparable(outcome), outcome.fuel)


@contextmanager
def _installed() -> Iterator[None]:
    try:
        yield
    except EvaluatorUnavailable as error:
        raise Unsupported(str(error)) from None


REQUIREMENTS = (
    Requirement(
        "EVS-EVL-01", "the operator vectors hold in the sandbox", lambda subject: _vectors("wasm"), shared=True
    ),
    Requirement(
        "EVS-EVL-02", "the operator vectors hold in the reference", lambda subject: _vectors("in_process"), shared=True
    ),
    Requirement("EVS-EVL-03", "sandbox and reference agree on random inputs", _agreement, shared=True),
    Requirement(
        "EVS-EVL-04", "an evaluation leaves nothing to the next, whatever became of it", _stateless, shared=True
    ),
    Requirement(
        "EVS-EVL-05", "each evaluation has all of its fuel, and the same input takes the same", _full_fuel, shared=True
    ),
    Requirement("EVS-EVL-06", "each limit of an evaluation holds, as a typed error", _limits, shared=True),
)
