"""The host's side of the ABI: whatever a guest answers is an outcome."""

from __future__ import annotations

import struct

from hypothesis import given
from hypothesis import strategies as st

from evalspan.evaluators.abi import heap_exhausted, option_words, read_response
from evalspan.evaluators.outcome import Failure, Value
from evalspan.policies import ErrorCode

U32 = st.integers(0, 2**32 - 1)
NAMES = ("syntax", "domain", "division_by_zero", "range", "too_long", "too_deep", "too_large", "unsupported")
CODES = dict(enumerate(NAMES, start=1))


def answer(response: bytes, input_bytes: int = 4, max_text: int = 64) -> Value | Failure:
    """The outcome of a response at address 3."""
    memory = memoryview(b"xyz" + response + bytes(5))
    return read_response(memory, len(response) << 32 | 3, input_bytes, max_text, 7)


@given(memory=st.binary(max_size=300), packed=st.integers(-(2**63), 2**64 - 1), length=st.integers(0, 40))
def test_any_number_and_any_memory_make_an_outcome(memory: bytes, packed: int, length: int) -> None:
    outcome = read_response(memoryview(memory), packed, length, 64, 7)
    assert outcome.fuel == 7
    if isinstance(outcome, Value):
        assert len(outcome.text.encode()) <= 64
    else:
        assert outcome.offset + outcome.piece_length <= length


@given(response=st.binary(min_size=1, max_size=300))
def test_any_response_inside_memory_is_read_by_its_first_byte(response: bytes) -> None:
    outcome = answer(response)
    if isinstance(outcome, Value):
        assert response[0] == (0 if outcome.exact else 1)
        assert outcome.text.encode() == response[1:]
    elif response[0] > 2:
        assert outcome.code is ErrorCode.INTERNAL


@given(number=st.integers(0, 255), offset=st.integers(0, 5), piece=st.integers(0, 5))
def test_an_error_has_a_code_of_the_table_and_lies_in_the_input(number: int, offset: int, piece: int) -> None:
    outcome = answer(struct.pack("<BBIB", 2, number, offset, piece) + "größer".encode())
    assert isinstance(outcome, Failure)
    if number in CODES and offset + piece <= 4:
        assert outcome == Failure(ErrorCode(CODES[number]), "größer", offset, piece, 7)
    else:
        assert outcome.code is ErrorCode.INTERNAL


def test_a_guest_has_no_number_for_a_code_of_the_host() -> None:
    assert not any(ErrorCode(code).from_host_only for code in CODES.values())
    assert len(CODES) == sum(not code.from_host_only for code in ErrorCode)


@given(values=st.lists(U32, max_size=8))
def test_options_are_little_endian_words_in_order(values: list[int]) -> None:
    words = option_words(values)
    assert [int.from_bytes(words[4 * i : 4 * i + 4], "little") for i in range(len(values))] == values


def test_heap_report_is_read_only_where_it_lies_in_memory() -> None:
    memory = memoryview(bytes(4) + b"\1\0\0\0")
    assert heap_exhausted(memory, 0)
    assert not heap_exhausted(memory, 1)
    assert not heap_exhausted(memoryview(bytes(8)), 0)
