"""Plain text that the engine is not shown: every mask is that of a matcher which is shown every token."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest
from engine_support import installed
from hypothesis import given, settings
from hypothesis import strategies as st
from support import SHORT_TAGS

from evalspan.backends.scripted import EOS, ScriptedTokenizer
from evalspan.evaluators import Value
from evalspan.orchestrator import DecodeError, FreeText
from evalspan.orchestrator.engines import ENGINES, EngineName
from evalspan.orchestrator.machine import Force, SpanMachine, SpanPlan, Stop
from evalspan.orchestrator.matcher import CompiledGrammar, Mask, Matcher, Place, Vocabulary
from evalspan.policies import Registry

REGISTRY = Registry.parse(
    SHORT_TAGS
    + """
[[channel]]
name = "reasoning"
open = "<t>"
close = "</t>"
[[channel]]
name = "notes"
open = "<n>"
close = "</n>"
spans = true
[[channel]]
name = "code"
open = "```"
close = "```"
"""
)
PIECES = [
    *(
        b"<c>",
        b"</c>",
        b"<c>1",
        b"1</c>",
        b"<t>",
        b"</t>",
        b"x<t>y",
        b"<n>",
        b"</n>",
        b"<n><c>",
        b"</",
        b"<",
        b"``",
        b"```",
    ),
    *(
        b"</t><c>2",
        b"```<n>",
        b"<r>",
        b"</r>",
        "é".encode(),
        b"\xc3",
        b"\xa9",
        b"\xf0\x9f",
        b"\x98\x80",
        b"the ",
        b"1+1",
    ),
]
TOKENIZER = ScriptedTokenizer(PIECES)
TOKEN = {piece: token for token, piece in enumerate(TOKENIZER.pieces) if piece}
LIKELY = {TOKEN[piece] for piece in PIECES}
GRAMMARS = (FreeText(), FreeText(("calc",)))
AVAILABLE = [name for name in ENGINES if installed(name)]


class Twin(Matcher):
    """A matcher beside one that is told no place, and so takes every token at once."""

    def __init__(self, grammar: CompiledGrammar) -> None:
        super().__init__(grammar, grammar.matcher()._engine)
        self.eager = grammar.matcher()

    def mask(self, place: Place | None = None) -> Mask:
        allowed = super().mask(place)
        assert np.array_equal(allowed, self.eager.mask()), place
        return allowed

    def consume(self, token: int) -> None:
        super().consume(token)
        self.eager.consume(token)

    def inject(self, tokens: Sequence[int]) -> None:
        super().inject(tokens)
        self.eager.inject(tokens)

    def fork(self) -> Matcher:
        twin = super().fork()
        assert isinstance(twin, Twin)
        twin.eager = self.eager.fork()
        return twin


@cache
def grammars(engine: EngineName) -> tuple[CompiledGrammar, ...]:
    vocabulary = Vocabulary(TOKENIZER, engine)
    return tuple(CompiledGrammar(grammar.compile(REGISTRY, vocabulary.marks), vocabulary) for grammar in GRAMMARS)


def machine(matcher: Matcher, required: tuple[str, ...] = ()) -> SpanMachine:
    return SpanMachine(
        SpanPlan(REGISTRY),
        lambda name, content, rule: (Value("2"), 0.0),
        max_tokens=10_000,
        tokenizer=TOKENIZER,
        matcher=matcher,
        required=required,
    )


def step(output: SpanMachine, draw: Random) -> bool:
    """Write a token; tags and parts of them are more likely than letters. False at an end."""
    allowed = output.mask()
    assert allowed is not None
    tokens = [int(token) for token in np.flatnonzero(allowed) if token != EOS]
    likely = [token for token in tokens if token in LIKELY]
    action = output.advance(draw.choice(likely if likely and draw.random() < 0.8 else tokens))
    assert not isinstance(action, Stop)
    return isinstance(action, Force)


@pytest.mark.parametrize("engine", AVAILABLE)
@pytest.mark.parametrize("number", [0, 1])
@settings(max_examples=40, deadline=None)
@given(draw=st.randoms(use_true_random=True))
def test_every_mask_is_that_of_a_matcher_that_takes_every_token(engine: EngineName, number: int, draw: Random) -> None:
    output = machine(Twin(grammars(engine)[number]), GRAMMARS[number].required)
    injected = 0
    for _ in range(120):
        injected += step(output, draw)
    assert injected == output.spans


@pytest.mark.parametrize("engine", AVAILABLE)
@settings(max_examples=20, deadline=None)
@given(draw=st.randoms(use_true_random=True))
def test_a_copy_goes_on_by_itself(engine: EngineName, draw: Random) -> None:
    output = machine(Twin(grammars(engine)[0]))
    for _ in range(draw.randrange(40)):
        step(output, draw)
    copies = [output, output.fork(), output.fork()]
    for _ in range(60):
        step(draw.choice(copies), draw)


class Counted:
    """An engine's state that counts what it is asked."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.calls.append(name)
        return getattr(self.inner, name)


@pytest.mark.parametrize("engine", AVAILABLE)
def test_plain_text_costs_the_engine_nothing(engine: EngineName) -> None:
    grammar = grammars(engine)[0]
    matcher = grammar.matcher()
    output = machine(matcher)
    draw = np.random.default_rng(7)
    text = [TOKEN[piece] for piece in (b"<", b"the ", b"1+1", b"\xc3", b"\xa9", "é".encode())]
    matcher._engine = counted = Counted(matcher._engine)  # type: ignore[assignment]

    def write(count: int) -> None:
        for _ in range(count):
            allowed = output.mask()
            assert allowed is not None
            output.advance(int(draw.choice([token for token in text if allowed[token]])))

    write(200)  # the masks are computed
    counted.calls.clear()
    write(2_000)
    assert set(counted.calls) <= {"take_back"}
    assert len(matcher._waiting) < 100


@pytest.mark.parametrize("engine", AVAILABLE)
def test_a_token_that_the_mask_forbids_is_refused_in_waiting_text_too(engine: EngineName) -> None:
    matcher = grammars(engine)[0].matcher()
    place = Place(None, 0, b"")
    for token in b"some text":
        assert matcher.mask(place)[token]
        matcher.consume(token)
    matcher.mask(place)
    with pytest.raises(DecodeError, match="does not allow token"):
        matcher.consume(TOKEN[b"<r>"])


@pytest.mark.parametrize("engine", AVAILABLE)
@pytest.mark.parametrize("block", [b"2", b"<r>2</r>x<r>", b"<r><c></r>", b"<c>2</c>"])
def test_an_injection_that_is_no_result_is_refused_after_waiting_text_too(engine: EngineName, block: bytes) -> None:
    matcher = grammars(engine)[0].matcher()
    matcher.mask(Place(None, 0, b""))
    for token in b"<c>1</c>":
        matcher.consume(token)
    with pytest.raises(DecodeError, match="does not allow this result"):
        matcher.inject(list(block))
