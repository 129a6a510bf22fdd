"""The output as one grammar, result regions included, in llguidance's Lark dialect.

Two things make it exact. Text is fused with the tag that ends it, so two text lexemes are never adjacent and a tag
cannot be put together from two of them. After each close tag the grammar asks for a mark, a token that the model
does not have: no ordinary token can run past the tag, and only the engine can go on, with the result.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evalspan.orchestrator.errors import GrammarError
from evalspan.policies import Fence, LinearPattern, PatternError, Registry, RegistryError, SpanRule

__all__ = [
    "LEAD_LETTERS",
    "LEAD_WORDS",
    "MARKS",
    "MODES",
    "RETRIES",
    "Directive",
    "FreeText",
    "Marks",
    "Mode",
    "Pattern",
    "Restate",
    "Sentence",
    "SpanPart",
    "to_lark",
]

Mode = Literal["no-grammar", "grammar-no-eval", "grammar-eval"]
"""Who writes a result, and what keeps the output in shape.

`no-grammar`: the engine injects results, and nothing is masked. `grammar-no-eval`: the output is masked, and the
model writes the results. `grammar-eval`: the output is masked, and the engine injects the results.
"""

MODES: tuple[Mode, ...] = ("no-grammar", "grammar-no-eval", "grammar-eval")

RETRIES = 2
"""How often a span of a sentence may be written again after an error."""


LEAD_WORDS = 6
"""How many words may come before a required span."""

LEAD_LETTERS = 16
"""How long such a word may be: without a bound a model can talk for ever without a space."""


@dataclass(frozen=True, slots=True)
class FreeText:
    """Text with spans, any number of them in any order.

    The spans in `required` come first, in this order, each after at most `LEAD_WORDS` words that hold no digit:
    a small model that may talk for as long as it likes never comes to the span, and does the sum itself on the way.
    """

    required: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pattern:
    """A part of a sentence that the model fills in, by a linear-time regular expression."""

    regex: str


@dataclass(frozen=True, slots=True)
class SpanPart:
    """A part of a sentence that is one span, by its rule's name, with its result."""

    span: str


@dataclass(frozen=True, slots=True)
class Restate:
    """A part of a sentence that says the last result of a span again; the engine forces it.

    Where the model writes the results itself, it writes this part too, by `regex`.
    """

    span: str
    regex: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A fixed sentence: literal strings, patterns, spans and their results in order."""

    parts: tuple[str | Pattern | SpanPart | Restate, ...]


Directive = Restate
"""What the engine forces at a place of the grammar, beside the result of a span."""

MARKS = 64
"""How many tokens a vocabulary has beside the model's own: two, and one for each directive of a grammar."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The ids of the tokens that the model does not have, for a vocabulary of `size`."""

    size: int

    @property
    def result(self) -> int:
        """Asks for the result of the span that has just closed."""
        return self.size

    @property
    def end(self) -> int:
        """Ends the text of a directive, which could otherwise be read as longer or shorter."""
        return self.size + 1

    def directive(self, index: int) -> int:
        """Asks for the text of a directive.

        Raises:
            GrammarError: there are more directives than marks.
        """
        if index >= MARKS - 2:
            raise GrammarError(f"a grammar has at most {MARKS - 2} parts that are forced beside the results of spans")
        return self.size + 2 + index


def to_lark(grammar: FreeText | Sentence, registry: Registry, marks: Marks | None) -> tuple[str, list[Directive]]:
    """The grammar in Lark, and its directives. Without `marks` the model writes the results (`grammar-no-eval`).

    Raises:
        GrammarError: an unknown span, or a pattern that is no linear-time regular expression.
    """
    writer = _Writer(registry, marks)
    if isinstance(grammar, FreeText):
        return writer.free_text(grammar.required), writer.directives
    return writer.sentence(grammar.parts), writer.directives


