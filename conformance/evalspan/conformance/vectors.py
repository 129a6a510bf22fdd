"""Operator vectors: data files of inputs with the answers that every implementation must give.

A file is TOML. Its head names the specification, the functions and error codes that it must cover, the repairs
that the lint may try, and what each flag means; then comes one `[[case]]` per vector::

    spec = "roman/1"
    functions = ["upper"]
    errors = ["syntax"]
    repairs = ["", "I"]
    [notes]
    several-faults = "more than one error applies; the case fixes which one is reported"
    [[case]]
    id = "four"
    comment = "subtractive"
    input = "IV"
    value = "4"

A case has `input` (text, or a list of `[unit, times]` for a long one) or `input_hex` (bytes that are not UTF-8),
and `value` (in the same two forms) or `error = { code = "…", offset = n }`. Optional: `exact = false`, `options`,
`flags`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import tomli

from evalspan.evaluators.in_process import OptionSpec
from evalspan.evaluators.outcome import Failure, Outcome, Value
from evalspan.policies.errors import ErrorCode, EvalspanError

__all__ = [
    "Case",
    "Evaluate",
    "Result",
    "Suite",
    "VectorError",
    "builtin_suites",
    "comparable",
    "described",
    "lint",
    "load",
    "run",
    "several_faults",
]

Evaluate = Callable[[bytes, Mapping[str, int]], Outcome]
"""An implementation: the raw input and the options that differ from their defaults, to an answer."""

SEVERAL_FAULTS = "several-faults"
"""The flag of an invalid case in which more than one error applies."""

LONG_PIECE = "long-piece"
"""The flag of an invalid case whose offending piece is over 32 bytes, so that it is not known where it ends."""


class VectorError(EvalspanError):
    """A file of vectors that cannot be read; `where` is its name and the case's id or number."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"{where}: {message}")
        self.where = where


@dataclass(frozen=True, slots=True)
class Case:
    """One input and its answer. `expected` has an empty message and no fuel: neither is compared."""

    id: str
    comment: str
    data: bytes
    expected: Outcome
    options: Mapping[str, int]
    flags: frozenset[str]


@dataclass(frozen=True, slots=True)
class Suite:
    """The vectors of one specification; `notes` explains each flag, `repairs` are for `several_faults`."""

    spec: str
    functions: tuple[str, ...]
    errors: tuple[ErrorCode, ...]
    repairs: tuple[bytes, ...]
    notes: Mapping[str, str]
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """What an implementation answered to a case."""

    case: Case
    outcome: Outcome

    @property
    def passed(self) -> bool:
        """Whether the value and its exactness, or the code and the offset, are the expected ones."""
        return comparable(self.outcome) == comparable(self.case.expected)

    def __str__(self) -> str:
        if self.passed:
            return f"{self.case.id}: passed"
        wanted, got = described(self.case.expected), described(self.outcome)
        return f"{self.case.id}: {self.case.data[:80]!r} should give {wanted}, gave {got}"


def run(cases: Iterable[Case], evaluate: Evaluate) -> list[Result]:
    """The answers of an implementation, in the order of the cases."""
    return [Result(case, evaluate(case.data, case.options)) for case in cases]


def comparable(outcome: Outcome) -> tuple[object, ...]:
    """What implementations must agree on: text and exactness, or code and offset."""
    if isinstance(outcome, Value):
        return ("value", outcome.text, outcome.exact)
    return ("error", outcome.code, outcome.offset)


def described(outcome: Outcome) -> str:
    """An answer in a few words, without its message."""
    if isinstance(outcome, Value):
        return f"{outcome.text[:80]!r} ({'exact' if outcome.exact else 'rounded'})"
    return f"error {outcome.code.value} at {outcome.offset}"


def builtin_suites() -> dict[str, Suite]:
    """The vectors that ship with this package, by specification."""
    folder = files("evalspan.conformance").joinpath("vectors")
    paths = sorted((path for path in folder.iterdir() if path.name.endswith(".toml")), key=lambda path: path.name)
    suites = [load(path) for path in paths]
    return {suite.spec: suite for suite in suites}


def load(path: Traversable) -> Suite:
    """The vectors in a TOML file. Raises VectorError."""
    try:
        table = tomli.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # not TOML, or not UTF-8
        raise VectorError(path.name, str(error)) from error
    head = _Fields(path.name, table)
    suite = Suite(
        spec=head.take("spec", str),
        functions=tuple(head.take("functions", list)),
        errors=tuple(head.code(name) for name in head.take("errors", list)),
        repairs=tuple(repair.encode() for repair in head.take("repairs", list)),
        notes=head.take("notes", dict, {}),
        cases=tuple(_case(path.name, number, entry) for number, entry in enumerate(head.take("case", list), 1)),
    )
    head.finish()
    return suite


def _case(name: str, number: int, entry: dict[str, Any]) -> Case:
    fields = _Fields(f"{name}, case {entry.get('id', number)}", entry)
    if "input" in entry and "input_hex" not in entry:
        data = fields.text("input").encode()
    elif "input_hex" in entry and "input" not in entry:
        data = fields.data("input_hex")
    else:
        raise fields.objection("exactly one of input and input_hex")
    expected: Outcome
    if "value" in entry and "error" not in entry:
        expected = Value(fields.text("value"), fields.take("exact", bool, True))
    elif "error" in entry and "value" not in entry:
        error = _Fields(fields.where, fields.take("error", dict))
        expected = Failure(error.code(error.take("code", str)), "", error.take("offset", int))
        error.finish()
    else:
        raise fields.objection("exactly one of value and error")
    case = Case(
        id=fields.take("id", str),
        comment=fields.take("comment", str),
        data=data,
        expected=expected,
        options=fields.take("options", dict, {}),
        flags=frozenset(fields.take("flags", list, [])),
    )
    fields.finish()
    return case


