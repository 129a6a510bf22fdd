"""What a structural tag means, by plain searching in texts: no automaton, no grammar, nothing of the compiler.

The engine's places are single characters: `MARK` after a span's end, `SAID` for a result said again.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import product
from typing import Any

__all__ = ["MARK", "SAID", "TAGS", "Meaning"]

MARK, SAID = "\x00", "\x01"
TAGS = ("<c>", "</c>", "<r>", "</r>", "<e>", "</e>", "<s>", "</s>")
SPAN = re.compile("<c>[0-9+/]+</c>\x00|<s>x*</s>\x00")
OPEN_SPAN = re.compile("(<c>[0-9+/]*|<s>x*)(<(/([cs](>)?)?)?)?$")

Ways = tuple[frozenset[int], bool]
"""Where the part can end, and whether it can go on where the text ends."""

NOWHERE: Ways = (frozenset(), False)


@cache
def completions() -> tuple[str, ...]:
    return tuple("".join(parts) for size in range(3) for parts in product("ax1y<>/b", repeat=size))


def union(ways: list[Ways]) -> Ways:
    return frozenset().union(*(ends for ends, _ in ways)), any(goes_on for _, goes_on in ways)


class Meaning:
    """The meaning of one document. `json` gives the values of its schema, as far as a test can reach."""

    def __init__(self, document: dict[str, Any], json: tuple[str, ...] = ()) -> None:
        self.format = document
        self.json = json
        self.tags = TAGS if "'<s>'" in str(document) else TAGS[:-2]
        """Those of the registry, and of the span that the document adds."""

    def is_prefix(self, data: bytes) -> bool:
        """Whether some output starts with the bytes."""
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data":
                return False
            text = data[: error.start].decode() + "é"  # what else the character may become is all the same
        ends, goes_on = self.read(self.format, text, 0, ())
        return (goes_on or len(text) in ends) and self.keeps_tags(text)

    def is_end(self, data: bytes) -> bool:
        """Whether the bytes are an output."""
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return False
        return len(text) in self.read(self.format, text, 0, ())[0] and self.keeps_tags(text)

    def keeps_tags(self, text: str) -> bool:
        """Whether every tag is one of a span."""
        rest = OPEN_SPAN.sub("\x02", SPAN.sub("\x02", text))
        return not any(tag in rest for tag in self.tags)

    def read(self, part: dict[str, Any], text: str, start: int, ends: tuple[str, ...]) -> Ways:
        """The ways to read a part and one of `ends` from `start`."""
        kind = part.get("type", "tag")
        if kind in ("any_text", "triggered_tags"):
            return getattr(self, kind)(part, text, start, ends)
        if kind in ("sequence", "or", "tag"):
            return getattr(self, "read_" + kind)(part, text, start, ends)
        ways = getattr(self, "read_" + kind)(part, text, start)
        return self.then(ways, lambda at: self.one_of(ends, text, at)) if ends else ways

    def then(self, ways: Ways, following: Any) -> Ways:
        after = union([following(at) for at in ways[0]])
        return after[0], ways[1] or after[1]

    def one_of(self, strings: tuple[str, ...], text: str, start: int) -> Ways:
        rest = text[start:]
        ends = frozenset(start + len(string) for string in strings if rest.startswith(string))
        return ends, any(string.startswith(rest) and string != rest for string in strings)

    def read_const_string(self, part: dict[str, Any], text: str, start: int) -> Ways:
        return self.one_of((part["value"],), text, start)

    def read_json_schema(self, part: dict[str, Any], text: str, start: int) -> Ways:
        return self.one_of(self.json, text, start)

    def read_regex(self, part: dict[str, Any], text: str, start: int) -> Ways:
        pattern = re.compile(part["pattern"])
        excludes = part.get("excludes", ())

        def matches(word: str) -> bool:
            return bool(pattern.fullmatch(word)) and not any(string in word for string in excludes)

        ends = frozenset(at for at in range(start, len(text) + 1) if matches(text[start:at]))
        return ends, any(matches(text[start:] + more) for more in completions()[1:])

    def read_result_ref(self, part: dict[str, Any], text: str, start: int) -> Ways:
        return self.one_of((SAID,), text, start)

    def read_sequence(self, part: dict[str, Any], text: str, start: int, ends: tuple[str, ...]) -> Ways:
        elements = part["elements"]
        ways: Ways = (frozenset({start}), False)
        skipped = ""
        for index, element in enumerate(elements):
            last = index == len(elements) - 1
            following = ends if last else ()
            if not last and element["type"] in ("any_text", "triggered_tags"):
                skipped = elements[index + 1].get("value") or elements[index + 1].get("begin")
                ways = self.then(ways, lambda at, e=element, s=skipped: self.read(e, text, at, (s,)))
                continue
            back, skipped = len(skipped), ""
            ways = self.then(ways, lambda at, e=element, f=following, b=back: self.read(e, text, at - b, f))
        return ways

    def read_or(self, part: dict[str, Any], text: str, start: int, ends: tuple[str, ...]) -> Ways:
        return union([self.read(element, text, start, ends) for element in part["elements"]])

    def times(self, part: dict[str, Any], text: str, start: int, least: int, most: int) -> Ways:
        reached: set[int] = {start} if least == 0 else set()
        ways: Ways = (frozenset({start}), False)
        for count in range(1, min(most, len(text) + 1) + 1):
            more = self.then((ways[0], False), lambda at: self.read(part["content"], text, at, ()))
            ways = (more[0], ways[1] or more[1])
            reached |= more[0] if count >= least else set()
        return frozenset(reached), ways[1]

    def read_optional(self, part: dict[str, Any], text: str, start: int) -> Ways:
        return self.times(part, text, start, 0, 1)

    def read_star(self, part: dict[str, Any], text: str, start: int) -> Ways:
        return self.times(part, text, start, 0, 100)

    def read_plus(self, part: dict[str, Any], text: str, start: int) -> Ways:
        return self.times(part, text, start, 1, 100)

    def read_repeat(self, part: dict[str, Any], text: str, start: int) -> Ways:
        return self.times(part, text, start, part["min"], 100 if part["max"] == -1 else part["max"])

    def read_tag(self, part: dict[str, Any], text: str, start: int, ends: tuple[str, ...]) -> Ways:
        opened = self.one_of((part["begin"],), text, start)
        return self.then(opened, lambda at: self.inside(part, text, at, ends))

    def inside(self, part: dict[str, Any], text: str, start: int, ends: tuple[str, ...]) -> Ways:
        if part["type"] == "evaluated_tag":
            content = part.get("content", {"type": "regex", "pattern": "[0-9+/]+"})
            closed = self.read(content, text, start, (part["end"],))
            ways = self.then(closed, lambda at: self.one_of((MARK,), text, at))
            return self.then(ways, lambda at: self.one_of(ends, text, at)) if ends else ways
        own = (part["end"],) if isinstance(part["end"], str) else tuple(part["end"])
        if own == ("",):
            return self.read(part["content"], text, start, ends)
        ways = self.read(part["content"], text, start, own)
        return self.then(ways, lambda at: self.one_of(ends, text, at)) if ends else ways

    def read_evaluated_tag(self, part: dict[str, Any], text: str, start: int) -> Ways:
        return self.read_tag(part, text, start, ())

    def any_text(self, part: dict[str, Any], text: str, start: int, ends: tuple[str, ...]) -> Ways:
        return self.scan(text, start, ends, tuple(part.get("excludes", ())), {})

    def scan(self, text: str, start: int, ends: tuple[str, ...], excludes: tuple[str, ...], triggers: Any) -> Ways:
        """Character by character, up to the first string that means something."""
        stops: set[int] = set() if ends else {start}
        for at in range(start + 1, len(text) + 1):
            read = text[start:at]
            if read[-1] in (MARK, SAID) or read.endswith(excludes or ("\x02",)):
                return frozenset(stops), False
            if any(read.endswith(tag) for tag in self.tags if tag not in ends and tag not in triggers):
                return frozenset(stops), False
            if ends and read.endswith(ends):
                return frozenset({at}), False
            for trigger, begun in triggers.items():
                if read.endswith(trigger):
                    ways = begun(at)
                    return ways[0] | stops, ways[1]
            if not ends:
                stops.add(at)
        return frozenset(stops), True

    def triggered_tags(self, part: dict[str, Any], text: str, start: int, ends: tuple[str, ...]) -> Ways:
        once = part.get("stop_after_first", False)

        def begun(trigger: str, at: int) -> Ways:
            tags = [tag for tag in part["tags"] if tag["begin"].startswith(trigger)]
            return union([after({"type": "tag", **tag}, len(trigger), at) for tag in tags])

        def after(tag: dict[str, Any], known: int, at: int) -> Ways:
            opened = self.one_of((tag["begin"][known:],), text, at)
            closed = self.then(opened, lambda at: self.inside(tag, text, at, ends if once else ()))
            return closed if once else self.then(closed, go_on)

        def go_on(at: int) -> Ways:
            triggers = {trigger: lambda at, t=trigger: begun(t, at) for trigger in part["triggers"]}
            return self.scan(text, at, ends, tuple(part.get("excludes", ())), triggers)

        if part.get("at_least_one", False):
            return union([after({"type": "tag", **tag}, 0, start) for tag in part["tags"]])
        return go_on(start)

    def read_tags_with_separator(self, part: dict[str, Any], text: str, start: int) -> Ways:
        def tag(at: int) -> Ways:
            return union([self.read({"type": "tag", **tag}, text, at, ()) for tag in part["tags"]])

        reached: set[int] = set() if part.get("at_least_one", False) else {start}
        ways = tag(start)
        goes_on = ways[1]
        while ways[0]:
            reached |= ways[0]
            if part.get("stop_after_first", False):
                break
            separated = self.then((ways[0], False), lambda at: self.one_of((part["separator"],), text, at))
            ways = self.then(separated, tag)
            goes_on = goes_on or ways[1]
        return frozenset(reached), goes_on
