"""Masks and pins in the logits: the host and the device do the same."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from evalspan.backends.in_engine.logits import MaskWriter, pin


@settings(deadline=None)  # the first call imports the kernels
@given(
    width=st.integers(32, 200),
    size=st.integers(1, 200),
    forbidden=st.sets(st.integers(0, 199)),
    others=st.sets(st.integers(0, 199), max_size=3),
    fixed=st.booleans(),
)
def test_what_is_forbidden_or_no_token_is_minus_infinity(
    width: int, size: int, forbidden: set[int], others: set[int], fixed: bool
) -> None:
    many, few = (np.array([token not in tokens for token in range(size)]) for tokens in (forbidden, others))
    for mask in (many, few):
        mask.flags.writeable = not fixed  # what is made of a fixed one is kept
    masks = [(0, many), (2, few)]
    host, device = torch.zeros((4, width)), torch.zeros((4, width))
    writer = MaskWriter()
    writer.write(host, [(3, ~many)])
    writer.write(host, masks)
    host[3] = 0
    writer._on_device(device, [(3, ~many)])
    writer._on_device(device, masks)
    device[3] = 0
    for row, mask in masks:
        wanted = [0.0 if token < size and mask[token] else -np.inf for token in range(width)]
        assert host[row].tolist() == wanted
    assert torch.equal(host, device)
    assert not host[1].any(), "a row without a mask was touched"


@pytest.mark.parametrize("temperature", [0.01, 1.0, 2.0])
def test_a_pin_holds_over_a_mask_and_under_any_temperature(temperature: float) -> None:
    logits = torch.randn((3, 50))
    MaskWriter().write(logits, [(1, np.zeros(50, dtype=np.bool_))])
    pin(logits, [(0, 7), (1, 9)])
    chances = (logits[:2] / temperature).softmax(-1)
    assert torch.isfinite(chances).all()
    assert [chances[0, 7].item(), chances[1, 9].item()] == [1.0, 1.0]
    assert logits[2].abs().max() < 100
