"""XGrammar's Structural Tag JSON as frozen models, with two formats more: `evaluated_tag` and `result_ref`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

__all__ = [
    "AnyText",
    "ConstString",
    "EvaluatedTag",
    "Format",
    "GrammarText",
    "JsonSchema",
    "Optional",
    "Or",
    "Plus",
    "RegexText",
    "Repeat",
    "ResultFences",
    "ResultRef",
    "Sequence",
    "Star",
    "StructuralSpec",
    "Tag",
    "TagsWithSeparator",
    "TriggeredTags",
]

_MAX_PARTS = 256  # of one format: each is compared with its neighbours, and tools come by the dozen
_MAX_REPEATS = 1000  # a count is written out by the engine

Text = Annotated[str, Field(max_length=65_536)]
NonEmpty = Annotated[str, Field(min_length=1, max_length=65_536)]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class ConstString(_Model):
    """This text."""

    type: Literal["const_string"]
    value: Text


class RegexText(_Model):
    """A text that the whole pattern matches, but for those that hold an excluded string."""

    type: Literal["regex"]
    pattern: NonEmpty
    excludes: tuple[NonEmpty, ...] = ()


class AnyText(_Model):
    """Any text up to the end of the enclosing tag, without the excluded strings."""

    type: Literal["any_text"]
    excludes: tuple[NonEmpty, ...] = Field(default=(), validation_alias=AliasChoices("excludes", "excluded_str"))


class JsonSchema(_Model):
    """A JSON value of the schema."""

    type: Literal["json_schema"]
    json_schema: dict[str, Any] | bool
    style: Literal["json"] = "json"


class GrammarText(_Model):
    """A grammar in GBNF, which starts at `root`."""

    type: Literal["grammar"]
    grammar: NonEmpty


class Sequence(_Model):
    """The elements in order."""

    type: Literal["sequence"]
    elements: Annotated[tuple[Format, ...], Field(min_length=1, max_length=_MAX_PARTS)]


class Or(_Model):
    """One of the elements."""

    type: Literal["or"]
    elements: Annotated[tuple[Format, ...], Field(min_length=1, max_length=_MAX_PARTS)]


class Optional(_Model):
    """The content, or nothing."""

    type: Literal["optional"]
    content: Format


class Star(_Model):
    """The content any number of times."""

    type: Literal["star"]
    content: Format


class Plus(_Model):
    """The content once or more."""

    type: Literal["plus"]
    content: Format


class Repeat(_Model):
    """The content from `min` to `max` times; without end where `max` is -1."""

    type: Literal["repeat"]
    content: Format
    min: Annotated[int, Field(ge=0, le=_MAX_REPEATS)]
    max: Annotated[int, Field(ge=-1, le=_MAX_REPEATS)]


class Tag(_Model):
    """`begin`, the content, and `end` or one of several."""

    type: Literal["tag"] = "tag"
    begin: Text
    content: Format
    end: Text | tuple[Text, ...]


class ResultFences(_Model):
    """The tags around what the engine writes."""

    begin: NonEmpty
    end: NonEmpty


class EvaluatedTag(_Model):
    """A span: its content is evaluated, and the engine writes the result after its end.

    A span that the registry has is taken from it, and `name` may say its name; another one is added for this output.
    Without a content it is the registry's, or any text.
    """

    type: Literal["evaluated_tag"]
    begin: NonEmpty
    content: Format | None = None
    end: NonEmpty
    evaluator: Name
    result: ResultFences = ResultFences(begin="<result>", end="</result>")
    error: ResultFences = ResultFences(begin="<result_error>", end="</result_error>")
    on_error: Literal["inject", "stop"] = "inject"
    name: Name | None = None


class ResultRef(_Model):
    """The last result of a span, by its name, said again by the engine."""

    type: Literal["result_ref"]
    span: Name


class TriggeredTags(_Model):
    """Any text; a trigger in it begins one of the tags, whose begin it starts."""

    type: Literal["triggered_tags"]
    triggers: Annotated[tuple[NonEmpty, ...], Field(min_length=1, max_length=_MAX_PARTS)]
    tags: Annotated[tuple[EvaluatedTag | Tag, ...], Field(min_length=1, max_length=_MAX_PARTS)]
    at_least_one: bool = False
    stop_after_first: bool = False
    excludes: tuple[NonEmpty, ...] = ()


class TagsWithSeparator(_Model):
    """Tags with a separator between them and no other text."""

    type: Literal["tags_with_separator"]
    tags: Annotated[tuple[EvaluatedTag | Tag, ...], Field(min_length=1, max_length=_MAX_PARTS)]
    separator: Text
    at_least_one: bool = False
    stop_after_first: bool = False


Format = Annotated[
    ConstString
    | RegexText
    | AnyText
    | JsonSchema
    | GrammarText
    | Sequence
    | Or
    | Optional
    | Star
    | Plus
    | Repeat
    | Tag
    | EvaluatedTag
    | ResultRef
    | TriggeredTags
    | TagsWithSeparator,
    Field(discriminator="type"),
]
"""Any format."""


class StructuralSpec(_Model):
    """The whole document."""

    type: Literal["structural_tag"]
    format: Format
