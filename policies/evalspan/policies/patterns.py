"""Regular expressions that match in time linear in the text, whatever the pattern.

Python's `re` backtracks, and both patterns and texts may come from people who wish the host ill. llguidance
matches by derivatives; a vocabulary of the 256 bytes and one end token turns it into a full-match engine.
"""

from __future__ import annotations

from llguidance import LLMatcher

from evalspan.policies.byte_vocabulary import END, byte_tokenizer

__all__ = ["LinearPattern", "PatternError"]


class PatternError(ValueError):
    """A pattern that is no regular expression of the linear-time dialect; the text says why."""


class LinearPattern:
    """A compiled pattern; `matches` is a full match. For one thread at a time, as its matcher is."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._matcher = LLMatcher(byte_tokenizer(), LLMatcher.grammar_from_regex(pattern), log_level=0)
        if self._matcher.is_error():
            lines = self._matcher.get_error().strip().splitlines()
            cause = next((line for line in lines if line.startswith("error: ")), lines[0])
            raise PatternError(f"{pattern!r} is not a linear-time regular expression: {cause.removeprefix('error: ')}")

    def matches(self, text: bytes) -> bool:
        """Whether the whole of `text` matches."""
        matcher = self._matcher
        taken = matcher.validate_tokens([*text, END])
        return bool(taken == len(text) + 1)
