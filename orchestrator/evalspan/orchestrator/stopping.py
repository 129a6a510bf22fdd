"""Stop strings: which text of the model's ends a generation."""

from __future__ import annotations

from evalspan.orchestrator.errors import RequestError
from evalspan.orchestrator.tags import TagAutomaton

__all__ = ["StopStrings"]

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
