"""Stop strings: which text of the model's ends a generation."""

from __future__ import annotations

from evalspan.orchestrator.errors import RequestError
from evalspan.orchestrator.tags import TagAutomaton

__all__ = ["StopReader", "StopStrings"]

_MAX_STRINGS = 64  # of a request; some servers allow 4, and nobody was seen to need more than a few
_MAX_BYTES = 1024  # of one; as much text as that is held back


class StopStrings:
    """The stop strings of one request, for the automaton that finds them in any split of tokens.

    The string that is complete first counts, the longest where several are complete at the same byte. So a string that
    holds another before its own end can never be the one, and is left out: the automaton knows no overlaps.
    """

    def __init__(self, strings: tuple[str, ...], *, keep: bool = False) -> None:
        """`keep` leaves the string in the text.

        Raises:
            RequestError: a string is empty or too long, or there are too many.
        """
        if isinstance(strings, str) or not all(isinstance(string, str) for string in strings):
            raise RequestError("stop must be a tuple of strings")
        if len(strings) > _MAX_STRINGS:
            raise RequestError(f"there are at most {_MAX_STRINGS} stop strings, got {len(strings)}")
        try:
            spelt = [string.encode() for string in strings]
        except UnicodeEncodeError:
            raise RequestError("a stop string holds half a character (a surrogate), which no text has") from None
        for string, data in zip(strings, spelt, strict=True):
            if not 1 <= len(data) <= _MAX_BYTES:
                raise RequestError(f"a stop string must have 1 to {_MAX_BYTES} bytes, got {len(data)}: {string[:20]!r}")
        self.keep = keep
        unique = dict.fromkeys(spelt)
        self.automaton = TagAutomaton(
            data for data in unique if not any(other in data[: len(data) - 1] for other in unique)
        )


class StopReader:
    """Looks for the stop strings of a request in one output. Nothing is found where there are none."""

    def __init__(self, strings: StopStrings | None) -> None:
        self.found: str | None = None
        """The stop string that ends the text."""
        self.since: int | None = None
        """The byte from which on the text is one, or may become one; it is held back."""
        self._strings = strings
        self._state = 0

    def read(self, data: bytes, before: int) -> bytes:
        """Read what comes behind the first `before` bytes; answers it up to the end of the first stop string in it."""
        if self._strings is None:
            return data
        automaton = self._strings.automaton
        self._state, end, tag = automaton.scan(self._state, data, 0)
        if tag >= 0:
            string = automaton.tags[tag]
            self.found = string.decode()
            self.since = before + end - len(string)
        else:
            held = automaton.depth[self._state]
            self.since = before + len(data) - held if held else None
        return data[:end]

    def begin_anew(self) -> None:
        """What was read can be no part of a stop string any more."""
        self.found = None
        self._state = 0
        self.since = None

    def cut(self, text: bytearray) -> None:
        """Take the string that was found off the end of the text, unless it is to be kept."""
        if self._strings is not None and not self._strings.keep:
            del text[self.since :]
        self.since = None
