"""The rows of a batch that opted in: each is brought up to date from its tokens and says what may come next.

What a row does is a function of its request and of the tokens of its output, and of nothing else: not of how often it
is asked, nor of what was done to its neighbours. So an engine may preempt a request, move it, ask twice, or take tokens
back; a row that is read anew comes to the same place.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from evalspan.backends.in_engine.options import Options
from evalspan.orchestrator.errors import DecodeError
from evalspan.orchestrator.events import Event
from evalspan.orchestrator.masks import Mask
from evalspan.orchestrator.replay import OutputReader

__all__ = ["Mask", "Pin", "Request", "Row", "Rows"]

PLACEHOLDER = -1
"""What stands in an output for a token that the engine has sampled and not told yet."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a row depends on beside its tokens."""

    options: Options
    end: int
    """The token that ends its generation; pinned where the machine has nothing more to say."""
    narrow: bool = False
    """Whether the request itself forbids tokens, so that together with the grammar none may be left."""


@dataclass(frozen=True, slots=True)
class Pin:
    """This token, whatever the model says."""

    token: int


class Row:
    """One output."""

    def __init__(self, request: Request, start: Callable[[], OutputReader]) -> None:
        """`start` makes a reader at the start of the output."""
        self.request = request
        self.output: Sequence[int] = ()
        """The output as the engine keeps it, where it does; it is read only when the engine says that it is whole."""
        self.failure: str | None = None
        """Why nothing more can be written; the output is then ended."""
        self.ended = False
        """Whether the end token that was pinned has come back."""
        self._start = start
        self._reader: OutputReader | None = None
        self._read: list[int] = []

    @property
    def tokens(self) -> Sequence[int]:
        """The tokens that were read, without those of the history."""
        return self._read

    @property
    def events(self) -> Sequence[Event]:
        """What the tokens say."""
        return self._reader.events if self._reader is not None else ()

    @property
    def reason(self) -> str | None:
        """Why the output has ended, where it has."""
        return self._reader.reason if self._reader is not None else None

    def follow(self, output: Sequence[int]) -> None:
        """Read what is new in the output; where it is not a longer one, it is read anew. Errors become `failure`."""
        try:
            read = self._read
            known = len(read)
            if self._reader is None or len(output) < known or (known and output[known - 1] != read[-1]):
                self._restart()
                read, known = self._read, 0
            if self.failure is not None or self.ended or self._reader is None:
                return
            for index in range(known, len(output)):
                token = output[index]
                if token == PLACEHOLDER:
                    raise DecodeError("the engine has not told which token it sampled")
                read.append(token)
                if token == self.request.end and self._ends_here():
                    self.ended = True
                    return
                self._reader.take(token)
        except Exception as error:  # noqa: BLE001  one request must not end the server that serves all others
            self.fail(error)

    def _ends_here(self) -> bool:
        """Whether the end token was pinned, and is no token of the output."""
        reader = self._reader
        if reader is None:
            return False
        return reader.reason is not None or (reader.due is not None and self.request.options.session)

    def next(self) -> Pin | Mask | None:
        """What may come next; None allows every token."""
        try:
            reader = self._reader
            if self.failure is not None or self.ended or reader is None or reader.reason is not None:
                return Pin(self.request.end)
            if reader.due is not None:
                return Pin(self.request.end if self.request.options.session else reader.due)
            return reader.mask()
        except Exception as error:  # noqa: BLE001  as above
            self.fail(error)
            return Pin(self.request.end)

    def fail(self, error: Exception) -> None:
        """Nothing more can be written, for this reason."""
        self.failure = f"{type(error).__name__}: {error}"

    def finish(self) -> None:
        """Read what the engine has told since the last step, before the row is taken out of the batch."""
        output = self.output
        known = len(self._read)
        if known <= len(output) and PLACEHOLDER not in output[known:]:
            self.follow(output)

    def fits(self, output: Sequence[int]) -> bool:
        """Whether what was read is the beginning of this output."""
        return list(output[: len(self._read)]) == self._read

    def _restart(self) -> None:
        self.failure, self.ended = None, False
        self._read = []
        self._reader = None
        reader = self._start()
        for token in self.request.options.history:
            reader.take(token)
        self._reader = reader


class Rows:
    """The rows that opted in, by their places in the batch, and those that were taken out of it.

    What is taken out may be finished or preempted; nobody says which. It is kept for a while under the identity of its
    request's parameters: going on from it saves the reading, and nothing else depends on it.
    """

    def __init__(self, parked: int) -> None:
        """`parked` is how many that were taken out are kept."""
        self._rows: dict[int, Row] = {}
        self._keys: dict[int, object] = {}
        self._parked: OrderedDict[int, tuple[object, Row]] = OrderedDict()
        self._most = parked

    def __bool__(self) -> bool:
        return bool(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def items(self) -> Sequence[tuple[int, Row]]:
        """The rows with their places, in the order of the places."""
        return sorted(self._rows.items())

    def get(self, place: int) -> Row | None:
        """The row at a place."""
        return self._rows.get(place)

    def add(self, place: int, key: object, output: Sequence[int], make: Callable[[], Row]) -> Row:
        """Put a request into a place; `key` are its parameters, whose identity is the request's."""
        _, row = self._parked.pop(id(key), (None, None))
        if row is None or not row.fits(output):
            row = make()
        row.output = output
        self._rows[place] = row
        self._keys[place] = key
        return row

    def remove(self, place: int) -> Row | None:
        """Take the row, if there is one, out of a place, and keep it for a while."""
        row = self._rows.pop(place, None)
        if row is None:
            return None
        key = self._keys.pop(place)
        row.finish()
        if row.failure is None and row.reason is None and not row.ended:
            # The parameters are kept too: as long as they live, no others have their identity.
            self._parked[id(key)] = (key, row)
            if len(self._parked) > self._most:
                self._parked.popitem(last=False)
        return row

    def move(self, start: int, end: int) -> Row | None:
        """Move what is at one place, be it nothing, to another; answers the row that was there."""
        lost = self.remove(end)
        if start in self._rows:
            self._rows[end], self._keys[end] = self._rows.pop(start), self._keys.pop(start)
        return lost

    def swap(self, first: int, second: int) -> None:
        """Exchange two places."""
        for table in (self._rows, self._keys):
            _exchange(table, first, second)


def _exchange(table: dict[int, Any], first: int, second: int) -> None:
    values = {place: table.pop(place) for place in (first, second) if place in table}
    for place, value in values.items():
        table[second if place == first else first] = value
