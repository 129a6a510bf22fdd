"""A registry and a vocabulary prepared for span machines: plans, guards and grammars are made once and shared.

The driver makes its machines here, and so does a plugin that runs them inside another engine's process.
"""

from __future__ import annotations

from collections.abc import Hashable

from evalspan.orchestrator.backend import Tokenizer
from evalspan.orchestrator.engines import EngineName
from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.grammar import Compilation, ExtendsRegistry, Grammar, Mode
from evalspan.orchestrator.guard import TagGuard
from evalspan.orchestrator.machine import Evaluate, SpanMachine, Spell
from evalspan.orchestrator.matcher import CompiledGrammar, Vocabulary
from evalspan.orchestrator.plan import SpanPlan
from evalspan.orchestrator.sentences import FreeText
from evalspan.orchestrator.stages import Stage, Stages
from evalspan.orchestrator.stopping import StopStrings
from evalspan.policies import Registry

__all__ = ["Preparation"]

_MAX_GRAMMARS = 256  # of some 0.1 to 10 MB each; requests that bring their own must not fill the memory


class Preparation:
    """What the machines of one registry share. For one thread at a time."""

    def __init__(
        self,
        registry: Registry,
        tokenizer: Tokenizer | None,
        vocabulary: Vocabulary | None = None,
        *,
        spell: Spell | None = None,
        engine: EngineName = "llguidance",
    ) -> None:
        """`vocabulary` is the tokenizer's, where there is one already; else it is made when a grammar needs it, for
        this grammar engine.

        Without a tokenizer machines read bytes, and `spell` says what a forced text costs.
        """
        self.registry = registry
        self._tokenizer = tokenizer
        self._spell = spell
        self._vocabulary = vocabulary
        self._engine: EngineName = engine
        self._plans: dict[tuple[str, tuple[str, ...], bool], SpanPlan] = {}
        self._guards: dict[tuple[tuple[bytes, ...], ...], TagGuard] = {}
        self._written: dict[tuple[Hashable, Mode], tuple[Compilation, ...]] = {}
        """Grammars that many requests share, as they were written for the engine: 5 ms where they were not kept."""
        self._grammars: dict[tuple[str, Compilation], CompiledGrammar] = {}
        """By the identity of the engine and the grammar."""

    def machine(
        self,
        evaluate: Evaluate,
        *,
        mode: Mode,
        grammar: Grammar,
        max_tokens: int,
        stops: StopStrings | None = None,
    ) -> SpanMachine:
        """A machine at the start of an output.

        Raises:
            GrammarError: the grammar does not compile.
        """
        registry = grammar.registry_for(self.registry) if isinstance(grammar, ExtendsRegistry) else self.registry
        parts = self._parts(grammar, registry, mode)
        closes = tuple(dict.fromkeys(part.window.close for part in parts if part.window is not None))
        plan = self._plan(registry, closes, evaluate_spans=mode != "grammar-no-eval")
        stages = [self._stage(part, plan, mode) for part in parts]
        return SpanMachine(
            plan,
            evaluate,
            max_tokens=max_tokens,
            tokenizer=self._tokenizer,
            spell=self._spell,
            stages=Stages(stages, plan.automaton, self._eos_ids(), lambda: self._guard(plan)),
            required=grammar.required if isinstance(grammar, FreeText) else (),
            stops=stops,
        )

    @property
    def tokenizer(self) -> Tokenizer:
        """The vocabulary that grammars are compiled for.

        Raises:
            GrammarError: there is none at hand.
        """
        if self._tokenizer is None:
            raise GrammarError("a grammar needs the model's vocabulary, and this backend has it not at hand")
        return self._tokenizer

    def _eos_ids(self) -> frozenset[int]:
        return self._tokenizer.eos_ids if self._tokenizer is not None else frozenset()

    def _parts(self, grammar: Grammar, registry: Registry, mode: Mode) -> tuple[Compilation, ...]:
        """The grammar, part by part."""
        if mode == "no-grammar" and isinstance(grammar, FreeText):
            return (Compilation("", free_text=True),)  # nothing is masked
        marks = self._known_vocabulary().marks if mode == "grammar-eval" else None
        if not isinstance(grammar, Hashable):
            return grammar.compile(registry, marks).parts
        parts = self._written.get((grammar, mode))
        if parts is None:
            parts = grammar.compile(registry, marks).parts
            if len(self._written) >= _MAX_GRAMMARS:
                self._written.pop(next(iter(self._written)))
            self._written[grammar, mode] = parts
        return parts

    def _stage(self, part: Compilation, plan: SpanPlan, mode: Mode) -> Stage:
        """A part of an output, at its start."""
        compiled = self._compiled(part) if mode != "no-grammar" else None
        quiet = part.inert or (part.window is not None and not part.window.spans)
        guarded = mode == "grammar-eval" and not part.free_text  # free text is exact by itself, and its masks are kept
        return Stage(
            opens={} if quiet else plan.opens,
            channels={} if part.inert or part.window is not None else plan.channels,
            window=part.window,
            matcher=compiled.matcher() if compiled is not None else None,
            guard=self._guard(plan, plan.unwritable(part.spans)) if guarded else None,
            observer=part.observation.start() if part.observation is not None else None,
        )

    def _plan(self, registry: Registry, closes: tuple[str, ...], *, evaluate_spans: bool) -> SpanPlan:
        # The own registry needs no digest, which costs as much as the registry is long.
        key = ("" if registry is self.registry else registry.digest, closes, evaluate_spans)
        if key not in self._plans:
            self._plans[key] = SpanPlan(registry, evaluate_spans=evaluate_spans, closes=closes)
        return self._plans[key]

    def _guard(self, plan: SpanPlan, tags: tuple[bytes, ...] | None = None) -> TagGuard:
        """A guard of these tags, or of all."""
        tags = plan.automaton.tags if tags is None else tags
        key = (plan.automaton.tags, tags)
        if key not in self._guards:
            self._guards[key] = TagGuard(plan.automaton, tags, self.tokenizer.pieces)
        return self._guards[key]

    def _compiled(self, part: Compilation) -> CompiledGrammar:
        """A grammar for this vocabulary, compiled once: what a registry gives is all in its text."""
        vocabulary = self._known_vocabulary()
        key = (vocabulary.engine.identity, part)
        if key not in self._grammars:
            if len(self._grammars) >= _MAX_GRAMMARS:
                self._grammars.pop(next(iter(self._grammars)))
            self._grammars[key] = CompiledGrammar(part, vocabulary)
        return self._grammars[key]

    def _known_vocabulary(self) -> Vocabulary:
        if self._vocabulary is None:
            self._vocabulary = Vocabulary(self.tokenizer, self._engine)
        return self._vocabulary
