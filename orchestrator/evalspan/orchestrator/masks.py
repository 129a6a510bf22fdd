"""Masks, and putting them to use: what is made of a mask is made once, while the mask comes again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Kept", "Mask", "ceiling"]

Mask = NDArray[np.bool_]
"""Which tokens are allowed, shape `(vocab_size,)`. Shared and read-only."""

_KEPT = 32  # masks that are told apart: those of the last steps; at most 1 MB each, for 262,144 tokens

_BOUNDS = np.array([-np.inf, np.inf], dtype=np.float32)

_Made = TypeVar("_Made")


class Kept(Generic[_Made]):
    """What `make` makes of a mask for logits of one width. Those of a matcher come again as the same read-only arrays;
    of others nothing is kept. For any number of threads."""

    def __init__(self, make: Callable[[Mask, int], _Made]) -> None:
        self._make = make
        self._made: OrderedDict[tuple[int, int], tuple[Mask, _Made]] = OrderedDict()
        self._lock = Lock()

    def of(self, mask: Mask, width: int) -> _Made:
        """What there is of this mask."""
        if mask.flags.writeable:
            return self._make(mask, width)  # it may say something else by the next step
        key = (id(mask), width)
        with self._lock:
            found = self._made.get(key)
            if found is None:
                # The mask is kept too: as long as it lives, no other has its identity.
                found = self._made[key] = (mask, self._make(mask, width))
                if len(self._made) > _KEPT:
                    self._made.popitem(last=False)
            else:
                self._made.move_to_end(key)
        return found[1]


def _ceiling(mask: Mask, width: int) -> NDArray[np.float32]:
    made = np.full(width, -np.inf, dtype=np.float32)
    size = min(width, len(mask))
    np.take(_BOUNDS, mask[:size].view(np.uint8), out=made[:size])
    made.flags.writeable = False
    return made


_ceilings = Kept(_ceiling)


def ceiling(mask: Mask, width: int) -> NDArray[np.float32]:
    """The most that each of `width` logits may be: minus infinity where its token is forbidden, or is no token.

    The smaller of the two (`numpy.fmin`) is the masked logit. It takes 3 us for 49,152 tokens; to choose by the mask
    takes up to 100, by how often that changes. What is no number gives way to the ceiling: forbidden, it does no harm.
    """
    return _ceilings.of(mask, width)
