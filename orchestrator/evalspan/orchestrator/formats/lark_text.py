"""A grammar of the user's own in llguidance's Lark dialect, with places for the engine.

`@calc` stands for a span of that name with its result, `@calc.result` for its last result said again, `@text` for
any text without a tag. A string, a regular expression or a terminal directly before `@calc` is fused with the open
tag, since a lexeme takes all it can and would swallow the tag's beginning.

Every terminal holds only text without a tag of the registry. What two terminals side by side may still spell is
refused while decoding, by the guard (`guard.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.formats.lark_source import Statement, Token, read_lark, string_value
from evalspan.orchestrator.grammar import Compilation, Marks
from evalspan.orchestrator.lark import LarkWriter, lark_literal, lark_regex
from evalspan.orchestrator.sentences import Restate
from evalspan.policies import Registry

__all__ = ["LarkText", "Rewriting", "compile_lark", "is_terminal"]

_TEXT = "@text"
_ANYTHING = "(?s:.+)"


@dataclass(frozen=True, slots=True)
class LarkText:
    """A grammar in llguidance's Lark dialect with `@span`, `@span.result` and `@text`; it starts at `start`."""

    text: str

    def compile(self, registry: Registry, marks: Marks | None) -> Compilation:
        """See `Grammar.compile`."""
        return compile_lark(self.text, LarkWriter(registry, marks))


def compile_lark(text: str, writer: LarkWriter) -> Compilation:
    """The user's grammar among the writer's rules.

    Raises:
        GrammarError: a part of it is unknown, or cannot be enforced; the text says the line.
    """
    rewriting = Rewriting(writer, "u")
    lines: dict[int, list[str]] = {}
    for statement in read_lark(text):
        lines.setdefault(statement.line, []).append(rewriting.statement(statement))
    if "start" not in rewriting.defined:
        raise GrammarError("the grammar has no rule `start`")
    writer.rule("start", "u_start")
    # On their own lines, so that what the engine says of a line is true of the user's text.
    users = "\n".join("\n".join(lines.get(number, [""])) for number in range(1, max(lines) + 1))
    return Compilation(f"{users}\n{writer.lark()}", tuple(writer.directives), spans=frozenset(writer.spans))


