"""Writing masks and pins into the logits of a step, on the host or on a device."""

# pyright: reportMissingImports=false
# What is imported here is of the engine's environment, which is not the one that the types are checked in.
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evalspan.orchestrator.matcher import Mask

if TYPE_CHECKING:
    import torch

__all__ = ["MaskWriter", "pin"]

# Above what any model says and any bias adds, and still finite after a temperature of 0.01, the lowest that vLLM takes.
_PIN = 1e30

# Where at most one token in so many is forbidden, as in plain text, writing each takes 3 us; over the whole row it
# takes 13 to 24 us, however many there are (49,152 tokens).
_FEW = 32


class MaskWriter:
    """Forbids tokens. What the model has beyond the vocabulary means nothing, and is always forbidden."""

    def __init__(self) -> None:
        self._bits: NDArray[np.int32] = np.zeros((0, 0), dtype=np.int32)

    def write(self, logits: torch.Tensor, masks: Sequence[tuple[int, Mask]]) -> None:
        """Set the logits of forbidden tokens to minus infinity; `masks` are rows of the logits with their masks."""
        if not masks:
            return
        if logits.device.type == "cpu":
            self._on_host(logits.numpy(), masks)
        else:
            self._on_device(logits, masks)

    def _on_host(self, logits: NDArray[np.float32], masks: Sequence[tuple[int, Mask]]) -> None:
        width = logits.shape[1]
        for row, mask in masks:
            line, size = logits[row], min(width, len(mask))
            line[size:] = -np.inf
            forbidden = ~mask[:size]
            if np.count_nonzero(forbidden) * _FEW < size:
                line[np.flatnonzero(forbidden)] = -np.inf
            else:
                np.copyto(line[:size], -np.inf, where=forbidden)

    def _on_device(self, logits: Any, masks: Sequence[tuple[int, Mask]]) -> None:
        """A bit a token goes over to the device, and its kernel does the rest."""
        import torch
        import xgrammar

        height, width = logits.shape
        words = -(-width // 32)
        if self._bits.shape[0] < height or self._bits.shape[1] != words:
            self._bits = np.zeros((height, words), dtype=np.int32)
        for row, mask in masks:
            packed = np.packbits(mask[:width], bitorder="little")
            line = self._bits[row].view(np.uint8)
            line[: len(packed)] = packed
            line[len(packed) :] = 0
            # Behind the last token everything is allowed: where that is inside a word, xgrammar 0.2 on a CPU takes the
            # first forbidden bit there for one more token, which is the first of the next row.
            self._bits[row, -1] |= np.int32(-1) << np.int32(width % 32) if width % 32 else 0
        bits = torch.from_numpy(self._bits[:height]).to(logits.device)
        xgrammar.apply_token_bitmask_inplace(logits, bits, vocab_size=width, indices=[row for row, _ in masks])


def pin(logits: torch.Tensor, pins: Sequence[tuple[int, int]]) -> None:
    """Make these tokens, given with their rows, the ones that are sampled, whatever was forbidden before."""
    if not pins:
        return
    import torch

    rows, tokens = (torch.tensor(numbers, device=logits.device) for numbers in zip(*pins, strict=True))
    logits[rows, tokens] = _PIN
