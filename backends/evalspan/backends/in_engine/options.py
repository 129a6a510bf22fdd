"""How a request opts in: flat keys beside its sampling parameters, checked before the engine takes it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, get_args

from evalspan.backends.in_engine.asking import parse_sentence
from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.formats import Gbnf, LarkText, Regex, StructuralTag
from evalspan.orchestrator.grammar import Grammar, Mode
from evalspan.orchestrator.json import JsonSchema
from evalspan.orchestrator.sentences import FreeText
from evalspan.policies import EvalspanError

__all__ = ["KEYS", "Options", "OptionsError", "grammar_of", "read_options"]

KEYS: Mapping[str, str] = {
    "evalspan": 'the name of a registry, "default" for the default one: opts in',
    "evalspan_mode": "grammar-eval (the default) or grammar-no-eval",
    "evalspan_required": "names of spans that must come first, with commas between them",
    "evalspan_grammar": "a grammar in Lark with @span references",
    "evalspan_gbnf": "a grammar in GBNF",
    "evalspan_regex": "a regular expression",
    "evalspan_schema": "a JSON Schema, as a string",
    "evalspan_structural_tag": "a structural tag, as a JSON string",
    "evalspan_sentence": "a sentence with parts to fill in, as a JSON string",
    "evalspan_session": "1: end the turn where something is to be forced, in place of forcing it",
    "evalspan_history": "the token ids of the output so far, where the prompt ends with a part of it",
    "evalspan_label": "a name for the request in the records of the worker",
}
"""What a request may say, each key with its meaning. Values are strings, numbers and lists of numbers."""

_MAX_TEXT = 256 * 1024  # characters of a grammar; it is compiled between two steps of everybody's
_MAX_LABEL = 200  # characters; it is for finding a line again
_ALIKE = 0.8  # how like a known key a misspelt one is, by difflib; `evalspan_shema` has 0.97, `evalspam` 0.88

_GRAMMARS: Mapping[str, Callable[[str], Grammar]] = {
    "evalspan_grammar": LarkText,
    "evalspan_gbnf": Gbnf,
    "evalspan_regex": Regex,
    "evalspan_schema": JsonSchema.parse,
    "evalspan_structural_tag": StructuralTag,
    "evalspan_sentence": parse_sentence,
}


class OptionsError(EvalspanError, ValueError):
    """A request that opts in and cannot be honoured; the text says what to send."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a request that opts in asks for."""

    registry: str = ""
    mode: Mode = "grammar-eval"
    grammar_kind: str | None = None
    """The key that gives the grammar; None is free text with spans."""
    grammar_text: str = ""
    required: tuple[str, ...] = ()
    session: bool = False
    history: tuple[int, ...] = ()
    """Tokens of the output that came before this request, forced ones included."""
    label: str = ""
    refused: str = ""
    """Why the request cannot be honoured, where that was found too late to refuse it."""

    def grammar(self) -> Grammar:
        """The grammar of the output.

        Raises:
            GrammarError: its text is none.
        """
        if self.grammar_kind is None:
            return FreeText(self.required)
        return _grammar(self.grammar_kind, self.grammar_text)


@lru_cache(maxsize=256)  # requests come in crowds that share a grammar
def _grammar(kind: str, text: str) -> Grammar:
    return _GRAMMARS[kind](text)


def read_options(given: Mapping[str, Any] | None) -> Options | None:
    """The options in a request's extra arguments; None where it does not opt in.

    Raises:
        OptionsError: a key is misspelt, a value is not of its kind, or they do not go together.
    """
    if not given:
        return None
    ours = {key: value for key, value in given.items() if key.startswith("evalspan")}
    for key in given:
        if key not in KEYS and (key in ours or difflib.get_close_matches(key, ["evalspan"], cutoff=_ALIKE)):
            raise OptionsError(_unknown(key))
    if not ours:
        return None
    if "evalspan" not in ours:
        raise OptionsError(f'{min(ours)!r} alone does nothing: opt in with "evalspan": "default" or another registry')
    grammars = [key for key in _GRAMMARS if key in ours]
    if len(grammars) > 1:
        raise OptionsError(f"{' and '.join(grammars)} exclude each other: the output has one grammar")
    if grammars and "evalspan_required" in ours:
        raise OptionsError(f"evalspan_required and {grammars[0]} exclude each other: the grammar says what comes first")
    return Options(
        registry=_text(ours, "evalspan"),
        mode=_mode(ours),
        grammar_kind=grammars[0] if grammars else None,
        grammar_text=_text(ours, grammars[0]) if grammars else "",
        required=_names(ours),
        session=_flag(ours, "evalspan_session"),
        history=_tokens(ours),
        label=_text(ours, "evalspan_label", most=_MAX_LABEL) if "evalspan_label" in ours else "",
    )


def _unknown(key: str) -> str:
    close = difflib.get_close_matches(key, KEYS, n=1, cutoff=_ALIKE)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return f"there is no key {key!r}{hint} The keys are {', '.join(KEYS)}"


def _text(given: Mapping[str, Any], key: str, most: int = _MAX_TEXT) -> str:
    value = given[key]
    if not isinstance(value, str) or not value:
        hint = ' (a JSON object is sent as a string, as in "{\\"type\\": ...}")' if key in _GRAMMARS else ""
        raise OptionsError(f"{key} must be {_article(KEYS[key])}, as a string, got {value!r:.60}{hint}")
    if len(value) > most:
        raise OptionsError(f"{key} has {len(value)} characters, the limit is {most}")
    return value


def _article(meaning: str) -> str:
    return meaning.split(":", 1)[0]


def _mode(given: Mapping[str, Any]) -> Mode:
    mode = given.get("evalspan_mode", "grammar-eval")
    if mode == "no-grammar":
        raise OptionsError(
            "evalspan_mode 'no-grammar' does not run inside an engine: a token that ran past a close tag could not be "
            "taken back; use grammar-eval, or drive the server from outside"
        )
    if mode not in get_args(Mode):
        raise OptionsError(f"evalspan_mode must be grammar-eval or grammar-no-eval, got {mode!r:.60}")
    return mode  # type: ignore[no-any-return]  # it is one of them


def _names(given: Mapping[str, Any]) -> tuple[str, ...]:
    if "evalspan_required" not in given:
        return ()
    return tuple(name.strip() for name in _text(given, "evalspan_required").split(","))


def _flag(given: Mapping[str, Any], key: str) -> bool:
    value = given.get(key, 0)
    # A boolean arrives as 0 or 1, or as what it is.
    if not isinstance(value, int | float) or value not in (0, 1):
        raise OptionsError(f"{key} must be 0 or 1, got {value!r:.60}")
    return bool(value)


def _tokens(given: Mapping[str, Any]) -> tuple[int, ...]:
    value = given.get("evalspan_history", [])
    if not isinstance(value, list | tuple) or not all(isinstance(token, int) and token >= 0 for token in value):
        raise OptionsError(f"evalspan_history must be a list of token ids, got {value!r:.60}")
    return tuple(value)


def grammar_of(options: Options) -> Grammar:
    """As `Options.grammar`, with the key in the error's text.

    Raises:
        OptionsError: the text is no grammar.
    """
    try:
        return options.grammar()
    except GrammarError as error:
        raise OptionsError(f"{options.grammar_kind}: {error}") from None
