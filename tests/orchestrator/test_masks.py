"""Masks are told apart by what they are, and what is made of one is made once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evalspan.orchestrator.engines.base import MaskTable
from evalspan.orchestrator.grammar import MARKS
from evalspan.orchestrator.masks import Kept, Mask, ceiling


def mask_of(allowed: list[bool], *, fixed: bool) -> Mask:
    mask = np.array(allowed, dtype=np.bool_)
    mask.flags.writeable = not fixed
    return mask


@given(allowed=st.lists(st.booleans(), min_size=1, max_size=60), width=st.integers(1, 80), fixed=st.booleans())
def test_the_smaller_of_a_logit_and_its_ceiling_is_what_the_mask_leaves(
    allowed: list[bool], width: int, fixed: bool
) -> None:
    logits = np.linspace(-3e38, 3e38, width, dtype=np.float32)
    mask = mask_of(allowed, fixed=fixed)
    for _ in range(2):
        left = np.fmin(logits, ceiling(mask, width))
        for token in range(width):
            wanted = logits[token] if token < len(allowed) and allowed[token] else -np.inf
            assert left[token] == wanted


def test_what_is_made_of_a_fixed_mask_is_made_once_for_each_width() -> None:
    made: list[int] = []

    def make(mask: Mask, width: int) -> int:
        made.append(width)
        return int(mask.sum()) * width

    kept, fixed, loose = Kept(make), mask_of([True, True], fixed=True), mask_of([True], fixed=False)
    assert [kept.of(fixed, width) for width in (3, 5, 3, 5)] == [6, 10, 6, 10]
    assert made == [3, 5]
    loose[:] = False
    assert kept.of(loose, 3) == 0
    loose[:] = True
    assert kept.of(loose, 3) == 3, "a mask that changes was kept"


def test_masks_that_are_gone_are_not_taken_for_new_ones() -> None:
    kept = Kept(lambda mask, width: mask.tolist())
    for number in range(500):  # new arrays take the places of those that are forgotten
        allowed = [bool(number >> bit & 1) for bit in range(9)]
        assert kept.of(mask_of(allowed, fixed=True), 9) == allowed


@given(st.lists(st.sets(st.integers(0, 40 + MARKS - 1)), min_size=1, max_size=12))
def test_equal_bits_are_one_mask_and_it_cannot_be_changed(sets: list[set[int]]) -> None:
    table = MaskTable(40)
    for allowed in [*sets, *sets]:
        bits = np.zeros(-(-(40 + MARKS) // 32), dtype=np.int32)
        for token in allowed:
            bits[token // 32] |= np.array(1 << token % 32, dtype=np.uint32).view(np.int32)
        first, again = table.allowed(bits), table.allowed(bits.copy())
        assert first.tokens is again.tokens
        assert len(first.tokens) == 40 and len(first.marks) == MARKS
        assert set(np.flatnonzero(np.concatenate(first))) == allowed
        assert not first.tokens.flags.writeable and not first.marks.flags.writeable