class _Writer:
    def __init__(self, registry: Registry, marks: Marks | None) -> None:
        self.directives: list[Directive] = []
        self._registry = registry
        self._marks = marks
        any_tag = "|".join(_escape(tag) for tag in registry.tags)
        self._no_tag = f" & ~/(?s:.*)({any_tag})(?s:.*)/" if any_tag else ""
        # `no_forcing`: text keeps every tokenization that the model may choose.
        self._rules = ['%llguidance { "no_forcing": true }']

    def _rule(self, name: str, body: str) -> None:
        self._rules.append(f"{name}: {body}")

    def free_text(self, required: Sequence[str]) -> str:
        spans = self._registry.spans
        for index, rule in enumerate(spans):
            self._rule(f"OPEN{index}", f"ANY {_literal(rule.open)}")
            self._rule(f"span{index}", f"OPEN{index} body{index}")
            self._rule(f"body{index}", self._body(index, rule))
        channels = self._registry.channels
        for index, channel in enumerate(channels):
            inside = "(" + " | ".join(f"span{i}" for i in range(len(spans))) + ")* " if channel.spans and spans else ""
            self._rule(f"ENTER{index}", f"ANY {_literal(channel.open)}")
            self._rule(f"LEAVE{index}", f"ANY {_literal(channel.close)}")
            self._rule(f"channel{index}", f"ENTER{index} {inside}LEAVE{index}")
        items = [f"span{i}" for i in range(len(spans))] + [f"channel{i}" for i in range(len(channels))]
        many = "item* " if items else ""
        if items:
            self._rule("item", " | ".join(items))
        needed = "".join(f"FIRST{self._index(name)} body{self._index(name)} " for name in required)
        for name in dict.fromkeys(required):
            word = rf"[^ \n\p{{N}}]{{0,{LEAD_LETTERS}}}"
            lead = f"/({word} ){{0,{LEAD_WORDS}}}/{self._no_tag}"
            self._rule(f"FIRST{self._index(name)}", f"({lead}) {_literal(self._registry.span(name).open)}")
        self._rule("start", f"{needed}{many}TEXT?")
        self._rule("TEXT", f"/(?s:.+)/{self._no_tag}")
        return self._finish()

    def sentence(self, parts: Sequence[str | Pattern | SpanPart | Restate]) -> str:
        if not parts:
            raise GrammarError("a sentence needs at least one part")
        order: list[str] = []
        terminal: list[str] = []  # what is fused up to the next place where the engine takes over

        def end_terminal(number: int) -> None:
            if terminal:
                self._rule(f"PART{number}", " ".join(terminal))
                order.append(f"PART{number}")
                terminal.clear()

        for number, part in enumerate(parts):
            if isinstance(part, SpanPart):
                index = self._index(part.span)
                rule = self._registry.spans[index]
                terminal.append(_literal(rule.open))
                end_terminal(number)
                order.append(self._attempt(number, index, rule))
            elif isinstance(part, Restate) and self._marks is not None:
                self._index(part.span)
                end_terminal(number)
                order.append(self._directive(part))
            elif isinstance(part, Pattern | Restate):
                terminal.append(_regex(part.regex))
            elif part:
                terminal.append(_literal(part))
        end_terminal(len(parts))
        self._rule("start", " ".join(order))
        return self._finish()

    def _directive(self, directive: Directive) -> str:
        """The place of a forced text: its mark, any text without a tag, the end."""
        if self._marks is None:
            raise ValueError("without marks nothing is forced")
        if directive not in self.directives:
            self.directives.append(directive)
        mark = self._marks.directive(self.directives.index(directive))
        return f"<[{mark}]> ANY <[{self._marks.end}]>"

    def _attempt(self, number: int, index: int, rule: SpanRule) -> str:
        """A span whose open tag is written; after an error it may be written again."""
        body = self._body(index, rule)
        if self._marks is None:
            return body
        self._rule(f"AGAIN{number}", _literal(rule.open))
        self._rule(f"try{number}_0", body)
        content = f"BODY{index} <[{self._marks.result}]>"
        for left in range(1, RETRIES + 1):
            again = f"ERROR{index} AGAIN{number} try{number}_{left - 1}"
            self._rule(f"try{number}_{left}", f"{content} (RESULT{index} | {again})")
        return f"try{number}_{RETRIES}"

    def _body(self, index: int, rule: SpanRule) -> str:
        """What follows the open tag of a span, to the end of its result."""
        content = f"({_regex(rule.content or '(?s:.+)')}{self._no_tag})"
        close = f"{content} {_literal(rule.close)}"
        if self._marks is None:
            pattern = f"({_regex(rule.result.pattern)}{self._no_tag})" if rule.result.pattern else "ANY"
            block = f"{_literal(rule.result.open)} {pattern} {_literal(rule.result.close)}"
            self._define(f"BODY{index}", f"{close} {block}")
            return f"BODY{index}"
        self._define(f"BODY{index}", close)
        self._define(f"RESULT{index}", _fence(rule.result))
        self._define(f"ERROR{index}", _fence(rule.error))
        return f"BODY{index} <[{self._marks.result}]> (RESULT{index} | ERROR{index})"

    def _define(self, name: str, body: str) -> None:
        if f"{name}: {body}" not in self._rules:
            self._rule(name, body)

    def _index(self, span: str) -> int:
        try:
            return self._registry.spans.index(self._registry.span(span))
        except RegistryError as error:
            raise GrammarError(str(error)) from None

    def _finish(self) -> str:
        self._rule("ANY", f"/(?s:.*)/{self._no_tag}")
        return "\n".join(self._rules) + "\n"


def _fence(fence: Fence) -> str:
    return f"{_literal(fence.open)} ANY {_literal(fence.close)}"


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _escape(text: str) -> str:
    """The text as a regular expression: everything but ASCII letters and digits by its code point."""
    return "".join(c if c.isascii() and c.isalnum() else f"\\x{{{ord(c):X}}}" for c in text)


def _regex(pattern: str) -> str:
    """The pattern as a Lark regular expression; a slash would end it and is spelt by its code."""
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
