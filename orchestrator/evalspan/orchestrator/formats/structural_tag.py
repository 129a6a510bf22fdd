"""XGrammar's Structural Tag JSON as the grammar of the whole output, with spans that the engine evaluates.

Compiled straight to Lark. A maximal regular part becomes one terminal, and a format without an end of its own (any
text, triggered tags) is fused with the strings that end it. What the engine cannot follow exactly is refused, with
its place in the document.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.formats.lexemes import Lexemes
from evalspan.orchestrator.formats.structural_compiler import StructuralCompiler
from evalspan.orchestrator.formats.structural_models import ConstString, EvaluatedTag, StructuralSpec, Tag
from evalspan.orchestrator.grammar import Compilation, Marks
from evalspan.orchestrator.lark import LarkWriter
from evalspan.policies import Registry, RegistryError, SpanRule

__all__ = ["StructuralTag"]

_MAX_DEPTH = 64  # formats in one another; real documents have five


@dataclass(frozen=True, slots=True)
class StructuralTag:
    """A structural tag by its JSON text.

    Where it `continues` an output, there may be results from before, and it may begin with one said again.
    """

    text: str
    continues: bool = False

    @classmethod
    def from_json(cls, document: Any) -> StructuralTag:
        """The structural tag of a document that is already read from JSON."""
        return cls(json.dumps(document, ensure_ascii=False, sort_keys=True))

    def registry_for(self, registry: Registry) -> Registry:
        """See `ExtendsRegistry.registry_for`.

        A channel whose tags the document writes itself is none in this output: the document says what may stand in
        it.
        """
        texts = tuple(_texts(self._spec().format))
        written = [
            channel.name
            for channel in registry.channels
            if any(tag in text for tag in (channel.open, channel.close) for text in texts)
        ]
        registry = registry.without_channels(written)
        spans = list(registry.spans)
        for path, tag in _evaluated(self._spec().format, "format"):
            name = tag.name or tag.evaluator
            new = _checked_rule(path, tag, name)
            if any(_is(tag, rule) for rule in spans):
                continue
            if any(rule.name == name for rule in spans):
                raise GrammarError(f"{path}: another span is called {name!r}: give this one a `name` of its own")
            spans.append(new)
        if len(spans) == len(registry.spans):
            return registry
        try:
            return registry.with_spans(spans[len(registry.spans) :])
        except RegistryError as error:
            raise GrammarError(f"the document's spans do not fit the registry's: {error}") from None

    def compile(self, registry: Registry, marks: Marks | None) -> Compilation:
        """See `Grammar.compile`."""
        registry = self.registry_for(registry)
        writer = LarkWriter(registry, marks)
        names = {}
        for path, tag in _evaluated(self._spec().format, "format"):
            names[path] = next(rule.name for rule in registry.spans if _is(tag, rule))
        compiler = StructuralCompiler(writer, names)
        node = compiler.compile(self._spec().format, "format")
        writer.rule("start", Lexemes(writer, compiler.definitions).add(node, continues=self.continues))
        return Compilation(writer.lark(), tuple(writer.directives), spans=frozenset(writer.spans))

    def _spec(self) -> StructuralSpec:
        try:
            document = json.loads(self.text)
            _check_depth(document)
        except ValueError as error:
            raise GrammarError(f"the structural tag is no JSON: {error}") from None
        except RecursionError:
            raise GrammarError("the structural tag is nested too deeply") from None
        try:
            return StructuralSpec.model_validate(document)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            # A union adds the name of the model that it tried; the document has no such key.
            path = _path(document, first["loc"], named=first["type"] in ("extra_forbidden", "missing"))
            raise GrammarError(f"{path}: {first['msg'][:1].lower()}{first['msg'][1:]}") from None


def _check_depth(value: Any, depth: int = 0) -> None:
    if depth > 2 * _MAX_DEPTH:  # an object and a list for each format
        raise RecursionError
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_depth(item, depth + 1)


def _path(document: Any, location: tuple[int | str, ...], *, named: bool) -> str:
    """Where in the document; parts of the location that it does not have are left out, but for a last one that is
    `named` by the error."""
    path, value = "", document
    for number, part in enumerate(location):
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            if not named or number + 1 < len(location):
                continue
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path or "the document"


def _evaluated(model: BaseModel, path: str) -> Iterator[tuple[str, EvaluatedTag]]:
    """The evaluated tags of a format with their places, in order."""
    if isinstance(model, EvaluatedTag):
        yield path, model
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from _evaluated(value, f"{path}.{name}")
        elif isinstance(value, tuple):
            for index, item in enumerate(value):
                if isinstance(item, BaseModel):
                    yield from _evaluated(item, f"{path}.{name}[{index}]")


def _texts(model: BaseModel) -> Iterator[str]:
    """The texts that a format has the model write as they stand."""
    if isinstance(model, ConstString):
        yield model.value
    elif isinstance(model, Tag):
        yield model.begin
        yield from (model.end,) if isinstance(model.end, str) else model.end
    for name in type(model).model_fields:
        value = getattr(model, name)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, BaseModel):
                yield from _texts(item)


def _is(tag: EvaluatedTag, rule: SpanRule) -> bool:
    """Whether the tag is this span; what may stand in it is the grammar's affair."""
    same = _rule(tag, rule.name)
    fences = (rule.result.open, rule.result.close) == (same.result.open, same.result.close)
    errors = "error" not in tag.model_fields_set or rule.error == same.error
    stops = "on_error" not in tag.model_fields_set or rule.on_error == same.on_error
    named = tag.name is None or tag.name == rule.name
    ends = (rule.open, rule.close, rule.evaluator) == (same.open, same.close, same.evaluator)
    return ends and named and errors and stops and (fences or "result" not in tag.model_fields_set)


def _checked_rule(path: str, tag: EvaluatedTag, name: str) -> SpanRule:
    try:
        return _rule(tag, name)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        keys = ".".join({"open": "begin", "close": "end"}.get(str(key), str(key)) for key in first["loc"])
        raise GrammarError(f"{path}.{keys}: {first['msg'][:1].lower()}{first['msg'][1:]}") from None


def _rule(tag: EvaluatedTag, name: str) -> SpanRule:
    return SpanRule.model_validate(
        {
            "name": name,
            "open": tag.begin,
            "close": tag.end,
            "evaluator": tag.evaluator,
            "result": {"open": tag.result.begin, "close": tag.result.end},
            "error": {"open": tag.error.begin, "close": tag.error.end},
            "on_error": tag.on_error,
        }
    )
