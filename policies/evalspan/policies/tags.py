"""What tags must be so that a text can be read in one way only, and masks can be exact."""

from __future__ import annotations

import unicodedata
from collections.abc import Container, Iterator, Mapping

__all__ = ["tag_problems"]


def tag_problems(uses: Mapping[str, str], fences: Container[str] = ()) -> Iterator[tuple[str, str]]:
    """What is wrong with tags, each with the key path of its use: `(key path, what is wrong)`.

    No tag lies in another, and none begins where another or itself ends. `fences` may begin where they themselves
    end, as three backquotes do: the first that is complete counts, and what follows it is read anew.
    """
    for tag, key in uses.items():
        if not tag.isprintable() or tag != unicodedata.normalize("NFC", tag):
            yield key, f"{tag!r} must be printable text in Unicode NFC"
    begun: dict[str, list[str]] = {}
    for tag in uses:
        for end in range(1, len(tag) + 1):
            begun.setdefault(tag[:end], []).append(tag)
    lengths = sorted({len(tag) for tag in uses})
    for tag, key in uses.items():
        if other := next(_ends_in(tag, begun, itself=tag not in fences), None):
            yield key, f"the end of {tag!r} is the start of {other!r}: text could be read as both"
        for length in lengths:
            for start in range(len(tag) - length + 1):
                other = tag[start : start + length]
                if other != tag and other in uses:
                    yield key, f"{tag!r} contains the tag {other!r}"


def _ends_in(tag: str, begun: Mapping[str, list[str]], *, itself: bool) -> Iterator[str]:
    """The tags that begin with an end of this one."""
    for start in range(1, len(tag)):
        for other in begun.get(tag[start:], ()):
            if itself or other != tag:
                yield other
                break  # one is enough to say, and a thousand tags share their first characters