class _Fields:
    """A table that is read key by key; what is left over at the end is a mistake."""

    def __init__(self, where: str, table: dict[str, Any]) -> None:
        self.where = where
        self._table = dict(table)

    def take(self, key: str, kind: type[Any], default: Any = None) -> Any:
        value = self._table.pop(key, default)
        if not isinstance(value, kind):
            raise self.objection(f"{key} of type {kind.__name__}")
        return value

    def text(self, key: str) -> str:
        value = self._table.pop(key)
        if isinstance(value, list):
            value = "".join(unit * times for unit, times in value)
        if not isinstance(value, str):
            raise self.objection(f"{key} as text or as a list of [unit, times]")
        return value

    def data(self, key: str) -> bytes:
        try:
            return bytes.fromhex(self.take(key, str))
        except ValueError:
            raise self.objection(f"{key} as pairs of hexadecimal digits") from None

    def code(self, name: str) -> ErrorCode:
        try:
            return ErrorCode(name)
        except ValueError:
            raise self.objection(f"an error code, not {name!r}") from None

    def finish(self) -> None:
        if self._table:
            raise VectorError(self.where, f"unknown keys: {', '.join(sorted(self._table))}")

    def objection(self, wanted: str) -> VectorError:
        return VectorError(self.where, f"needs {wanted}")


def lint(suite: Suite, options: Mapping[str, OptionSpec]) -> list[str]:
    """What is wrong with the vectors themselves, one sentence each; `options` are the specification's."""
    return [*_lint_cases(suite, options), *_lint_coverage(suite)]


def _lint_cases(suite: Suite, options: Mapping[str, OptionSpec]) -> Iterator[str]:
    ids: set[str] = set()
    questions: dict[tuple[object, ...], str] = {}
    for case in suite.cases:
        if case.id in ids:
            yield f"{case.id}: the id is taken"
        ids.add(case.id)
        if not case.comment:
            yield f"{case.id}: no comment"
        question = (case.data, *sorted(case.options.items()))
        if question in questions:
            yield f"{case.id}: asks the same as {questions[question]}"
        questions[question] = case.id
        for name, value in case.options.items():
            spec = options.get(name)
            if spec is None or not spec.minimum <= value <= spec.maximum:
                yield f"{case.id}: {name} = {value} is not an option or not in its range"
        for flag in case.flags - suite.notes.keys():
            yield f"{case.id}: the flag {flag} has no note"
        if isinstance(case.expected, Failure):
            if case.expected.code not in suite.errors:
                yield f"{case.id}: {case.expected.code.value} is not an error of {suite.spec}"
            if not 0 <= case.expected.offset <= len(case.data):
                yield f"{case.id}: the offset is outside the input"


def _lint_coverage(suite: Suite) -> Iterator[str]:
    for flag in suite.notes.keys() - {flag for case in suite.cases for flag in case.flags}:
        yield f"the note {flag} is of no case"
    for code in suite.errors:
        if code.from_host_only:
            yield f"{code.value} is the host's: no vector may reach it"
        if not any(isinstance(case.expected, Failure) and case.expected.code is code for case in suite.cases):
            yield f"no case has the error {code.value}"
    for name in suite.functions:
        for kind, what in ((Value, "value"), (Failure, "error")):
            calls = (case for case in suite.cases if isinstance(case.expected, kind))
            if not any(f"{name}(".encode() in case.data for case in calls):
                yield f"no case with a call of {name} has {what} as its answer"


def several_faults(suite: Suite, evaluate: Evaluate, options: Mapping[str, OptionSpec]) -> list[str]:
    """The ids of invalid cases without a flag in which no one repair gives a value: two faults, or none.

    A repair puts a text of `suite.repairs` before the offending piece or in its place; for `too_long`,
    `too_deep` and `too_large` it may raise the limits to their maxima instead. One that is enough shows that
    there was one fault. `evaluate` says where the piece is.
    """
    widest = {name: spec.maximum for name, spec in options.items() if name.startswith("max_")}
    suspects = []
    for case in suite.cases:
        outcome = evaluate(case.data, case.options)
        if isinstance(outcome, Value) or case.flags & {SEVERAL_FAULTS, LONG_PIECE}:
            continue
        before, after = case.data[: outcome.offset], case.data[outcome.offset :]
        # Bytes that are not UTF-8 cannot be quoted: there is no piece then, but at most 4 bytes to take out.
        widths = {0, outcome.piece_length} if outcome.piece_length else range(5)
        attempts = [(before + text + after[width:], case.options) for text in suite.repairs for width in widths]
        if outcome.code in (ErrorCode.TOO_LONG, ErrorCode.TOO_DEEP, ErrorCode.TOO_LARGE):
            attempts.append((case.data, {**case.options, **widest}))
        if not any(isinstance(evaluate(data, used), Value) for data, used in attempts):
            suspects.append(case.id)
    return suspects
