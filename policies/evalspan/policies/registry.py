"""The registry: evaluators, span rules, channels and limits, read from TOML and checked as a whole."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, get_args

import tomli
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from evalspan.policies.errors import EvalspanError
from evalspan.policies.limits import Limits
from evalspan.policies.models import BUILTINS, Channel, EvaluatorEntry, Policies, SpanRule
from evalspan.policies.patterns import LinearPattern, PatternError
from evalspan.policies.tags import tag_problems

__all__ = ["Registry", "RegistryError"]

_Named = TypeVar("_Named", EvaluatorEntry, SpanRule)
_MAX_FILE_BYTES = 4 * 1024 * 1024  # a thousand evaluators take 300 KB


class RegistryError(EvalspanError):
    """A registry that cannot be used. `problems` are `(key path, what is wrong and what would be right)`."""

    def __init__(self, source: str, problems: Iterable[tuple[str, str]]) -> None:
        self.source = source
        self.problems = tuple(problems)
        key, message = self.problems[0]
        more = f" (and {len(self.problems) - 1} more)" if len(self.problems) > 1 else ""
        super().__init__(f"{source}: {key + ': ' if key else ''}{message}{more}")


class Registry(BaseModel):
    """A checked registry. Immutable; `digest` identifies it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    policy: Policies = Policies()
    evaluators: tuple[EvaluatorEntry, ...] = Field(default=(), alias="evaluator")
    spans: tuple[SpanRule, ...] = Field(default=(), alias="span")
    channels: tuple[Channel, ...] = Field(default=(), alias="channel")

    _source: str = PrivateAttr(default="<registry>")
    _folder: Path = PrivateAttr(default=Path())

    @classmethod
    def load(cls, path: str | Path | None = None) -> Self:
        """Read a registry file; without a path, the one that ships with evalspan.

        Raises:
            RegistryError: the file cannot be read, is no TOML, or breaks a rule; the text names the file, the
                key path and what would be right.
        """
        if path is None:
            text = resources.files("evalspan.policies").joinpath("default.toml").read_text("utf-8")
            return cls.parse(text, source="default registry")
        path = Path(path)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise RegistryError(str(path), [("", f"cannot be read: {error.strerror}")]) from None
        if len(data) > _MAX_FILE_BYTES:
            raise RegistryError(str(path), [("", f"has {len(data)} bytes, the limit is {_MAX_FILE_BYTES}")])
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise RegistryError(str(path), [("", f"is not UTF-8 at byte {error.start}")]) from None
        return cls.parse(text, source=str(path), folder=path.parent)

    @classmethod
    def parse(cls, text: str, *, source: str = "<registry>", folder: Path | None = None) -> Self:
        """Read a registry from TOML text; module paths are relative to `folder`.

        Raises:
            RegistryError: as `load`.
        """
        try:
            raw = tomli.loads(text)
        except ValueError as error:  # not only tomli's own: an integer of 5,000 digits is another
            raise RegistryError(source, [("", f"is not TOML: {error}")]) from None
        except RecursionError:
            raise RegistryError(source, [("", "is nested too deeply")]) from None
        try:
            registry = cls.model_validate(raw)
        except ValidationError as error:
            raise RegistryError(source, _explain(error)) from None
        registry._source = source
        registry._folder = folder or Path()
        problems = list(registry._problems())
        if problems:
            raise RegistryError(source, problems)
        return registry

    @property
    def source(self) -> str:
        """Where the registry came from, for messages."""
        return self._source

    def with_spans(self, spans: Iterable[SpanRule]) -> Self:
        """This registry with more spans.

        Raises:
            RegistryError: together they break a rule.
        """
        registry = self.model_copy(update={"spans": (*self.spans, *spans)})
        problems = list(registry._problems())
        if problems:
            raise RegistryError(self._source, problems)
        return registry

    def without_channels(self, names: Iterable[str]) -> Self:
        """This registry without the channels of these names: their tags are text like any other."""
        left_out = set(names)
        kept = tuple(channel for channel in self.channels if channel.name not in left_out)
        return self if len(kept) == len(self.channels) else self.model_copy(update={"channels": kept})

    @property
    def limits(self) -> Limits:
        """The default policy."""
        return self.policy.default

    @property
    def tags(self) -> tuple[str, ...]:
        """Every registered tag, each once, in the order of the file."""
        tags = [tag for span in self.spans for tag in span.tags]
        tags += [tag for channel in self.channels for tag in (channel.open, channel.close)]
        return tuple(dict.fromkeys(tags))

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical form; modules are identified by their own digests."""
        canonical = json.dumps(self.model_dump(mode="json", by_alias=True), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def evaluator(self, name: str) -> EvaluatorEntry:
        """The evaluator called `name`.

        Raises:
            RegistryError: there is none; the text names the closest.
        """
        return self._named(name, self.evaluators, "evaluator")

    def span(self, name: str) -> SpanRule:
        """The span rule called `name`.

        Raises:
            RegistryError: there is none; the text names the closest.
        """
        return self._named(name, self.spans, "span")

    def module_path(self, entry: EvaluatorEntry) -> Path:
        """The file of an evaluator that is a module."""
        if entry.module is None:
            raise ValueError(f"evaluator {entry.name} is built in")
        return self._folder / entry.module

    def limits_for(self, entry: EvaluatorEntry, rule: SpanRule | None = None) -> Limits:
        """The limits of one evaluation: the policy, tightened by the evaluator and by the span."""
        limits = self.limits.tightened(entry.policy)
        if rule is None:
            return limits
        tighter = {
            name: min(value, getattr(limits, name)) for name, value in rule.policy.model_dump(exclude_none=True).items()
        }
        return limits.model_copy(update=tighter)

    def bound_limits_for(self, entry: EvaluatorEntry) -> Limits:
        """The limits of one evaluation for a bound JSON value; an evaluator's own limit on its input holds here too."""
        own = entry.policy.max_input_bytes
        most = self.limits.max_bound_input_bytes if own is None else own
        return self.limits_for(entry).model_copy(update={"max_input_bytes": most})

    def _named(self, name: str, items: tuple[_Named, ...], kind: str) -> _Named:
        for item in items:
            if item.name == name:
                return item
        names = [item.name for item in items]
        raise RegistryError(self._source, [("", f"no {kind} is called {name!r}{_closest(name, names)}")])

    def _problems(self) -> Iterator[tuple[str, str]]:
        yield from self._evaluator_problems()
        yield from self._span_problems()
        yield from self._tag_problems()

    def _evaluator_problems(self) -> Iterator[tuple[str, str]]:
        yield from _repeated("evaluator", self.evaluators)
        for i, entry in enumerate(self.evaluators):
            key = f"evaluator[{i}]"
            if (entry.builtin is None) == (entry.module is None):
                yield key, f"evaluator {entry.name!r} needs exactly one of `builtin` and `module`"
            if entry.builtin is not None and entry.builtin not in BUILTINS:
                yield (
                    f"{key}.builtin",
                    f"no built-in is called {entry.builtin!r}{_closest(entry.builtin, BUILTINS)}",
                )
            if looser := entry.policy.looser_than(self.limits):
                name, wanted, allowed = looser
                yield (
                    f"{key}.policy.{name}",
                    f"{wanted} is looser than the policy's {allowed}: it may only tighten",
                )

    def _span_problems(self) -> Iterator[tuple[str, str]]:
        yield from _repeated("span", self.spans)
        yield from _repeated("channel", self.channels)
        names = [entry.name for entry in self.evaluators]
        opens: dict[str, str] = {}
        for i, rule in enumerate(self.spans):
            key = f"span[{i}]"
            if rule.evaluator not in names:
                yield (
                    f"{key}.evaluator",
                    f"no evaluator is called {rule.evaluator!r}{_closest(rule.evaluator, names)}",
                )
            if looser := rule.policy.looser_than(self.limits):
                name, wanted, allowed = looser
                yield (
                    f"{key}.policy.{name}",
                    f"{wanted} is looser than the policy's {allowed}: it may only tighten",
                )
            if rule.open in opens:
                yield f"{key}.open", f"{rule.open!r} already opens the span {opens[rule.open]!r}"
            opens[rule.open] = rule.name
            for field, pattern in (("content", rule.content), ("result.pattern", rule.result.pattern)):
                if pattern is not None:
                    try:
                        LinearPattern(pattern)
                    except PatternError as error:
                        yield f"{key}.{field}", str(error)

    def _tag_problems(self) -> Iterator[tuple[str, str]]:
        """The rules that make the grammar exact: no tag lies in another, and none begins where one ends."""
        uses: dict[str, str] = {}
        roles: dict[str, set[str]] = {}
        for i, rule in enumerate(self.spans):
            for path, role, tag in (
                ("open", "open", rule.open),
                ("close", "close", rule.close),
                ("result.open", "result open", rule.result.open),
                ("result.close", "result close", rule.result.close),
                ("error.open", "error open", rule.error.open),
                ("error.close", "error close", rule.error.close),
            ):
                uses.setdefault(tag, f"span[{i}].{path}")
                roles.setdefault(tag, set()).add(role)
        entered: dict[str, str] = {}
        for i, channel in enumerate(self.channels):
            if (first := entered.setdefault(channel.open, channel.name)) != channel.name:
                yield f"channel[{i}].open", f"{channel.open!r} already opens the channel {first!r}"
            for path, tag in (("open", channel.open), ("close", channel.close)):
                uses.setdefault(tag, f"channel[{i}].{path}")
                roles.setdefault(tag, set()).add("channel fence" if channel.is_fence else f"channel {path}")
        for tag, key in uses.items():
            if len(roles[tag]) > 1:
                yield key, f"{tag!r} is used as {' and '.join(sorted(roles[tag]))}: one tag, one meaning"
        yield from tag_problems(uses, {channel.open for channel in self.channels if channel.is_fence})


