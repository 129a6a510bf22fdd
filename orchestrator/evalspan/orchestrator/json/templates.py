"""Templates: the text that an evaluator is given, with values of the document in it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal, Protocol

from evalspan.evaluators import Failure
from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.json.literals import date_literal, quoted
from evalspan.orchestrator.json.places import Path
from evalspan.policies import ErrorCode

__all__ = ["Document", "Slot", "Style", "Template", "parse_slot", "parse_template"]

Style = Literal["raw", "arithmetic", "dates", "strings", "checksums", "module"]
"""How values are written: as they are, or as the literals of an evaluator."""


class Document(Protocol):
    """What a template looks at: the values that are complete, each as its JSON text."""

    def values(self, base: Path, steps: Path) -> list[str]:
        """The values at `steps` from `base`, None being all items of an array."""
        ...


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a template for one value, or for all that a wildcard leads to.

    `up` counts from the object that holds the field: 0 is that object, 1 what it stands in. None starts at the root.
    `summed` says that it is an argument of sum, to which nothing adds 0.
    """

    up: int | None
    steps: Path
    summed: bool = False

    def base(self, holder: Path) -> Path:
        """Where its steps start, `holder` being where the object is."""
        return () if self.up is None else holder[: len(holder) - self.up]


@dataclass(frozen=True, slots=True)
class Template:
    """Text and slots in turn."""

    parts: tuple[str | Slot, ...]
    style: Style

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The slots in order."""
        return tuple(part for part in self.parts if isinstance(part, Slot))

    def instance(self, document: Document, holder: Path) -> str | Failure:
        """The text for the field that the object at `holder` holds; a failure where a value cannot stand in it."""
        out: list[str] = []
        for part in self.parts:
            if isinstance(part, str):
                out.append(part)
                continue
            written = []
            for value in document.values(part.base(holder), part.steps):
                text = _written(value, self.style)
                if isinstance(text, Failure):
                    offset = len("".join(out).encode())
                    return Failure(text.code, text.message, offset)
                written.append(text)
            out.append(", ".join(written) or ("(0)" if part.summed else ""))
        return "".join(out)


def _written(value: str, style: Style) -> str | Failure:
    """A value in the evaluator's syntax, so that it is one operand whatever it holds."""
    if value == "null":
        return Failure(ErrorCode.DOMAIN, "an input is null")
    if not value.startswith('"'):
        if style == "raw":
            return value
        # In strings/1 parentheses are those of calls; white space keeps the digits apart from others.
        return f" {value} " if style == "strings" else f"({value})"
    text = json.loads(value)
    if style == "raw":
        return str(text)
    if style == "dates":
        literal = date_literal(text)
        return Failure(ErrorCode.SYNTAX, "an input is not exactly one value") if literal is None else literal
    return quoted(text)


def parse_slot(text: str, where: str) -> Slot:
    """A slot from a pointer from the root (`/lines/*/amount`) or from the object that holds the field (`0/qty`).

    Raises:
        GrammarError: it is none.
    """
    up, slash, rest = text.partition("/")
    if not slash or (up and not (up.isascii() and up.isdigit() and len(up) <= 2)):
        raise GrammarError(f"schema at {where}: {text!r} is no JSON pointer such as /a/b, or 0/b from the holder")
    steps: list[str | int | None] = []
    for step in rest.split("/"):
        if step == "*":
            steps.append(None)
        else:
            steps.append(step.replace("~1", "/").replace("~0", "~"))
    return Slot(int(up) if up else None, tuple(steps))


def parse_template(text: str, style: Style, where: str) -> Template:
    """A template from its text; `{{` and `}}` are braces.

    Raises:
        GrammarError: a brace is open, or a slot is no pointer.
    """
    parts: list[str | Slot] = []
    literal: list[str] = []
    calls: list[bool] = []  # of the open parentheses, whether each is that of sum
    word = ""
    at = 0
    while at < len(text):
        char = text[at]
        if text[at : at + 2] in ("{{", "}}"):
            literal.append(char)
            at += 2
            continue
        if char == "{":
            end = text.find("}", at)
            if end < 0:
                raise GrammarError(f"schema at {where}: the brace at character {at} is not closed")
            slot = parse_slot(text[at + 1 : end], where)
            if style == "arithmetic" and calls and calls[-1]:
                slot = Slot(slot.up, slot.steps, summed=True)
            parts += ["".join(literal), slot]
            literal.clear()
            word = ""
            at = end + 1
            continue
        if char == "}":
            raise GrammarError(f"schema at {where}: the brace at character {at} is not opened; a brace is }}}}")
        if char == "(":
            calls.append(word == "sum")
        elif char == ")" and calls:
            calls.pop()
        word = word + char if char.isalnum() or char == "_" else word if char == " " else ""
        literal.append(char)
        at += 1
    parts.append("".join(literal))
    return Template(tuple(part for part in parts if part != ""), style)
