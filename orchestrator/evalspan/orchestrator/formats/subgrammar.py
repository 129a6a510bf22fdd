"""A GBNF grammar as a part of a structural tag."""

from __future__ import annotations

from evalspan.orchestrator.formats.gbnf import gbnf_as_lark
from evalspan.orchestrator.formats.lark_source import read_lark
from evalspan.orchestrator.formats.lark_text import Rewriting, is_terminal
from evalspan.orchestrator.formats.nodes import Node, Regular, SubGrammar
from evalspan.orchestrator.lark import LarkWriter

__all__ = ["gbnf_node"]

_ANY_BYTE = frozenset(range(256))


def gbnf_node(text: str, writer: LarkWriter, path: str, prefix: str) -> tuple[Node, str]:
    """The grammar as a node, and the terminals that it names; `prefix` keeps its names apart.

    Without recursion it is one regular part, and exact. Otherwise its lexemes are the converter's, and where it ends
    is not known beforehand: nothing may follow it.

    Raises:
        GrammarError: it is no GBNF, or has what cannot be enforced.
    """
    rewriting = Rewriting(writer, prefix)
    statements = read_lark(gbnf_as_lark(text))
    lines = [line for statement in statements if (line := rewriting.statement(statement))]
    start = next(statement for statement in statements if statement.name == "start")
    others = [statement.name for statement in statements if not statement.name.startswith(("%", "start"))]
    recursive = any(token.text == "start" for token in start.body) or not all(map(is_terminal, others))
    if not recursive:
        terminals = [line for line in lines if is_terminal(line)]
        for line in terminals:
            name, _, body = line.partition(": ")
            writer.rule(name, body)
        return Regular(f"({' '.join(map(rewriting.spelt, start.body))})", path), "\n".join(terminals) + "\n"
    for line in lines:
        name, _, body = line.partition(": ")
        writer.rule(name, body)
    rules = "\n".join([*lines, *rewriting.pieces]) + "\n"
    return SubGrammar(f"{prefix}_start", path, rules, grows=_ANY_BYTE), ""
