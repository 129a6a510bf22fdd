"""Formats of a structural tag as nodes: one method per format, all of one signature.

`ends` are the strings of which one must follow, and with which the part ends: empty where nothing need follow. A
format without an end of its own needs to know them, since its text goes on up to the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import permutations
from typing import Any

from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.formats import structural_models as models
from evalspan.orchestrator.formats.nodes import (
    Forced,
    Node,
    Regular,
    SubGrammar,
    either,
    repeated,
    sealed,
    series,
)
from evalspan.orchestrator.formats.probe import first_bytes
from evalspan.orchestrator.formats.subgrammar import gbnf_node
from evalspan.orchestrator.json.engine import check_schema, lark_json
from evalspan.orchestrator.json.keywords import read_schema
from evalspan.orchestrator.lark import LarkWriter, lark_escape, lark_literal, lark_regex
from evalspan.orchestrator.sentences import Restate

__all__ = ["StructuralCompiler"]

Ends = tuple[str, ...]

_ANYTHING = "/(?s:.*)/"
_NUMBER = frozenset(b"+-.0123456789Ee")
"""With these a number in JSON could go on."""


class StructuralCompiler:
    """Compiles the formats of one document. `names` are the spans of the evaluated tags, by their places."""

    def __init__(self, writer: LarkWriter, names: Mapping[str, str]) -> None:
        self._writer = writer
        self._names = names
        self._grammars = 0
        self.definitions = f"ANY: /(?s:.*)/{writer.no_tag}\n"
        """The terminals that nodes name."""
        self._methods: dict[type, Callable[[Any, str, Ends], Node]] = {
            models.ConstString: self._const_string,
            models.RegexText: self._regex,
            models.AnyText: self._any_text,
            models.JsonSchema: self._json_schema,
            models.GrammarText: self._grammar,
            models.Sequence: self._sequence,
            models.Or: self._or,
            models.Optional: self._optional,
            models.Star: self._star,
            models.Plus: self._plus,
            models.Repeat: self._repeat,
            models.Tag: self._tag,
            models.EvaluatedTag: self._evaluated_tag,
            models.ResultRef: self._result_ref,
            models.TriggeredTags: self._triggered_tags,
            models.TagsWithSeparator: self._tags_with_separator,
        }

    def compile(self, part: models.Format, path: str, ends: Ends = ()) -> Node:
        """The format as a node, with one of its ends.

        Raises:
            GrammarError: it cannot be enforced; the text begins with its place.
        """
        return self._methods[type(part)](part, path, ends)

    def _const_string(self, part: models.ConstString, path: str, ends: Ends) -> Node:
        return self._ended(self._text(part.value, f"{path}.value"), path, ends)

    def _regex(self, part: models.RegexText, path: str, ends: Ends) -> Node:
        try:
            pattern = lark_regex(part.pattern)
        except GrammarError as error:
            raise GrammarError(f"{path}.pattern: {error}") from None
        return self._ended(Regular(f"({pattern}{_without(part.excludes)})", path), path, ends)

    def _any_text(self, part: models.AnyText, path: str, ends: Ends) -> Node:
        self._check_ends(ends, part.excludes, path)
        text = f"({_ANYTHING}{_without((*ends, *part.excludes))})"
        return self._first_of(Regular(text, path), ends, (*ends, *part.excludes), path)

    def _json_schema(self, part: models.JsonSchema, path: str, ends: Ends) -> Node:
        place = f"{path}.json_schema"
        try:
            schema, found = read_schema(part.json_schema)
            if found.extensions:
                raise GrammarError(f"{found.extensions[0] or '/'}: a bound value needs --schema, not a structural tag")
            check_schema(schema, "")
        except GrammarError as error:
            raise GrammarError(f"{place}: {error}") from None
        text = lark_json(schema, f"{place}: ")
        number = first_bytes(text) & _NUMBER
        return self._ended(SubGrammar(text, path, grows=_NUMBER if number else frozenset()), path, ends)

    def _grammar(self, part: models.GrammarText, path: str, ends: Ends) -> Node:
        try:
            node, terminals = gbnf_node(part.grammar, self._writer, path, f"g{self._grammars}")
        except GrammarError as error:
            raise GrammarError(f"{path}.grammar: {error}") from None
        self._grammars += 1
        self.definitions += terminals
        return self._ended(node, path, ends)

    def _sequence(self, part: models.Sequence, path: str, ends: Ends) -> Node:
        places = [f"{path}.elements[{index}]" for index in range(len(part.elements))]
        nodes: list[Node] = []
        begun = False
        for index, (element, place) in enumerate(zip(part.elements, places, strict=True)):
            if index == len(part.elements) - 1:
                nodes.append(self._rest(element, place, ends) if begun else self.compile(element, place, ends))
            elif _is_unlimited(element):
                following = part.elements[index + 1]
                if begun or not (begin := _begin(following)):
                    raise GrammarError(
                        f"{place}: this text has no end: it must come last, or a const_string, a tag or an "
                        "evaluated_tag after it"
                    )
                nodes.append(self.compile(element, place, (begin,)))
                begun = True
                continue
            else:
                nodes.append(self._rest(element, place, ()) if begun else self.compile(element, place))
            begun = False
        return self._series(nodes, path)

    def _or(self, part: models.Or, path: str, ends: Ends) -> Node:
        return self._either(
            [self.compile(element, f"{path}.elements[{i}]", ends) for i, element in enumerate(part.elements)], path
        )

    def _optional(self, part: models.Optional, path: str, ends: Ends) -> Node:
        return self._ended(self._times(part.content, 0, 1, path), path, ends)

    def _star(self, part: models.Star, path: str, ends: Ends) -> Node:
        return self._ended(self._times(part.content, 0, None, path), path, ends)

    def _plus(self, part: models.Plus, path: str, ends: Ends) -> Node:
        return self._ended(self._times(part.content, 1, None, path), path, ends)

    def _repeat(self, part: models.Repeat, path: str, ends: Ends) -> Node:
        most = None if part.max == -1 else part.max
        if most is not None and most < part.min:
            raise GrammarError(f"{path}.max: {part.max} is less than min, which is {part.min}")
        return self._ended(self._times(part.content, part.min, most, path), path, ends)

    def _times(self, content: models.Format, least: int, most: int | None, path: str) -> Node:
        if _is_unlimited(content):
            raise GrammarError(f"{path}.content: this text has no end and cannot be repeated")
        node = self.compile(content, f"{path}.content")
        return repeated(node, least, most, self._writer.no_tag, path)

    def _tag(self, part: models.Tag, path: str, ends: Ends) -> Node:
        begin = self._text(part.begin, f"{path}.begin")
        return self._series([begin, self._inside(part, path, ends)], path)

    def _inside(self, part: models.Tag, path: str, ends: Ends) -> Node:
        """What follows the begin of a tag."""
        own = (part.end,) if isinstance(part.end, str) else part.end
        if not own or "" in own:
            if len(own) > 1:
                raise GrammarError(f"{path}.end: an empty end beside others would end the tag before them")
            return self.compile(part.content, f"{path}.content", ends)
        for index, end in enumerate(own):
            self._text(end, f"{path}.end" if isinstance(part.end, str) else f"{path}.end[{index}]")
        return self._ended(self.compile(part.content, f"{path}.content", own), path, ends)

    def _evaluated_tag(self, part: models.EvaluatedTag, path: str, ends: Ends) -> Node:
        begin = Regular(lark_literal(part.begin), path, tagged=True)
        return self._series([begin, self._evaluated(part, path, ends)], path)

    def _evaluated(self, part: models.EvaluatedTag, path: str, ends: Ends) -> Node:
        """What follows the begin of a span."""
        index, rule = self._writer.span(self._names[path])
        if part.content is None:
            text = f"({lark_regex(rule.content or '(?s:.+)')}{self._writer.no_tag}) {lark_literal(rule.close)}"
            content: Node = Regular(text, path, tagged=True)
        else:
            if _has_spans(part.content):
                raise GrammarError(f"{path}.content: there is no span in a span, and no result")
            content = self.compile(part.content, f"{path}.content", (part.end,))
        if not isinstance(content, Regular):
            raise GrammarError(f"{path}.content: the content of a span must be regular: text, patterns, their choice")
        self._writer.spans.add(rule.name)
        if self._writer.marks is None:
            answer: Node = Regular(self._writer.written_answer(index), path, tagged=True)
        else:
            answer = Forced(self._writer.answer(index), path)
        return self._ended(self._series([content, answer], path), path, ends)

    def _result_ref(self, part: models.ResultRef, path: str, ends: Ends) -> Node:
        try:
            _, rule = self._writer.span(part.span)
        except GrammarError as error:
            raise GrammarError(f"{path}.span: {error}") from None
        said = Restate(part.span, rule.result.pattern or "(?s:.+)")
        if self._writer.marks is None:
            return self._ended(Regular(lark_regex(said.regex), path), path, ends)
        return self._ended(Forced(self._writer.directive(said), path), path, ends)

    def _triggered_tags(self, part: models.TriggeredTags, path: str, ends: Ends) -> Node:
        self._check_ends(ends, (*part.excludes, *part.triggers), path)
        stops = (*part.triggers, *ends, *part.excludes)
        for one, other in permutations(part.triggers, 2):
            if one in other:
                raise GrammarError(f"{path}.triggers: {other!r} holds {one!r}, which comes first")
        after: Ends = ends if part.stop_after_first else ()
        begun: list[Node] = []
        direct: list[Node] = []
        for index, tag in enumerate(part.tags):
            place = f"{path}.tags[{index}]"
            triggers = [trigger for trigger in part.triggers if tag.begin.startswith(trigger)]
            if len(triggers) != 1:
                raise GrammarError(f"{place}.begin: {tag.begin!r} must start with exactly one of the triggers")
            if _is_unlimited(tag) and not part.stop_after_first:
                raise GrammarError(f"{place}: this tag has no end: nothing can come after it")
            inside = self._opened(tag, place, after)
            evaluated = isinstance(tag, models.EvaluatedTag)
            before = f"({_ANYTHING}{_without(stops)}{self._writer.no_tag if evaluated else ''})"
            lead = f"(({before} {lark_literal(triggers[0])}){_first_only(stops)})"
            opening = Regular(f"{lead} {lark_literal(tag.begin[len(triggers[0]) :])}", place, evaluated)
            alone = (
                Regular(lark_literal(tag.begin), place, tagged=True)
                if evaluated
                else self._text(tag.begin, f"{place}.begin")
            )
            begun.append(self._series([opening, inside], place))
            direct.append(self._series([alone, inside], place))
        tail = self._first_of(Regular(f"({_ANYTHING}{_without(stops)})", path), ends, stops, path)
        first = self._either(direct, path)
        if part.stop_after_first:
            return first if part.at_least_one else self._either([tail, *begun], path)
        many = repeated(self._either(begun, path), 0, None, self._writer.no_tag, path)
        return self._series([first, many, tail] if part.at_least_one else [many, tail], path)

    def _tags_with_separator(self, part: models.TagsWithSeparator, path: str, ends: Ends) -> Node:
        for index, tag in enumerate(part.tags):
            if _is_unlimited(tag):
                raise GrammarError(f"{path}.tags[{index}]: this tag has no end: nothing can come after it")
        tags = self._either([self.compile(tag, f"{path}.tags[{index}]") for index, tag in enumerate(part.tags)], path)
        node = tags
        if not part.stop_after_first:
            separator = self._text(part.separator, f"{path}.separator")
            more = repeated(self._series([separator, tags], path), 0, None, self._writer.no_tag, path)
            node = self._series([tags, more], path)
        if not part.at_least_one:
            node = repeated(node, 0, 1, self._writer.no_tag, path)
        return self._ended(node, path, ends)

    def _opened(self, tag: models.Tag | models.EvaluatedTag, path: str, ends: Ends) -> Node:
        if isinstance(tag, models.EvaluatedTag):
            return self._evaluated(tag, path, ends)
        return self._inside(tag, path, ends)

    def _rest(self, element: models.Format, path: str, ends: Ends) -> Node:
        """An element whose begin the text before it has ended with."""
        if isinstance(element, models.Tag | models.EvaluatedTag):
            return self._opened(element, path, ends)
        return self._ended(Regular('""', path), path, ends)

    def _first_of(self, text: Regular, ends: Ends, stops: Ends, path: str) -> Node:
        """A text and the first of its ends in it."""
        if not ends:
            return text
        tagged = ends[0] in self._writer.registry.tags  # a span's end, and the only one
        if tagged:
            text = sealed(text, self._writer.no_tag)
        any_end = " | ".join(map(lark_literal, ends))
        return Regular(f"(({text.text} ({any_end})){_first_only(stops)})", path, tagged)

    def _ended(self, node: Node, path: str, ends: Ends) -> Node:
        if not ends:
            return node
        if ends[0] in self._writer.registry.tags:  # a span's, and the only one
            return self._series([node, Regular(lark_literal(ends[0]), path, tagged=True)], path)
        any_end = " | ".join(map(lark_literal, ends))
        return self._series([node, Regular(f"({any_end})", path)], path)

    def _check_ends(self, ends: Ends, excludes: Ends, path: str) -> None:
        for one, other in permutations(ends, 2):
            if one in other:
                raise GrammarError(f"{path}: the end {other!r} holds the end {one!r}, which comes first")
        for end in ends:
            for exclude in excludes:
                if exclude in end:
                    raise GrammarError(f"{path}: the end {end!r} holds {exclude!r}, which may not come or comes first")

    def _text(self, text: str, path: str) -> Regular:
        for tag in self._writer.registry.tags:
            if tag in text:
                raise GrammarError(
                    f"{path}: holds the tag {tag!r}, which only an evaluated_tag and the engine may write"
                )
        return Regular(lark_literal(text), path)

    def _series(self, nodes: list[Node], path: str) -> Node:
        return series(nodes, self._writer.no_tag, path)

    def _either(self, nodes: list[Node], path: str) -> Node:
        return either(nodes, self._writer.no_tag, path)


def _is_unlimited(part: models.Format) -> bool:
    """Whether the text of a format goes on until something else ends it."""
    if isinstance(part, models.Sequence):
        return _is_unlimited(part.elements[-1])
    if isinstance(part, models.Or):
        return any(map(_is_unlimited, part.elements))
    if isinstance(part, models.Tag):
        return part.end in ("", ()) and _is_unlimited(part.content)
    return isinstance(part, models.AnyText | models.TriggeredTags)


def _begin(part: models.Format) -> str | None:
    """The string that every text of a format begins with, where it has one of its own."""
    if isinstance(part, models.ConstString):
        return part.value
    return part.begin if isinstance(part, models.Tag | models.EvaluatedTag) else None


def _without(strings: Ends) -> str:
    """A suffix for terminals: without these strings."""
    if not strings:
        return ""
    return f" & ~/(?s:.*)({_any_of(strings)})(?s:.*)/"


def _first_only(stops: Ends) -> str:
    """A suffix for terminals that end with one of the stops: no other ends before it does."""
    return f" & ~/(?s:.*)({_any_of(stops)})(?s:.+)/"


_MAX_STOP = 512
"""Characters of a string that a text is searched for. What the engine does for one grows with the square of its length
where it repeats itself: 50 ms for this, 10 s for 16,000."""


def _any_of(strings: Ends) -> str:
    for string in strings:
        if len(string) > _MAX_STOP:
            raise GrammarError(
                f"a string that ends a text, or that it must not hold, has at most {_MAX_STOP} characters; "
                f"{string[:20]!r}… has {len(string)}"
            )
    return "|".join(map(lark_escape, strings))


def _has_spans(part: Any) -> bool:
    """Whether the engine has a part in a format."""
    if isinstance(part, models.EvaluatedTag | models.ResultRef):
        return True
    inner = [getattr(part, name) for name in ("content", "elements", "tags") if hasattr(part, name)]
    return any(map(_has_spans, (item for value in inner for item in (value if isinstance(value, tuple) else (value,)))))
