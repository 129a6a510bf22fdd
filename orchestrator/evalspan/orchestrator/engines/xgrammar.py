"""xgrammar, the second engine: a pushdown automaton of bytes, without a lexer.

Its package imports torch and transformers, of which nothing is needed here: the library itself is loaded, through the
classes that its package registers, or through ones that do the same.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from evalspan.orchestrator.backend import Tokenizer
from evalspan.orchestrator.engines.base import Allowed, MaskTable, engine_identity, spellings
from evalspan.orchestrator.engines.ebnf import write_ebnf
from evalspan.orchestrator.engines.productions import read_productions
from evalspan.orchestrator.errors import DecodeError, GrammarError

__all__ = ["XGrammar"]

_CLASSES = ("CompiledGrammar", "Grammar", "GrammarCompiler", "GrammarMatcher", "TokenizerInfo")
_BINDING = "xgrammar.tvm_ffi_binding"
_RAW = 0  # the vocabulary is given as bytes
_WORD = 32  # bits of a mask's word


@cache
def _library() -> Any:
    """The library's classes."""
    try:
        if _BINDING in sys.modules:
            return sys.modules[_BINDING]
        import tvm_ffi
        from tvm_ffi.libinfo import load_lib_module

        spec = find_spec("xgrammar")
        folders = [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []
        load_lib_module("xgrammar", "xgrammar_bindings", extra_lib_paths=folders)
        classes = {name: type(name, (tvm_ffi.Object,), {"__slots__": ()}) for name in _CLASSES}
        return SimpleNamespace(
            **{name: tvm_ffi.register_object(f"{_BINDING}.{name}")(made) for name, made in classes.items()}
        )
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        raise GrammarError(f"xgrammar cannot be loaded: {_reason(error)}") from None


class XGrammar:
    """See `Engine`. Building it takes some 0.1 s."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.library = _library()
        self.identity = engine_identity("xgrammar")
        # 0xFF begins no character, so no text spells a control token or a mark: they come by their ids alone.
        tokens = spellings(tokenizer, control="\xff<|control:%d|>", mark="\xff<|evalspan:%d|>")
        self.size = len(tokens)
        self.masks = MaskTable(len(tokenizer.pieces))
        self.special = frozenset(tokenizer.special_ids - tokenizer.eos_ids)
        self._info = self.library.TokenizerInfo(tokens, _RAW, self.size, sorted(tokenizer.eos_ids), False)
        self._compiler = self.library.GrammarCompiler(self._info, 1, False, -1, True)

    def compile(self, lark: str) -> _Grammar:
        """See `Engine.compile`."""
        ebnf = write_ebnf(read_productions(lark))
        try:
            return _Grammar(self, self._compiler.compile_grammar_from_strings(ebnf, "root"))
        except RuntimeError as error:
            raise GrammarError(f"the grammar does not compile with xgrammar: {_reason(error)}") from None


class _Grammar:
    def __init__(self, engine: XGrammar, compiled: Any) -> None:
        self._engine = engine
        self._compiled = compiled

    def start(self) -> _State:
        matcher = self._engine.library.GrammarMatcher(self._compiled, None, False, -1, None)
        return _State(self._engine, matcher)


class _State:
    def __init__(self, engine: XGrammar, matcher: Any, error: str = "") -> None:
        self._engine = engine
        self._matcher = matcher
        self._error = error

    def allowed(self) -> Allowed:
        bits = np.zeros((1, -(-self._engine.size // _WORD)), dtype=np.int32)
        if not self._error:
            try:
                # It is false where every token is allowed, which cannot be: nothing spells the marks.
                if not self._matcher.fill_next_token_bitmask(bits, 0, False):
                    self._error = "there is no mask"
            except RuntimeError as error:
                self._error = _reason(error)
        return self._engine.masks.allowed(bits[0])

    def take(self, tokens: Sequence[int]) -> bool:
        for token in tokens:
            if not self._error and not self._accept(token):
                self._error = f"token {token} is not allowed"
        return not self._error

    def allows(self, tokens: Sequence[int]) -> bool:
        if self._error:
            return False
        taken = 0
        while taken < len(tokens) and self._accept(tokens[taken]):
            taken += 1
        self.take_back(taken)
        return taken == len(tokens)

    def take_back(self, count: int) -> None:
        try:
            if count:
                self._matcher.rollback(count)
        except RuntimeError as error:
            self._error = _reason(error)
            raise DecodeError("the grammar engine cannot go back", self._error) from None

    def accepting(self) -> bool:
        return not self._error and bool(self._matcher.is_completed())

    def error(self) -> str:
        return self._error

    def copy(self) -> _State:
        return _State(self._engine, self._matcher.fork(), self._error)

    def _accept(self, token: int) -> bool:
        # Of a token that cannot come the library would complain on standard error.
        known = 0 <= token < self._engine.size and token not in self._engine.special
        try:
            return known and not self._matcher.is_terminated() and bool(self._matcher.accept_token(token, False))
        except RuntimeError:
            return False


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
