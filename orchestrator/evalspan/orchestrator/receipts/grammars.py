"""Grammars as JSON: what each was written as, from which it can be made again, and what became of it when compiled.

A receipt holds both. What was compiled follows from what was written, so neither can be changed alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from evalspan.orchestrator.errors import GrammarError, RequestError
from evalspan.orchestrator.formats import Gbnf, LarkText, Regex, StructuralTag
from evalspan.orchestrator.grammar import ExtendsRegistry, Grammar, Marks, Mode
from evalspan.orchestrator.json import JsonSchema
from evalspan.orchestrator.receipts.canonical import ReceiptError, json_path
from evalspan.orchestrator.sentences import FreeText, Pattern, Restate, Sentence, SpanPart
from evalspan.orchestrator.windows import Window, Windows
from evalspan.policies import Registry

__all__ = ["compiled", "describe", "described"]


def describe(grammar: Grammar) -> dict[str, Any]:
    """What a grammar was written as; `described` makes an equal one of it.

    Raises:
        RequestError: it is of a class that is not among evalspan's own.
    """
    if isinstance(grammar, FreeText):
        return {"kind": "free_text", "required": list(grammar.required)}
    if isinstance(grammar, Sentence):
        return {"kind": "sentence", "parts": [_part(part) for part in grammar.parts]}
    if isinstance(grammar, Regex):
        return {"kind": "regex", "pattern": grammar.pattern}
    if isinstance(grammar, Gbnf):
        return {"kind": "gbnf", "text": grammar.text}
    if isinstance(grammar, LarkText):
        return {"kind": "lark", "text": grammar.text}
    if isinstance(grammar, StructuralTag):
        return {"kind": "structural_tag", "text": grammar.text, "continues": grammar.continues}
    if isinstance(grammar, JsonSchema):
        return {"kind": "json_schema", "text": grammar.text, "formats": grammar.formats}
    if isinstance(grammar, Windows):
        return {
            "kind": "windows",
            "parts": [_window(p) if isinstance(p, Window) else describe(p) for p in grammar.parts],
        }
    raise RequestError(f"a receipt cannot describe a grammar of the class {type(grammar).__name__}")


def described(description: Mapping[str, Any], path: str = "grammar") -> Grammar:
    """The grammar of a description; `path` is where it stands, for errors.

    Raises:
        ReceiptError: it is none; the text says where.
    """
    kind = description.get("kind")
    try:
        if kind == "free_text":
            _keys(description, path, "required")
            return FreeText(tuple(_strings(description["required"], f"{path}.required")))
        if kind == "sentence":
            _keys(description, path, "parts")
            parts = _items(description["parts"], f"{path}.parts")
            return Sentence(tuple(_made_part(part, f"{path}.parts[{i}]") for i, part in enumerate(parts)))
        if kind == "regex":
            _keys(description, path, "pattern")
            return Regex(_string(description["pattern"], f"{path}.pattern"))
        if kind in ("gbnf", "lark"):
            _keys(description, path, "text")
            return (Gbnf if kind == "gbnf" else LarkText)(_string(description["text"], f"{path}.text"))
        if kind == "structural_tag":
            _keys(description, path, "text", "continues")
            return StructuralTag(
                _string(description["text"], f"{path}.text"), _flag(description["continues"], f"{path}.continues")
            )
        if kind == "json_schema":
            _keys(description, path, "text", "formats")
            formats: Any = _string(description["formats"], f"{path}.formats")
            return JsonSchema.parse(_string(description["text"], f"{path}.text"), formats=formats)
        if kind == "windows":
            _keys(description, path, "parts")
            items = _items(description["parts"], f"{path}.parts")
            return Windows(tuple(_made_window(item, f"{path}.parts[{i}]") for i, item in enumerate(items)))
    except GrammarError as error:
        raise ReceiptError(str(error), path) from None
    raise ReceiptError(f"there is no kind of grammar called {kind!r}", f"{path}.kind")


def compiled(grammar: Grammar, registry: Registry, mode: Mode, vocabulary_size: int) -> list[Any]:
    """What a grammar compiles to, part by part: the text for the grammar engine and everything beside it.

    Empty where nothing is masked and the grammar is free text.

    Raises:
        GrammarError: it does not compile.
    """
    if mode == "no-grammar" and isinstance(grammar, FreeText):
        return []
    if isinstance(grammar, ExtendsRegistry):
        registry = grammar.registry_for(registry)
    marks = Marks(vocabulary_size) if mode == "grammar-eval" else None
    return [_rendered(part) for part in grammar.compile(registry, marks).parts]


def _rendered(value: Any) -> Any:
    """A value of the compiler's as JSON, each of its classes by its name."""
    if is_dataclass(value) and not isinstance(value, type):
        shown = {field.name: _rendered(getattr(value, field.name)) for field in fields(value)}
        return {"is": type(value).__name__, **{name: item for name, item in shown.items() if item not in (None, [])}}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(name): _rendered(item) for name, item in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(_rendered(item) for item in value)
    if isinstance(value, tuple | list):
        return [_rendered(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    if value is None or isinstance(value, str | int | float):
        return value
    raise RequestError(f"a receipt cannot describe a part of a grammar of the class {type(value).__name__}")


def _part(part: str | Pattern | SpanPart | Restate) -> Any:
    if isinstance(part, Pattern):
        return {"pattern": part.regex}
    if isinstance(part, SpanPart):
        return {"span": part.span}
    if isinstance(part, Restate):
        return {"restate": part.span, "regex": part.regex}
    return part


def _made_part(part: Any, path: str) -> str | Pattern | SpanPart | Restate:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping) and all(isinstance(item, str) for item in part.values()):
        if part.keys() == {"pattern"}:
            return Pattern(part["pattern"])
        if part.keys() == {"span"}:
            return SpanPart(part["span"])
        if part.keys() == {"restate", "regex"}:
            return Restate(part["restate"], part["regex"])
    raise ReceiptError("is no part of a sentence", path)


_WINDOW = tuple(field.name for field in fields(Window))


def _window(window: Window) -> dict[str, Any]:
    return {"kind": "window", **{name: getattr(window, name) for name in _WINDOW}}


def _made_window(item: Any, path: str) -> Window | Grammar:
    if not isinstance(item, Mapping):
        raise ReceiptError("is no part of windows", path)
    if item.get("kind") != "window":
        return described(item, path)
    _keys(item, path, *_WINDOW)
    for name in ("close", "open", "gap", "name"):
        _string(item[name], f"{path}.{name}")
    _flag(item["spans"], f"{path}.spans")
    most = item["max_tokens"]
    if most is not None and (not isinstance(most, int) or isinstance(most, bool)):
        raise ReceiptError("must be an integer or null", f"{path}.max_tokens")
    return Window(**{name: item[name] for name in _WINDOW})


def _keys(table: Mapping[str, Any], path: str, *names: str) -> None:
    for name in table:
        if name not in (*names, "kind"):
            raise ReceiptError("unknown key", json_path(path, name))
    for name in names:
        if name not in table:
            raise ReceiptError("this key is required", json_path(path, name))


def _string(value: Any, path: str) -> str:
    if not isinstance(value, str):
        raise ReceiptError("must be a string", path)
    return value


def _flag(value: Any, path: str) -> bool:
    if not isinstance(value, bool):
        raise ReceiptError("must be true or false", path)
    return value


def _items(value: Any, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise ReceiptError("must be an array", path)
    return value


def _strings(value: Any, path: str) -> list[str]:
    return [_string(item, json_path(path, index)) for index, item in enumerate(_items(value, path))]
