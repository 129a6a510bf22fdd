"""The vocabulary as the driver relies on it."""

from __future__ import annotations

from evalspan.conformance.suite.outcome import Unsupported, expect
from evalspan.conformance.suite.requirement import Requirement
from evalspan.conformance.suite.subject import Subject
from evalspan.orchestrator.backend import TextEngine, Tokenizer

__all__ = ["REQUIREMENTS"]

_TEXTS = (
    "<result>482</result>",
    "<result>2024-02-29</result>",
    " a  b\n\tc ",
    "é 😀 ß 漢字",
    "</calc>",
    "<result_error>x: y</result_error>",
)


def _tokenizer(subject: Subject) -> Tokenizer:
    if isinstance(subject.backend.engine, TextEngine):
        raise Unsupported("the server keeps its vocabulary")
    return subject.backend.tokenizer


def _spelt(subject: Subject) -> None:
    tokenizer = _tokenizer(subject)
    for text in _TEXTS:
        tokens = tokenizer.encode(text.encode())
        spelt = b"".join(tokenizer.pieces[token] for token in tokens)
        expect(spelt == text.encode(), f"the tokens of {text!r} spell {spelt!r}")


def _control(subject: Subject) -> None:
    tokenizer = _tokenizer(subject)
    size = len(tokenizer.pieces)
    expect(tokenizer.eos_ids, "no token ends a generation")
    for token in tokenizer.eos_ids | tokenizer.special_ids:
        expect(0 <= token < size, f"control token {token} is not in the vocabulary of {size}")
        expect(not tokenizer.pieces[token], f"control token {token} spells {tokenizer.pieces[token]!r}")
    expect(
        len(tokenizer.digest) == 64 and int(tokenizer.digest, 16), f"the identity {tokenizer.digest!r} is no SHA-256"
    )


REQUIREMENTS = (
    Requirement("EVS-TOK-01", "the tokens of a text spell it, and add nothing", _spelt),
    Requirement("EVS-TOK-02", "control tokens spell nothing, and one of them ends a generation", _control),
)