class Rewriting:
    """Rewrites statements: names get a prefix of their own, terminals lose every text with a tag."""

    def __init__(self, writer: LarkWriter, prefix: str) -> None:
        self.defined: set[str] = set()
        self.pieces: list[str] = []
        """The terminals that were made of parts of rules."""
        self._prefix = prefix
        self._writer = writer
        self._directives: dict[str, Callable[[Statement], str]] = {"%ignore": self._ignore, "%import": self._import}

    def statement(self, statement: Statement) -> str:
        """The statement as the engine gets it."""
        if statement.name.startswith("%"):
            if statement.name == "%llguidance" and not "".join(token.text for token in statement.body).strip("{}"):
                return ""
            if (rewrite := self._directives.get(statement.name)) is None:
                raise GrammarError(f"line {statement.line}: {statement.name} cannot be used here")
            return rewrite(statement)
        self.defined.add(statement.name)
        if is_terminal(statement.name):
            return f"{self._own(statement.name)}: {self._free_of_tags(statement.body)}"
        return f"{self._own(statement.name)}: {self._rule(statement.body)}"

    def _free_of_tags(self, body: tuple[Token, ...]) -> str:
        """The body of a terminal, without the texts that hold a tag."""
        for token in body:
            if token.kind in ("reference", "special", "name") or token.text in ("->", "%"):
                raise GrammarError(f"line {token.line}: {token.text!r} cannot stand in a terminal")
            if token.kind == "string":
                self._without_tag(token)
        return f"({' '.join(map(self.spelt, body))}){self._writer.no_tag}"

    def _rule(self, body: tuple[Token, ...]) -> str:
        out: list[str] = []
        for i, token in enumerate(body):
            after = body[i + 1].text if i + 1 < len(body) else ""
            before = body[i - 1].text if i else ""
            if token.kind == "special" or token.text in ("%", "->"):
                raise GrammarError(f"line {token.line}: {token.text!r} cannot be used here")
            if token.kind == "reference":
                self._reference(token, out, fuse=after not in ("*", "+", "?", "{", "~"))
            elif ".." in (before, after):  # one character each
                out.append(self.spelt(token))
            elif token.kind == "regex" or (token.kind == "string" and token.text.endswith("i")):
                out.append(self._hoist(f"({token.text}){self._writer.no_tag}"))
            else:
                if token.kind == "string":
                    self._without_tag(token)
                out.append(self.spelt(token))
        return " ".join(out)

    def _reference(self, token: Token, out: list[str], *, fuse: bool) -> None:
        """Put what a reference stands for; where it may, it takes the atom before it into its open tag."""
        if token.text == _TEXT:
            out.append("(" + self._writer.rule("TEXT", f"/(?s:.+)/{self._writer.no_tag}") + ")?")
            return
        name, _, part = token.text.removeprefix("@").partition(".")
        try:
            index, rule = self._writer.span(name)
        except GrammarError as error:
            raise GrammarError(f"line {token.line}: {error}") from None
        if part:
            if part != "result":
                raise GrammarError(f"line {token.line}: a span has no {part!r}; `@{name}.result` is its last result")
            out.append(self._writer.rule(f"said{index}", self._said(name, rule.result.pattern)))
            return
        self._writer.rule(f"body{index}", self._writer.body(index))
        opening = lark_literal(rule.open)
        if fuse and (atom := self._taken(out)) is not None:
            text = "ANY" if atom == "(TEXT)?" else atom
            out += [self._hoist(f"(({text}){self._writer.no_tag}) {opening}"), f"body{index}"]
        else:
            self._writer.rule(f"OPEN{index}", opening)
            out.append(self._writer.rule(f"span{index}", f"OPEN{index} body{index}"))

    def _said(self, span: str, pattern: str | None) -> str:
        if self._writer.marks is None:
            return self._hoist(f"({lark_regex(pattern or _ANYTHING)}){self._writer.no_tag}")
        return self._writer.directive(Restate(span, pattern or _ANYTHING))

    def _ignore(self, statement: Statement) -> str:
        return f"%ignore {self._hoist(self._free_of_tags(statement.body))}"

    def _import(self, statement: Statement) -> str:
        """Imported terminals are imported under another name, and free of tags under their own."""
        texts = [token.text for token in statement.body]
        if texts[:2] == ["common", "."] and len(texts) == 3:
            names = {texts[2]: texts[2]}
        elif texts[:2] == ["common", "."] and len(texts) == 5 and texts[3] == "->":
            names = {texts[2]: texts[4]}
        elif texts[:2] == ["common", "("] and texts[-1:] == [")"]:
            names = {text: text for text in texts[2:-1] if text != ","}
        else:
            raise GrammarError(f"line {statement.line}: %import is `%import common.NAME`, with `-> OTHER` or a list")
        lines = []
        for theirs, name in names.items():
            self.defined.add(name)
            lines.append(f"%import common.{theirs} -> IMPORTED_{theirs}")
            self._writer.rule(self._own(name), f"(IMPORTED_{theirs}){self._writer.no_tag}")
        return "\n".join(lines)

    def _hoist(self, body: str) -> str:
        name = self._writer.rule(f"PIECE_{self._prefix.upper()}{len(self.pieces)}", body)
        self.pieces.append(f"{name}: {body}")
        return name

    def _without_tag(self, token: Token) -> None:
        value = string_value(token)
        for tag in self._writer.registry.tags:
            if tag in value:
                raise GrammarError(
                    f"line {token.line}: {token.text} holds the tag {tag!r}, which only the engine and `@…` may write"
                )

    def spelt(self, token: Token) -> str:
        """A token as the engine gets it."""
        return self._own(token.text) if token.kind in ("name", "terminal") else token.text

    def _own(self, name: str) -> str:
        """The user's name, apart from the writer's."""
        return f"{self._prefix.upper() if is_terminal(name) else self._prefix}_{name}"

    def _taken(self, out: list[str]) -> str | None:
        """Take the last item if it is one lexeme, for fusing it with what follows."""
        if not out:
            return None
        if len(out) > 2 and out[-2] == "..":
            item = " ".join(out[-3:])
            del out[-3:]
            return item
        lexemes = ("PIECE_", f"{self._prefix.upper()}_", '"')
        return out.pop() if out[-1] == "(TEXT)?" or out[-1].startswith(lexemes) else None


def is_terminal(name: str) -> bool:
    """Whether a name is one of a terminal."""
    return name.lstrip("_")[:1].isupper()