def _repeated(kind: str, items: Iterable[EvaluatorEntry | SpanRule | Channel]) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for i, item in enumerate(items):
        if item.name in seen:
            yield f"{kind}[{i}].name", f"{item.name!r} is taken by another {kind}"
        seen.add(item.name)


def _closest(word: str, words: Iterable[str]) -> str:
    words = list(words)
    if close := difflib.get_close_matches(word, words, n=1, cutoff=0.5):
        return f"; did you mean {close[0]!r}?"
    return f"; known: {', '.join(sorted(words)[:20])}" if words else "; there are none"


def _explain(error: ValidationError) -> list[tuple[str, str]]:
    problems = []
    for item in error.errors(include_url=False, include_context=False):
        loc = item["loc"]
        message = item["msg"][:1].lower() + item["msg"][1:]
        if item["type"] == "extra_forbidden":
            message = f"unknown key{_closest(str(loc[-1]), _keys_at(loc[:-1]))}"
        elif item["type"] == "missing":
            message = "this key is required"
        else:
            shown = repr(item["input"])
            message = f"{message}, got {shown if len(shown) <= 60 else shown[:57] + '...'}"
        problems.append((_key_path(loc), message))
    return problems


def _key_path(loc: tuple[int | str, ...]) -> str:
    path = ""
    for part in loc:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path


def _keys_at(loc: tuple[int | str, ...]) -> list[str]:
    """The keys that the table at `loc` may have."""
    model: Any = Registry
    for part in loc:
        if isinstance(part, int):
            continue
        field = next(
            (f for name, f in model.model_fields.items() if part in (name, f.alias)),
            None,
        )
        if field is None:
            return []
        model = _model_in(field.annotation)
        if model is None:
            return []
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_in(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((m for arg in get_args(annotation) if (m := _model_in(arg)) is not None), None)
