"""Every oracle objects to a wrong answer, and is silent about right ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from evalspan.conformance.fuzz.oracles import every_time, in_turn
from evalspan.conformance.fuzz.oracles.agreement import reference
from evalspan.conformance.fuzz.oracles.fuel import stated_bound
from evalspan.conformance.fuzz.oracles.trial import Subject, Trial
from evalspan.conformance.generators import GENERATORS
from evalspan.conformance.vectors import Evaluate
from evalspan.evaluators import Failure, Outcome, Value
from evalspan.evaluators.in_process import load_reference
from evalspan.policies import ErrorCode

CODES = frozenset(code for code in ErrorCode if not code.from_host_only)


def right(spec: str) -> Evaluate:
    """The reference, with some fuel."""
    evaluate = load_reference(spec).evaluate
    return lambda data, options: replace(evaluate(data, options), fuel=1000)


def trial(
    spec: str,
    data: str | bytes,
    *,
    ask: Evaluate | None = None,
    outcome: Outcome | None = None,
    options: Mapping[str, int] | None = None,
    injected: Evaluate | None = None,
    allowed: frozenset[ErrorCode] = frozenset(),
) -> Trial:
    raw, chosen, used = data if isinstance(data, bytes) else data.encode(), ask or right(spec), options or {}
    subject = Subject(spec, chosen, right(spec), injected or chosen, right(spec), CODES, allowed, 10**9)
    return Trial(subject, raw, used, outcome or chosen(raw, used))


def named(spec: str) -> dict[str, Callable[[Trial], object]]:
    return {**every_time(has_twin=True), "reference": reference, **in_turn(spec)}


@pytest.mark.parametrize(
    ("oracle", "outcome", "cause"),
    [
        ("trap", Failure(ErrorCode.INTERNAL, "the evaluator trapped: unreachable code"), "unreachable"),
        ("trap", Failure(ErrorCode.MEMORY_EXHAUSTED, "more than 32 pages"), "memory_exhausted"),
        ("error code", Failure(ErrorCode.OVER_BUDGET, ""), "over_budget"),
        ("error code", Failure(ErrorCode.SYNTAX, "", 9), "offset"),
        ("fuel bound", Value("1", fuel=10**8), "bound"),
        ("fuel bound", Failure(ErrorCode.FUEL_EXHAUSTED, "", fuel=1), "bound"),
        ("result cap", Value("1" * 1025), "limit"),
        ("result cap", Failure(ErrorCode.REFUSED, "the text is not valid UTF-8"), "not valid UTF"),
        ("canonical result", Value("1.50"), "canonical"),
        ("canonical result", Value("-0"), "canonical"),
        ("canonical result", Value("1e5"), "canonical"),
        ("canonical result", Value("01"), "canonical"),
        ("two instances", Value("3"), "value then value"),
        ("two instances", Value("2", fuel=7), "fuel"),
        ("reference", Value("3", fuel=1000), "value for value"),
        ("reference", Value("2", exact=False), "value for value"),
        ("reference", Failure(ErrorCode.SYNTAX, "", 0), "syntax for value"),
        ("two runs", Value("3", fuel=1000), "value then value"),
        ("result again", Value("2", exact=True), None),
    ],
)
def test_an_answer_that_cannot_be_right_is_objected_to(oracle: str, outcome: Outcome, cause: str | None) -> None:
    objection = named("arithmetic/1")[oracle](trial("arithmetic/1", "1+1", outcome=outcome))
    if cause is None:
        assert objection is None
    else:
        assert cause in objection.cause  # type: ignore[attr-defined]


@pytest.mark.parametrize("code", [ErrorCode.MEMORY_EXHAUSTED, ErrorCode.FUEL_EXHAUSTED, ErrorCode.REFUSED])
def test_what_the_user_allows_is_no_objection(code: ErrorCode) -> None:
    tried = trial("arithmetic/1", "1+1", outcome=Failure(code, ""), allowed=frozenset({code}))
    assert [name for name, oracle in every_time(has_twin=False).items() if oracle(tried)] == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a<result>5</result>", "a tag"),
        ("a\x07", "a control character"),
        ("\x9f", "a control character"),
        ("x" * 1025, "limit"),
    ],
)
def test_a_text_that_would_be_injected_is_judged_by_itself(text: str, says: str) -> None:
    for injected in (Value(text), Failure(ErrorCode.SYNTAX, text)):
        objection = in_turn("strings/1")["injected text"](trial("strings/1", "1", injected=lambda *_: injected))  # noqa: B023
        assert objection is not None
        assert says in objection.cause


def test_the_bounds_are_those_of_the_specifications() -> None:
    assert stated_bound(trial("dates/1", "x" * 100)) == 5_000 + 800 * 100
    assert stated_bound(trial("checksums/1", "x" * 100)) == 20_000 + 270 * 100
    assert stated_bound(trial("strings/1", "x", options={"max_result_bytes": 2048})) == 20_000 + 5_000 + 36 * 2048


RELATIONS: list[tuple[str, str, str, Callable[[bytes, Outcome], Outcome]]] = [
    ("arithmetic/1", "white space", "1+1", lambda data, out: Value("9") if data[:1].isspace() else out),
    ("arithmetic/1", "white space", "1+", lambda data, out: replace(out, offset=0) if data[:1].isspace() else out),
    ("arithmetic/1", "parentheses", "2*3", lambda data, out: Value("9") if data[:1] == b"(" else out),
    ("arithmetic/1", "result again", "1/8", lambda data, out: Value("0.12") if data == b"0.125" else out),
    (
        "arithmetic/1",
        "commutes",
        "7",
        lambda data, out: Value("9") if data.startswith((b"(7)", b"min((7)", b"max((7)", b"sum((7)")) else out,
    ),
    (
        "arithmetic/1",
        "undoes",
        "7",
        lambda data, out: Value("9") if data != b"(7)" and data != b"-(7)" and data != b"0" else out,
    ),
    ("arithmetic/1", "quotient and remainder", "7", lambda data, out: Value("9") if b"//" in data else out),
    (
        "arithmetic/1",
        "rounding",
        "7.5",
        lambda data, out: Value("9") if b"(7.5)" in data and data[:1] != b"-" and data[-1:] == b")" else out,
    ),
    (
        "strings/1",
        "quoted result",
        'upper("ab")',
        lambda data, out: Value("A") if data.startswith(b"concat") else out,
    ),
    ("strings/1", "lengths", 'concat("ab")', lambda data, out: Value("3") if data.startswith(b"bytes") else out),
    ("strings/1", "slices", 'concat("ab")', lambda data, out: Value("x") if data.startswith(b"nth") else out),
    ("strings/1", "searches", 'concat("ab")', lambda data, out: Value("-1") if data.startswith(b"find") else out),
    ("strings/1", "orders", 'concat("ab")', lambda data, out: Value("3") if data.startswith(b"codepoints") else out),
    (
        "dates/1",
        "there and back",
        "2024-01-31",
        lambda data, out: Value("2024-01-30") if b" - " in data or b"add" in data else out,
    ),
    ("dates/1", "between", "2024-01-31", lambda data, out: Value("2") if data.startswith(b"days_between") else out),
    ("dates/1", "weekdays", "2024-01-31", lambda data, out: Value("8") if data.startswith(b"days_between") else out),
    ("dates/1", "durations", "P1D", lambda data, out: Value("P1D") if data == b"(P1D) - (P1D)" else out),
    ("dates/1", "result again", "1 day", lambda data, out: Value("P2D") if data == b"P1D" else out),
    (
        "checksums/1",
        "check digit",
        'luhn_digit("7992739871")',
        lambda data, out: Value("false") if b"valid" in data else out,
    ),
    (
        "checksums/1",
        "check digit",
        'iban_digits("GB", "WEST12345698765432")',
        lambda data, out: Value("false") if b"valid" in data else out,
    ),
    ("checksums/1", "one wrong digit", 'damm_valid("5724")', lambda data, out: Value("true")),
    ("checksums/1", "linear", 'crc32("abc")', lambda data, out: Value("00000001") if b"abc" in data else out),
    ("checksums/1", "remainder", 'mod97("98")', lambda data, out: Value("2")),
]


@pytest.mark.parametrize(
    ("spec", "name", "data", "fault"), RELATIONS, ids=[f"{row[0][:-2]} {row[1]}" for row in RELATIONS]
)
def test_a_relation_that_does_not_hold_is_objected_to(
    spec: str, name: str, data: str, fault: Callable[[bytes, Outcome], Outcome]
) -> None:
    sound = right(spec)
    assert in_turn(spec)[name](trial(spec, data)) is None
    broken = in_turn(spec)[name](trial(spec, data, ask=lambda raw, options: fault(raw, sound(raw, options))))
    assert broken is not None
    assert broken.detail


def test_every_relation_of_every_operator_has_a_fault_above() -> None:
    tried = {(spec, name) for spec, name, _, _ in RELATIONS}
    for spec in GENERATORS:
        relations = set(in_turn(spec)) - {"two runs", "injected text"}
        generic = {"white space", "parentheses", "result again"}
        assert {(spec, name) for name in relations - generic} <= tried
    assert generic <= {name for _, name in tried}


def test_choices_of_a_relation_are_a_function_of_the_input() -> None:
    one, same, other = (trial("arithmetic/1", data).chance.random() for data in ("1+1", "1+1", "1+2"))
    assert one == same != other
