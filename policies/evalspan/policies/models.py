"""The registry's tables as frozen models. `registry.py` reads them from TOML."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from evalspan.policies.limits import Limits, Tightening

__all__ = ["BUILTINS", "Channel", "EvaluatorEntry", "Example", "Fence", "Policies", "ResultFence", "SpanRule", "Tag"]

BUILTINS = ("arithmetic/1", "checksums/1", "dates/1", "strings/1")
"""The operator specifications that ship as modules."""

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]
"""A name that can stand on a command line and in a metric."""

Tag = Annotated[str, Field(min_length=2, max_length=64)]
"""A delimiter in generated text, such as `<calc>`."""


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Fence(_Table):
    """The tags around an injected text."""

    open: Tag
    close: Tag


class ResultFence(Fence):
    """The tags around a result, and the regular expression that the result must match."""

    pattern: str | None = None


class EvaluatorEntry(_Table):
    """An evaluator: a built-in specification or a module file, its own options, tighter limits."""

    name: Name
    builtin: str | None = None
    module: str | None = None
    """Path of a `.wasm` file, relative to the registry's file."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    """Digest the module must have; where it differs, the registry does not load."""
    options: dict[str, Annotated[int, Field(ge=0, le=4_294_967_295)]] = {}
    policy: Tightening = Tightening()
    description: str = ""


class Example(_Table):
    """A worked example for a model: in `answer` the span stands without its result, `{result}` for its value."""

    question: str
    answer: str


class SpanRule(_Table):
    """What opens a span, what may stand in it, who evaluates it, and how the answer is fenced."""

    name: Name
    open: Tag
    close: Tag
    content: str | None = None
    """What the grammar lets the model write inside; any text without a tag where it is None."""
    evaluator: str
    result: ResultFence = ResultFence(open="<result>", close="</result>")
    error: Fence = Fence(open="<result_error>", close="</result_error>")
    on_error: Literal["inject", "stop"] = "inject"
    policy: Tightening = Tightening()
    description: str = ""
    """What the span is for, in a few words; a model that is taught to use it reads them."""
    syntax: str = ""
    """How expressions are written, for the same reader."""
    examples: tuple[Example, ...] = Field(default=(), alias="example")
    """Worked examples, for the same reader."""

    @property
    def tags(self) -> tuple[str, ...]:
        """Every tag of the rule."""
        return (
            self.open,
            self.close,
            self.result.open,
            self.result.close,
            self.error.open,
            self.error.close,
        )


class Channel(_Table):
    """A part of the output, such as reasoning, in which spans are only text unless `spans` says otherwise.

    Channels do not nest: inside one, the tags of another are text. One whose tags are the same is a fence, such as
    three backquotes, and may stay open to the end.
    """

    name: Name
    open: Tag
    close: Tag
    spans: bool = False

    @property
    def is_fence(self) -> bool:
        """Whether the same tag opens and closes it."""
        return self.open == self.close


class Policies(_Table):
    """The policies by name; there is one, and an evaluator or a span tightens it."""

    default: Limits = Limits()
