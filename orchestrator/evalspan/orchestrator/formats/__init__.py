"""Grammars in the formats that others use: regular expressions, Lark, GBNF, structural tags."""

from evalspan.orchestrator.formats.gbnf import Gbnf
from evalspan.orchestrator.formats.lark_text import LarkText
from evalspan.orchestrator.formats.regex import Regex
from evalspan.orchestrator.formats.structural_tag import StructuralTag

__all__ = ["Gbnf", "LarkText", "Regex", "StructuralTag"]
