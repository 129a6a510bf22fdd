"""Grammars as users write them: each is compiled, and a scripted model that says anything generates under it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

from evalspan.backends.scripted import EOS, ScriptedBackend, ScriptedSteps
from evalspan.orchestrator import Driver, Finished, Grammar, GrammarError
from evalspan.orchestrator.formats import Gbnf, LarkText, Regex, StructuralTag
from evalspan.orchestrator.json import JsonSchema
from evalspan.policies import Registry

__all__ = ["GrammarSubject", "gbnf", "lark", "regex", "schema", "structural"]

_TOKENS = 40
"""Of one generation: more than a span with its result takes, and few enough for a hundred inputs a second."""

_MOODS = 64
"""Preferences among the tokens, one of which decides each step."""

_REGISTRY = """
version = 1
[policy.default]
max_spans = 3
[[evaluator]]
name = "arithmetic"
builtin = "arithmetic/1"
[[evaluator]]
name = "strings"
builtin = "strings/1"
[[span]]
name = "calc"
open = "<c>"
close = "</c>"
content = "[0-9+/]+"
evaluator = "arithmetic"
result = { open = "<r>", close = "</r>" }
error = { open = "<e>", close = "</e>" }
[[channel]]
name = "reasoning"
open = "<think>"
close = "</think>"
"""

_PIECES = (b"<c>", b"</c>", b"<c", b"12", b"1+", b"/c>", b"ab", b'{"', b'":', b'", "', b"}}", b" ,", b"<think>")


class GrammarSubject:
    """Generates under a grammar. The tokens that the model wants are a function of the text so far."""

    def __init__(self, make: Callable[[str], Grammar]) -> None:
        self._make = make
        backend = ScriptedBackend.replay([], vocabulary=_PIECES)
        size = len(backend.tokenizer.pieces)
        self._moods = [_mood(Random(number), size) for number in range(_MOODS)]  # noqa: S311 - no secrets
        self._steps = ScriptedSteps(self._wanted, size, 4096)
        backend.engine = self._steps
        self._driver = Driver(backend, Registry.parse(_REGISTRY))

    def run(self, data: bytes) -> str:
        """Compile and generate; what a file is refused for before its grammar is read is refused here too."""
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise GrammarError(f"is not UTF-8 at byte {error.start}") from None
        try:
            events = list(self._driver.stream("go", grammar=self._make(text), max_tokens=_TOKENS))
        finally:
            for kept in (self._steps.fed, self._steps.calls, self._steps.steps):
                kept.clear()  # the scripted engine is made for one test, not for a million
        last = events[-1]
        kinds = sorted({event.event for event in events})
        return f"{last.reason if isinstance(last, Finished) else 'unfinished'} {' '.join(kinds)}"

    def _wanted(self, tokens: Sequence[int]) -> Mapping[int, float]:
        return self._moods[(len(tokens) * 7 + tokens[-1]) % _MOODS]


def _mood(random: Random, size: int) -> dict[int, float]:
    logits = {token: random.random() for token in range(size)}
    logits[EOS] = 0.5
    return logits


def regex() -> GrammarSubject:
    """`--regex`."""
    return GrammarSubject(Regex)


def lark() -> GrammarSubject:
    """`--grammar`."""
    return GrammarSubject(LarkText)


def gbnf() -> GrammarSubject:
    """`--gbnf`."""
    return GrammarSubject(Gbnf)


def structural() -> GrammarSubject:
    """`--structural-tag`."""
    return GrammarSubject(StructuralTag)


def schema() -> GrammarSubject:
    """`--schema`."""
    return GrammarSubject(JsonSchema.parse)
