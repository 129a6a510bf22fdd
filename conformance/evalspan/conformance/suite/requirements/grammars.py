"""Outputs under a grammar: complete, in the language, with what the grammar binds; and grammars that are refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from evalspan.conformance.suite.outcome import expect
from evalspan.conformance.suite.requirement import MASKED, STEP, Requirement
from evalspan.conformance.suite.subject import Subject, step_subject
from evalspan.conformance.suite.toy import toy_backend
from evalspan.orchestrator import Driver, Grammar, GrammarError, JsonSchema, LarkText, Regex, Request, RequestError

__all__ = ["REQUIREMENTS"]

_PATTERN = "(ab|c){3}[0-9]{2}"

_UNENFORCED = ("uniqueItems", "contains", "not", "if", "dependentRequired", "propertyNames", "unevaluatedProperties")
"""Keywords of JSON Schema that no mask of today keeps."""


def _in_language(subject: Subject) -> None:
    with subject.driver() as driver:
        text = driver.generate(subject.prompt, grammar=Regex(_PATTERN), max_tokens=40).text
    expect(re.fullmatch(_PATTERN, text), f"{text!r} is no {_PATTERN}")


def _no_early_end(subject: Subject) -> None:
    step = step_subject(subject)
    said = step.steer([], grammar=Regex(_PATTERN), max_tokens=40)
    expect(re.fullmatch(_PATTERN, said.text), f"a model that wants to end at once has written {said.text!r}")
    expect(said.finished.reason == "eos", f"it ended with {said.finished.reason}")


def _bound_value(subject: Subject) -> None:
    schema = {
        "type": "object",
        "properties": {
            "e": {"type": "string", "pattern": "^17 [*] 23$"},
            "v": {"type": "integer", "x-evalspan": {"evaluator": "arithmetic", "input": "/e"}},
        },
        "required": ["e", "v"],
        "additionalProperties": False,
    }
    with subject.driver() as driver:
        generation = driver.generate(subject.prompt, grammar=JsonSchema(schema), max_tokens=80)
    expect(json.loads(generation.text) == {"e": "17 * 23", "v": 391}, generation.text)
    kinds = [block.kind for block in generation.injections]
    expect(kinds == ["bound"], f"injections: {kinds}")


def _refused_keywords(subject: Subject) -> None:
    values = {"uniqueItems": True, "dependentRequired": {"a": ["b"]}, "unevaluatedProperties": False}
    with Driver(toy_backend()) as driver:
        for keyword in _UNENFORCED:
            schema = {"type": ["array", "object"], keyword: values.get(keyword, {"type": "integer"})}
            try:
                driver.check(Request("go", grammar=JsonSchema(schema)))
            except GrammarError as error:
                expect(keyword in str(error), f"{keyword}: the error does not name it: {error}")
            else:
                expect(False, f"a schema with {keyword} was taken, and nothing keeps it")


def _escapes(subject: Subject) -> None:
    """Of a backslash in a JSON string: one spelling for each text, so no code points, and nothing that JSON has not."""
    with Driver(toy_backend()) as driver:
        for schema in ({"type": "string"}, {"type": "string", "maxLength": 9}):
            machine = driver.machine(Request("go", grammar=JsonSchema(schema)))
            for byte in b'"\\':
                machine.advance(byte)
            mask = machine.mask()
            got = {chr(byte) for byte in range(256) if mask is None or mask[byte]}
            expect(got == set('bfnrt\\"'), f"after a backslash in {schema} may come {sorted(got)}")


def _two_vocabularies(subject: Subject) -> None:
    """The same grammar on two vocabularies in one process, in turns, and two grammars on one."""
    first, second = toy_backend(), toy_backend()
    second.tokenizer.pieces = (*second.tokenizer.pieces[:257], *reversed(second.tokenizer.pieces[257:]))
    with Driver(first) as one, Driver(second) as other:
        for pattern in ("(abc|ab)c1", "(The | is )and "):
            for driver in (one, other, one):
                allowed = driver.machine(Request("go", grammar=Regex(pattern))).mask()
                pieces = driver.backend.tokenizer.pieces
                starts = {b"a", b"ab", b"abc"} if pattern.startswith("(abc") else {b"T", b"The ", b" ", b" is "}
                got = {pieces[token] for token in range(len(pieces)) if allowed is None or allowed[token]}
                expect(got == starts, f"{pattern}: {sorted(got)} may come first, it should be {sorted(starts)}")


def _refused(subject: Subject) -> None:
    """What cannot be masked is refused, and what does not compile."""
    with subject.driver() as driver:
        makers: tuple[Callable[[], Grammar], ...] = (
            lambda: Regex("(a"),
            lambda: LarkText("start: missing\n"),
            lambda: JsonSchema({"type": "nothing"}),
        )
        for number, make in enumerate(makers):
            try:
                driver.check(Request(subject.prompt, grammar=make()))
            except (GrammarError, RequestError) as error:
                expect("\n" not in str(error).strip() and str(error), f"no line for a user: {error!r}")
            else:
                expect(False, f"grammar {number} was taken")


REQUIREMENTS = (
    Requirement("EVS-GRM-01", "what a model says under a grammar is in its language", _in_language, MASKED),
    Requirement("EVS-GRM-02", "an output does not end before its grammar does", _no_early_end, STEP),
    Requirement("EVS-GRM-03", "a value that a JSON schema binds is forced, and right", _bound_value, MASKED),
    Requirement(
        "EVS-GRM-04", "a keyword that cannot be enforced is refused by its name", _refused_keywords, shared=True
    ),
    Requirement("EVS-GRM-05", "one grammar on two vocabularies has two masks", _two_vocabularies, shared=True),
    Requirement("EVS-GRM-06", "a grammar that does not compile, or that cannot be kept, is refused", _refused),
    Requirement("EVS-GRM-07", "a JSON string has the escapes of JSON and no others", _escapes, shared=True),
)
