"""llama.cpp's GBNF as the grammar of the whole output."""

from __future__ import annotations

import re
from dataclasses import dataclass

from llguidance.gbnf_to_lark import gbnf_to_lark

from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.formats.lark_text import compile_lark
from evalspan.orchestrator.grammar import Compilation, Marks
from evalspan.orchestrator.lark import LarkWriter
from evalspan.policies import Registry

__all__ = ["Gbnf", "gbnf_as_lark"]

_ESCAPES = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_MAX_CODE_POINT = 0x10FFFF


@dataclass(frozen=True, slots=True)
class Gbnf:
    """A grammar in GBNF; it starts at `root`.

    Rules that are not recursive become one lexeme each, and a lexeme takes all the text it can: where a rule could
    end in more than one place, the longest is meant.
    """

    text: str

    def compile(self, registry: Registry, marks: Marks | None) -> Compilation:
        """See `Grammar.compile`."""
        return compile_lark(gbnf_as_lark(self.text), LarkWriter(registry, marks))


def gbnf_as_lark(text: str) -> str:
    """The grammar in Lark.

    Raises:
        GrammarError: it is no GBNF, or uses what the converter does not know.
    """
    try:
        lark = gbnf_to_lark(_ESCAPES.sub(_character, text))
    except Exception as error:  # noqa: BLE001  the converter raises bare exceptions, and an IndexError at an end
        raise GrammarError(
            f"no GBNF that can be read: {' '.join(str(error).split()) or type(error).__name__}"
        ) from None
    # In GBNF a dot is any character, line ends included.
    return "\n".join(re.sub(r"(?<![^\s(|])/\./", "/(?s:.)/", line) for line in lark.split("\n"))


def _character(escape: re.Match[str]) -> str:
    """The character of an escape by number: the converter drops leading zeros, which changes its meaning."""
    digits = escape[1] or escape[2]
    if digits is None:
        return escape[0]
    code = int(digits, 16)
    if code > _MAX_CODE_POINT or 0xD800 <= code < 0xE000:
        raise GrammarError(f"{escape[0]} is no character")
    return f"\\x{code:02x}" if code < 0x80 else chr(code)
