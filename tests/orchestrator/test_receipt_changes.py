"""Whatever is changed in a receipt is found, also where every hash in it was computed anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from receipt_support import REGISTRY, Changed, changes, leaves, rehashed, scripted, spelt

from evalspan.backends.scripted import ScriptedBackend
from evalspan.orchestrator import JsonSchema, Message, Regex, Restate, SamplingParams, Sentence, SpanPart
from evalspan.orchestrator.receipts import TOLERANCE, Receipt, ReceiptError, Verifier, read_receipt, write_receipt
from evalspan.orchestrator.receipts.canonical import canonical

PIECES = [
    b"<calc>",
    b"</calc>",
    b"<result>",
    b"</result>",
    b"<result_error>",
    b"</result_error>",
    b"_zero: the divisor is ",
]
"""With tokens for whole tags there are fewer places to change."""

COIN = {"<calc>": 1.0, "so": 8.5, ".": 7.2, "g": 7.9}
SCHEMA = JsonSchema(
    {
        "type": "object",
        "properties": {
            "e": {"type": "string"},
            "a": {"type": "integer", "x-evalspan": {"evaluator": "arithmetic", "input": "/e"}},
        },
        "required": ["e", "a"],
        "additionalProperties": False,
    }
)


def script(*tokens: Any) -> Callable[[], ScriptedBackend]:
    return lambda: ScriptedBackend.replay(tokens, vocabulary=PIECES)


CASES: dict[str, tuple[Callable[[], ScriptedBackend], dict[str, Any]]] = {
    "free text with an error": (script("a", "<calc>", "1/0", "</calc>", "!"), {"prompt": [Message("user", "hi")]}),
    "drawn at random": (
        script(COIN, "<calc>", "2", "</calc>", COIN, COIN, COIN),
        {"sampling": SamplingParams(temperature=0.8, top_p=0.99, seed=3, repetition_penalty=1.2), "max_tokens": 40},
    ),
    "overshoot without a mask": (script("<calc>", "2+3", "</calc>.", "x"), {"mode": "no-grammar"}),
    "the model writes the result": (
        script("<calc>", "2", "</calc>", *spelt("<result>3</result>")),
        {"mode": "grammar-no-eval"},
    ),
    "a stop string": (script("<calc>", "2", "</calc>", "x\n", "\nlo"), {"stop": ("never", "\n\n"), "keep_stop": True}),
    "cut off": (script("<calc>", "2", "</calc>", "x", "y", "z"), {"max_tokens": 26}),
    "a restated result": (
        script("X=", "<calc>", "2", "</calc>", "."),
        {"grammar": Sentence(("X=", SpanPart("calc"), " ", Restate("calc", "[0-9]+"), "."))},
    ),
    "a bound value": (script(*spelt('{"e": "2+3", "a":}')), {"grammar": SCHEMA}),
    "no span": (script("b", "a"), {"grammar": Regex("[a-c]{1,3}")}),
}


LONG = ("the model writes the result", "cut off", "a restated result", "a bound value")


@pytest.mark.parametrize("case", [pytest.param(c, marks=pytest.mark.long) if c in LONG else c for c in CASES])
def test_every_change_is_found_with_hashes_computed_anew(case: str) -> None:
    make, options = CASES[case]
    receipt, tried, missed = scripted(make, **options)[1], 0, []
    backend = make()
    with Verifier(backend.tokenizer, REGISTRY, engine=backend.engine) as verifier:  # type: ignore[arg-type]
        assert verifier.verify(receipt).model == "confirmed"
        for what, forged in forgeries(receipt, "unverified"):
            tried += 1
            if holds(verifier, forged):
                missed.append(what)
    assert not missed
    assert tried > 300


def test_without_the_model_every_change_is_found_but_in_what_is_said_of_it() -> None:
    make, options = CASES["drawn at random"]
    receipt, missed = scripted(make, **options)[1], []
    with Verifier(make().tokenizer, REGISTRY) as verifier:
        assert verifier.verify(receipt).model == "consistent"
        for what, forged in forgeries(receipt, "unverified", "model"):
            if holds(verifier, forged):
                missed.append(what)
    assert not missed


def test_what_is_unverified_may_say_anything_of_its_form() -> None:
    make, options = CASES["no span"]
    _, receipt = scripted(make, **options)
    value = receipt.value()
    said = {**value["unverified"], "created_at": "yesterday", "model": "another", "backend": "x", "timings": []}
    with Verifier(make().tokenizer, REGISTRY) as verifier:
        assert verifier.verify(Receipt.of({**value, "unverified": said})).holds
    with pytest.raises(ReceiptError, match=r"^unverified\.extra: unknown key$"):
        Receipt.of({**value, "unverified": {**said, "extra": 1}})


def forgeries(receipt: Receipt, *spared: str) -> Iterator[Changed]:
    """The receipt with one thing changed outside of the parts that are spared, its hashes computed anew."""
    value = receipt.value()
    rest = {name: value[name] for name in spared}
    for what, changed in changes({name: item for name, item in value.items() if name not in spared}):
        forged = rehashed({**changed, **rest})
        if canonical(forged) != canonical(value):  # else it was a hash, and nothing of the change is left
            yield what, forged


def holds(verifier: Verifier, value: dict[str, Any]) -> bool:
    try:
        return verifier.verify(Receipt.of(value)).holds
    except ReceiptError:
        return False


@pytest.fixture(scope="module")
def plain() -> Iterator[tuple[Receipt, Verifier]]:
    """A receipt with a value in it, and what verifies it."""
    make, options = CASES["drawn at random"]
    _, receipt = scripted(make, **options)
    backend = make()
    with Verifier(backend.tokenizer, REGISTRY, engine=backend.engine) as verifier:  # type: ignore[arg-type]
        yield receipt, verifier


def says_the_same(changed: Receipt, receipt: Receipt) -> bool:
    """Whether the receipts differ in nothing but figures of the ledger, and in those by less than the tolerance."""
    here, there = dict(leaves(changed.value())), dict(leaves(receipt.value()))
    return here.keys() == there.keys() and all(
        value == there[path]
        or (path[0] == "model" and isinstance(value, float) and abs(value - there[path]) <= 2 * TOLERANCE)
        for path, value in here.items()
        if path[0] != "digest"
    )


@given(place=st.integers(0, 10**6), byte=st.integers(1, 255), as_csv=st.booleans())
def test_a_byte_that_is_changed_is_refused_or_found_or_means_the_same(
    plain: tuple[Receipt, Verifier], tmp_path_factory: pytest.TempPathFactory, place: int, byte: int, as_csv: bool
) -> None:
    receipt, verifier = plain
    path = tmp_path_factory.mktemp("receipts") / ("r.csv" if as_csv else "r.json")
    write_receipt(receipt, path)
    data = bytearray(path.read_bytes())
    data[place % len(data)] ^= byte
    path.write_bytes(data)
    try:
        read = read_receipt(path)
    except ReceiptError:
        return
    if verifier.verify(read).holds:
        assert says_the_same(read.model_copy(update={"unverified": receipt.unverified}), receipt)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(place=st.integers(0, 10**6), other=JSON)
def test_any_value_in_place_of_another_is_refused_or_found(
    plain: tuple[Receipt, Verifier], place: int, other: Any
) -> None:
    receipt, verifier = plain
    value = receipt.value()
    places = [path for path, _ in leaves(value) if path[0] not in ("unverified", "digest")]
    *way, last = places[place % len(places)]
    forged: Any = receipt.value()
    holder = forged
    for step in way:
        holder = holder[step]
    holder[last] = other
    forged = rehashed(forged)
    if holds(verifier, forged):
        assert says_the_same(Receipt.of(forged), receipt)
