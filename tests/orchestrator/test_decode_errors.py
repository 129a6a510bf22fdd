"""Decoding that cannot go on fails closed: a typed error and an event with the place; neighbours go on."""

import pytest
from support import SHORT_TAGS, play

from evalspan.backends.scripted import ScriptedBackend
from evalspan.orchestrator import (
    DecodeError,
    DecodeFailed,
    Driver,
    EmptyMask,
    Finished,
    LarkText,
    LogitsError,
    Regex,
    Request,
)
from evalspan.orchestrator.events import event_json
from evalspan.policies import Registry


def without(piece: bytes, slots: int = 1) -> ScriptedBackend:
    """A model that would say "abc" with a vocabulary in which a byte is missing."""
    backend = ScriptedBackend.replay(["a", "b", "c"], slots=slots)
    backend.tokenizer.pieces = tuple(b"" if known == piece else known for known in backend.tokenizer.pieces)
    return backend


def test_a_vocabulary_that_cannot_go_on_is_an_empty_mask_with_its_place() -> None:
    events = []
    with Driver(without(b"c")) as driver:
        with pytest.raises(EmptyMask, match=r"allows no token \(byte 2, token 2, after b'ab'\)") as caught:
            events.extend(driver.stream("go", grammar=Regex("abc")))
        assert driver.counters.decode_errors == {"empty_mask": 1}
        assert driver.counters.generations == {"decode_error": 1}
        assert 'evalspan_decode_errors_total{code="empty_mask"} 1' in driver.counters.prometheus().splitlines()
    assert (caught.value.position, caught.value.step, caught.value.tail) == (2, 2, b"ab")


def test_a_guard_that_forbids_what_the_grammar_asks_for_is_an_empty_mask() -> None:
    grammar = LarkText('start: A B C\nA: "<"\nB: "r"\nC: ">"')
    with pytest.raises(EmptyMask) as caught:
        play(["<", "r", ">"], registry=Registry.parse(SHORT_TAGS), grammar=grammar)
    assert caught.value.tail == b"<r"


def test_a_model_that_rules_out_all_that_is_allowed_is_an_empty_mask() -> None:
    with pytest.raises(EmptyMask, match="byte 1, token 1"):
        play(["a", {"b": -float("inf"), "a": 1.0}], grammar=Regex("ab"))


def test_logits_that_are_no_numbers_are_another_error() -> None:
    with pytest.raises(LogitsError) as caught:
        play(["a", {"b": float("nan")}])
    assert (caught.value.code, caught.value.step) == ("bad_logits", 1)


def test_in_a_batch_it_is_an_event_before_the_end_and_the_others_go_on() -> None:
    with Driver(without(b"c", slots=2)) as driver:
        bad, good = driver.generate_many([Request("go", grammar=Regex("abc")), Request("go", grammar=Regex("ab"))])
        assert driver.counters.decode_errors == {"empty_mask": 1}
    assert (good.reason, good.text) == ("eos", "ab")
    *_, failed, last = bad.events
    assert isinstance(failed, DecodeFailed)
    assert (failed.code, failed.position, failed.step, failed.tail) == ("empty_mask", 2, 2, "ab")
    assert isinstance(last, Finished)
    assert (last.reason, last.text, last.sampled_tokens) == ("decode_error", "ab", 2)
    assert event_json(failed).startswith('{"event": "decode_failed", "code": "empty_mask", ')


def test_only_the_end_of_a_long_text_is_quoted() -> None:
    with pytest.raises(DecodeError) as caught:
        play(["é" * 60, {"b": float("nan")}])
    assert caught.value.position == 120
    assert len(caught.value.tail) == 80
