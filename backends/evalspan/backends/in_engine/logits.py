"""Writing masks and pins into the logits of a step, on the host or on a device."""

# pyright: reportMissingImports=false
# What is imported here is of the engine's environment, which is not the one that the types are checked in.
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evalspan.orchestrator.masks import Kept, Mask, ceiling

if TYPE_CHECKING:
    import torch

__all__ = ["MaskWriter", "pin"]

# Above what any model says and any bias adds, and still finite after a temperature of 0.01, the lowest that vLLM takes.
_PIN = 1e30


def _bits(mask: Mask, width: int) -> NDArray[np.int32]:
    """A bit for each logit, up to the end of a word of 32."""
    bits = np.zeros(-(-width // 32), dtype=np.int32)
    packed = np.packbits(mask[:width], bitorder="little")
    bits.view(np.uint8)[: len(packed)] = packed
    # Behind the last token everything is allowed: where that is inside a word, xgrammar 0.2 on a CPU takes the first
    # forbidden bit there for one more token, which is the first of the next row.
    if width % 32:
        bits[-1] |= np.int32(-1) << np.int32(width % 32)
    return bits


class MaskWriter:
    """Forbids tokens. What the model has beyond the vocabulary means nothing, and is always forbidden."""

    def __init__(self) -> None:
        self._packed = Kept(_bits)

    def write(self, logits: torch.Tensor, masks: Sequence[tuple[int, Mask]]) -> None:
        """Set the logits of forbidden tokens to minus infinity; `masks` are rows of the logits with their masks."""
        if not masks:
            return
        if logits.device.type == "cpu":
            self._on_host(logits.numpy(), masks)
        else:
            self._on_device(logits, masks)

    def _on_host(self, logits: NDArray[np.float32], masks: Sequence[tuple[int, Mask]]) -> None:
        for row, mask in masks:
            line = logits[row]
            np.fmin(line, ceiling(mask, len(line)), out=line)

    def _on_device(self, logits: Any, masks: Sequence[tuple[int, Mask]]) -> None:
        """A bit a token goes over to the device, and its kernel does the rest."""
        import torch
        import xgrammar

        height, width = logits.shape
        bits = np.zeros((height, -(-width // 32)), dtype=np.int32)
        for row, mask in masks:
            bits[row] = self._packed.of(mask, width)
        indices = [row for row, _ in masks]
        xgrammar.apply_token_bitmask_inplace(
            logits, torch.from_numpy(bits).to(logits.device), vocab_size=width, indices=indices
        )


def pin(logits: torch.Tensor, pins: Sequence[tuple[int, int]]) -> None:
    """Make these tokens, given with their rows, the ones that are sampled, whatever was forbidden before."""
    if not pins:
        return
    import torch

    rows, tokens = (torch.tensor(numbers, device=logits.device) for numbers in zip(*pins, strict=True))
    logits[rows, tokens] = _PIN
