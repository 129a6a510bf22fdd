"""Spans in Lark: what follows an open tag, up to the end of the result.

Text is fused with the tag that ends it, so two text lexemes are never adjacent and a tag cannot be put together from
two of them. After each close tag the grammar asks for the mark of a result.
"""

from __future__ import annotations

import json

from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.grammar import Directive, Marks
from evalspan.policies import Fence, LinearPattern, PatternError, Registry, RegistryError, SpanRule

__all__ = ["LarkWriter", "lark_escape", "lark_literal", "lark_regex"]


class LarkWriter:
    """Collects the rules of a grammar over a registry's spans. `NO_TAG` is a suffix for terminals that hold no tag."""

    def __init__(self, registry: Registry, marks: Marks | None) -> None:
        self.directives: list[Directive] = []
        self.spans: set[str] = set()
        """The spans that `body` was asked for."""
        self.registry = registry
        self.marks = marks
        any_tag = "|".join(lark_escape(tag) for tag in registry.tags)
        self.no_tag = f" & ~/(?s:.*)({any_tag})(?s:.*)/" if any_tag else ""
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
        rule = self.registry.spans[index]
        content = f"({lark_regex(rule.content or '(?s:.+)')}{self.no_tag}) {lark_literal(rule.close)}"
        if self.marks is None:
            content += f" {self.written_answer(index)}"
            self.spans.add(rule.name)
        return self.rule(f"BODY{index}", content)


def _fence(fence: Fence) -> str:
    return f"{lark_literal(fence.open)} ANY {lark_literal(fence.close)}"


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
