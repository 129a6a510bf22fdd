"""What a grammar is to the driver: Lark text for the matcher, and directives for what the engine forces in it.

A grammar covers the whole output. Where the engine takes over it asks for a mark, a token that the model does not
have: no ordinary token can run past such a place, and only the engine can go on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Protocol, runtime_checkable

from evalspan.evaluators import Outcome
from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.events import Event, FinishReason, InjectionKind
from evalspan.policies import Registry

__all__ = [
    "MARKS",
    "MODES",
    "Compilation",
    "Directive",
    "ExtendsRegistry",
    "Grammar",
    "Marks",
    "Mode",
    "Observation",
    "Observed",
    "Observer",
    "Resolved",
    "WindowRule",
    "Written",
]

Mode = Literal["no-grammar", "grammar-no-eval", "grammar-eval"]
"""Who writes a result, and what keeps the output in shape.

`no-grammar`: the engine injects results, and nothing is masked. `grammar-no-eval`: the output is masked, and the
model writes the results. `grammar-eval`: the output is masked, and the engine injects the results.
"""

MODES: tuple[Mode, ...] = ("no-grammar", "grammar-no-eval", "grammar-eval")

MARKS = 64
"""How many tokens a vocabulary has beside the model's own: two, and one for each directive of a grammar."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The ids of the tokens that the model does not have, for a vocabulary of `size`."""

    size: int

    @property
    def result(self) -> int:
        """Asks for the result of the span that has just closed."""
        return self.size

    @property
    def end(self) -> int:
        """Ends the text of a directive, which could otherwise be read as longer or shorter."""
        return self.size + 1

    def directive(self, index: int) -> int:
        """Asks for the text of a directive.

        Raises:
            GrammarError: there are more directives than marks.
        """
        if index >= MARKS - 2:
            raise GrammarError(f"a grammar has at most {MARKS - 2} parts that are forced beside the results of spans")
        return self.size + 2 + index


@dataclass(frozen=True, slots=True)
class Written:
    """What a directive or an observer may look at: the outcomes of spans, the evaluators, what has read the output."""

    outcomes: Mapping[str, Outcome]
    """The last outcome of each span."""
    evaluate: Callable[[str, bytes], tuple[Outcome, float]]
    """Evaluates with an evaluator of the registry, by its name: the outcome, and the microseconds it took.

    What it is given is no span: the limit on its bytes is that of bound values.
    """
    observer: Observer | None = None
    """What has read the output so far, where the grammar has one."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a directive forces, and what there is to report; without a text the generation stops."""

    text: str | None
    events: tuple[Event, ...] = ()
    span: str | None = None
    """What the injection belongs to, where that is known only now."""


class Directive(Protocol):
    """What the engine forces at a place of a grammar, beside the results of spans."""

    kind: ClassVar[InjectionKind]

    @property
    def span(self) -> str:
        """What the injection belongs to, for its event."""
        ...

    def resolve(self, written: Written) -> Resolved:
        """The text to force here."""
        ...


@dataclass(frozen=True, slots=True)
class Observed:
    """What an observer has to report; where `stop` is set the generation ends with that reason."""

    events: tuple[Event, ...] = ()
    stop: FinishReason | None = None


class Observer(Protocol):
    """Reads the output of one generation as it comes, each byte once."""

    def read(self, data: bytes, written: Callable[[], Written]) -> Observed:
        """Take the bytes of a sampled token or of a forced text. A forced text does not stop a generation."""
        ...

    def fork(self) -> Observer:
        """An observer that has read the same, and goes on by itself."""
        ...


class Observation(Protocol):
    """Makes the observers of a grammar. Hashable, equal where the observers do the same."""

    def start(self) -> Observer:
        """An observer for a new generation."""
        ...


@dataclass(frozen=True, slots=True)
class WindowRule:
    """A part of the output that is any text up to `close`, which ends it wherever it is complete.

    Spans in it are evaluated or are text, as `spans` says. Once it has `max_tokens`, the engine writes the close.
    """

    name: str
    close: str
    spans: bool
    max_tokens: int | None


@dataclass(frozen=True, slots=True)
class Compilation:
    """A grammar for the matcher. Mark `Marks.directive(i)` asks for `directives[i]`.

    `free_text` says that the grammar is free text with injected spans: only there is the mask of plain text a function
    of the tag and the character that are open, and may be kept. Where `inert` is set, a span in the output is text like
    any other. `spans` are the spans that the grammar has a place for, None for all: the model cannot write the tags
    of the others. A grammar in parts is that of its first part, and `then` the next one; `window` says what the part is
    where it is no grammar of the user's.
    """

    lark: str
    directives: tuple[Directive, ...] = ()
    free_text: bool = False
    inert: bool = False
    spans: frozenset[str] | None = None
    observation: Observation | None = None
    window: WindowRule | None = None
    then: Compilation | None = None

    @property
    def parts(self) -> tuple[Compilation, ...]:
        """This and what comes then, each alone."""
        alone = self if self.then is None else replace(self, then=None)
        return (alone, *(self.then.parts if self.then is not None else ()))


class Grammar(Protocol):
    """A description of the output that can be compiled."""

    def compile(self, registry: Registry, marks: Marks | None) -> Compilation:
        """The grammar for the matcher. Without `marks` the model writes the results (`grammar-no-eval`).

        Raises:
            GrammarError: it cannot be compiled; the text says what in it.
        """
        ...


@runtime_checkable
class ExtendsRegistry(Protocol):
    """A grammar with spans of its own, beside those of the registry."""

    def registry_for(self, registry: Registry) -> Registry:
        """The registry with the grammar's spans; what is derived from it holds for this grammar alone.

        Raises:
            GrammarError: the grammar's spans and the registry's do not fit together.
        """
        ...
