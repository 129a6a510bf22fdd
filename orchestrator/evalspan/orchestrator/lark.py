"""Spans in Lark: what follows an open tag, up to the end of the result.

Text is fused with the tag that ends it, so two text lexemes are never adjacent and a tag cannot be put together from
two of them. After each close tag the grammar asks for the mark of a result.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.grammar import Directive, Marks
from evalspan.policies import Fence, LinearPattern, PatternError, Registry, RegistryError, SpanRule

__all__ = ["LarkWriter", "lark_escape", "lark_literal", "lark_regex", "lark_without"]


class LarkWriter:
    """Collects the rules of a grammar over a registry's spans. `NO_TAG` is a suffix for terminals that hold no tag."""

    def __init__(self, registry: Registry, marks: Marks | None, *, closes: tuple[str, ...] = ()) -> None:
        """`closes` are strings that no span may hold, beside the tags."""
        self.directives: list[Directive] = []
        self.spans: set[str] = set()
        """The spans that `body` was asked for."""
        self.registry = registry
        self.marks = marks
        self.no_tag = lark_without(registry.tags)
        self._inside_span = lark_without(dict.fromkeys((*registry.tags, *closes)))
        # `no_forcing`: text keeps every tokenization that the model may choose.
        self._rules = ['%llguidance { "no_forcing": true }']
        self._names: set[str] = set()

    def rule(self, name: str, body: str) -> str:
        """Add a rule, once; its name in capitals makes it a terminal. Answers the name."""
        if name not in self._names:
            self._names.add(name)
            self._rules.append(f"{name}: {body}")
        return name

    def lark(self) -> str:
        """The whole grammar."""
        self.rule("ANY", f"/(?s:.*)/{self.no_tag}")
        return "\n".join(self._rules) + "\n"

    def span(self, name: str) -> tuple[int, SpanRule]:
        """A span rule and its number.

        Raises:
            GrammarError: there is none of this name.
        """
        try:
            rule = self.registry.span(name)
        except RegistryError as error:
            raise GrammarError(str(error)) from None
        return self.registry.spans.index(rule), rule

    def body(self, index: int) -> str:
        """What follows the open tag of span `index`, to the end of its result; spans may then go on in any way."""
        content = self._content(index)
        return content if self.marks is None else f"{content} {self.answer(index)}"

    def answer(self, index: int) -> str:
        """What the engine writes after the close tag of span `index`."""
        if self.marks is None:
            raise ValueError("without marks nothing is forced")
        rule = self.registry.spans[index]
        self.spans.add(rule.name)
        self.rule(f"RESULT{index}", _fence(rule.result))
        self.rule(f"ERROR{index}", _fence(rule.error))
        return f"<[{self.marks.result}]> (RESULT{index} | ERROR{index})"

    def written_answer(self, index: int) -> str:
        """As `answer`, where the model writes it: a part of a terminal."""
        fence = self.registry.spans[index].result
        pattern = f"({lark_regex(fence.pattern)}{self.no_tag})" if fence.pattern else "ANY"
        return f"{lark_literal(fence.open)} {pattern} {lark_literal(fence.close)}"

    def enclosed(self, name: str, close: str, *, spans: bool) -> str:
        """What may come before the last text of a part that ends with `close`: spans, or nothing where there are none.

        Adds the terminal `LEAVE<name>`, the last text with the close tag, and `REST<name>`, a last text without it.
        The part's text holds no tag of a span's where spans are evaluated, else none of the engine's; the tags of
        channels are text in it.
        """
        if spans:
            tags = [tag for rule in self.registry.spans for tag in rule.tags]
        else:
            fences = [fence for rule in self.registry.spans for fence in (rule.result, rule.error)]
            tags = [tag for fence in fences for tag in (fence.open, fence.close)]
        free = lark_without(dict.fromkeys((*tags, close)))
        self.rule(f"WITHIN{name}", f"/(?s:.*)/{free}")
        self.rule(f"REST{name}", f"/(?s:.+)/{free}")
        self.rule(f"LEAVE{name}", self.up_to(close, f"WITHIN{name}"))
        items = []
        for index, rule in enumerate(self.registry.spans if spans else ()):
            self.rule(f"OPEN{index}{name}", f"WITHIN{name} {lark_literal(rule.open)}")
            self.rule(f"body{index}", self.body(index))
            items.append(self.rule(f"span{index}{name.lower()}", f"OPEN{index}{name} body{index}"))
        return f"({' | '.join(items)})* " if items else ""

    def up_to(self, tag: str, text: str = "ANY") -> str:
        """A text and the first place where the tag is complete in it, as the right side of a terminal."""
        fused = f"{text} {lark_literal(tag)}"
        if not any(tag.startswith(tag[start:]) for start in range(1, len(tag))):
            return fused
        # The end of the text and the beginning of the tag can be told apart in two ways.
        return f"({fused}) & ~/(?s:.*)({lark_escape(tag)})(?s:.+)/"

    def attempts(self, index: int, retries: int) -> str:
        """As `body`, but after an error the span may be written again, `retries` times."""
        body = self.body(index)
        if self.marks is None:
            return body
        again = self.rule(f"AGAIN{index}", lark_literal(self.registry.spans[index].open))
        name = self.rule(f"try{index}_0", body)
        for left in range(1, retries + 1):
            asked = f"BODY{index} <[{self.marks.result}]>"
            name = self.rule(f"try{index}_{left}", f"{asked} (RESULT{index} | ERROR{index} {again} {name})")
        return name

    def directive(self, directive: Directive, text: str = "ANY") -> str:
        """The place of a forced text: its mark, the text (without a tag by default), the end."""
        if self.marks is None:
            raise ValueError("without marks nothing is forced")
        if directive not in self.directives:
            self.directives.append(directive)
        mark = self.marks.directive(self.directives.index(directive))
        return f"<[{mark}]> {text} <[{self.marks.end}]>"

    def _content(self, index: int) -> str:
        if f"BODY{index}" in self._names:  # a grammar may refer to a span a thousand times
            return f"BODY{index}"
        rule = self.registry.spans[index]
        content = f"({lark_regex(rule.content or '(?s:.+)')}{self._inside_span}) {lark_literal(rule.close)}"
        if self.marks is None:
            content += f" {self.written_answer(index)}"
            self.spans.add(rule.name)
        return self.rule(f"BODY{index}", content)


def _fence(fence: Fence) -> str:
    return f"{lark_literal(fence.open)} ANY {lark_literal(fence.close)}"


def lark_without(strings: Iterable[str]) -> str:
    """A suffix for terminals: without any of these strings in the text."""
    any_string = "|".join(map(lark_escape, strings))
    return f" & ~/(?s:.*)({any_string})(?s:.*)/" if any_string else ""


def lark_literal(text: str) -> str:
    """The text as a Lark string."""
    return json.dumps(text, ensure_ascii=False)


def lark_escape(text: str) -> str:
    """The text as a regular expression: everything but ASCII letters and digits by its code point."""
    return "".join(c if c.isascii() and c.isalnum() else f"\\x{{{ord(c):X}}}" for c in text)


def lark_regex(pattern: str) -> str:
    """The pattern as a Lark regular expression; a slash would end it and is spelt by its code.

    Raises:
        GrammarError: it is no linear-time regular expression.
    """
    try:
        LinearPattern(pattern)
    except PatternError as error:
        raise GrammarError(str(error)) from None
    out, escaped = [], False
    for char in pattern:
        if escaped:
            escaped = False
            out.append("x2F" if char == "/" else char)
        elif char == "\\":
            escaped = True
            out.append(char)
        else:
            out.append({"/": "\\x2F", "\n": "\\n", "\r": "\\r"}.get(char, char))
    return "/" + "".join(out) + "/"
