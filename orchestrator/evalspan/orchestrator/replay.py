"""Reading an output by its tokens, sampled and forced alike: inside an engine while it grows, or outside afterwards.

What is read depends on the tokens alone: there is no clock and no chance in it. So every process that reads the same
tokens comes to the same answers, and what an engine did inside can be told again from what it returned.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Sequence
from typing import ClassVar, Self

from evalspan.evaluators import Evaluators, Outcome
from evalspan.orchestrator.actions import Block, Force, Stop
from evalspan.orchestrator.backend import Tokenizer
from evalspan.orchestrator.errors import DecodeError
from evalspan.orchestrator.events import Event, Finished, FinishReason, Injected
from evalspan.orchestrator.grammar import Grammar, Mode
from evalspan.orchestrator.machine import SpanMachine
from evalspan.orchestrator.matcher import Mask, Vocabulary
from evalspan.orchestrator.preparation import Preparation
from evalspan.orchestrator.sentences import FreeText
from evalspan.orchestrator.stopping import StopStrings
from evalspan.policies import Limits, Registry, SpanRule

__all__ = ["ForcedTokenLost", "OutputReader", "Replayer", "clockless", "replay"]


class ForcedTokenLost(DecodeError):
    """A token that was to be forced came back as another one."""

    code: ClassVar[str] = "forced_token_lost"

    def __init__(self, expected: int, got: int) -> None:
        super().__init__(f"token {expected} was to be forced here and token {got} stands in the output")
        self.expected = expected
        self.got = got


class OutputReader:
    """Where an output stands that is read token by token.

    `due` is the forced token that must come next, None where one is sampled under `mask()`. Once `reason` is set, only
    an end token may come.
    """

    def __init__(self, machine: SpanMachine, ends: frozenset[int]) -> None:
        """`ends` are the tokens that end a generation."""
        self.machine = machine
        self.events: list[Event] = []
        self.reason: FinishReason | None = None
        self._ends = ends
        self._due: deque[int] = deque()
        self._blocks: tuple[Block, ...] = ()

    @property
    def due(self) -> int | None:
        """The forced token that must come next."""
        return self._due[0] if self._due else None

    def mask(self) -> Mask | None:
        """The tokens that may be sampled next.

        Raises:
            EmptyMask: there are none.
        """
        return self.machine.mask()

    def take(self, token: int) -> None:
        """Read the next token of the output.

        Raises:
            ForcedTokenLost: another one was to be forced.
            DecodeError: the grammar does not allow it, or the output had ended.
        """
        if self.reason is not None:
            if token not in self._ends:
                raise DecodeError(f"token {token} stands behind the end of the output ({self.reason})")
        elif self._due:
            if token != self._due[0]:
                raise ForcedTokenLost(self._due[0], token)
            self._due.popleft()
            if not self._due:
                self._injected()
        else:
            self._sampled(token)

    def stop(self, reason: FinishReason) -> None:
        """The output ends here. What is due is part of the text already, and is told."""
        self._due.clear()
        self._tell_blocks()
        self.reason = self.machine.stop(reason).reason
        self.events += self.machine.drain()

    def _sampled(self, token: int) -> None:
        action = self.machine.advance(token)
        self.events += self.machine.drain()
        if isinstance(action, Stop):
            self.reason = action.reason
        elif isinstance(action, Force):
            if action.replaces_token:
                # Only without a mask; an engine that has sampled a token does not take it back.
                raise DecodeError(f"token {token} runs past a close tag")
            self._due.extend(action.tokens)
            self._blocks = action.blocks

    def _tell_blocks(self) -> None:
        # The time is the engine's affair, and no part of what the tokens say.
        self.events += (Injected(block.span, block.kind, block.text, block.tokens, 0.0) for block in self._blocks)
        self._blocks = ()

    def _injected(self) -> None:
        self._tell_blocks()
        if self.machine.remaining <= 0:
            self.stop("length")


class Replayer:
    """Reads outputs of one tokenizer with the spans of one registry. Close it, or use it as a context manager.

    For one thread at a time. No limit that depends on a clock decides here (`clockless`).
    """

    def __init__(
        self,
        registry: Registry,
        tokenizer: Tokenizer,
        vocabulary: Vocabulary | None = None,
        *,
        timed: bool = False,
    ) -> None:
        """`vocabulary` is the tokenizer's, where there is one already. The times in events are 0, unless `timed`: then
        they are what the evaluations took here.

        Raises:
            EvaluatorError: an evaluator of the registry cannot be loaded.
        """
        self.registry = registry
        self._tokenizer = tokenizer
        self._timed = timed
        timeless = clockless(registry)
        self._preparation = Preparation(timeless, tokenizer, vocabulary)
        self._evaluators = Evaluators(timeless)
        self._evaluators.open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the evaluators."""
        self._evaluators.close()

    def reader(
        self,
        *,
        mode: Mode = "grammar-eval",
        grammar: Grammar | None = None,
        max_tokens: int,
        stops: StopStrings | None = None,
    ) -> OutputReader:
        """A reader at the start of an output of at most `max_tokens`, which ends where the model writes one of `stops`.

        Raises:
            GrammarError: the grammar does not compile.
        """
        machine = self._preparation.machine(
            self._evaluate, mode=mode, grammar=grammar or FreeText(), max_tokens=max_tokens, stops=stops
        )
        return OutputReader(machine, self._tokenizer.eos_ids)

    def replay(
        self,
        output: Sequence[int],
        *,
        mode: Mode = "grammar-eval",
        grammar: Grammar | None = None,
        max_tokens: int | None = None,
        prompt_tokens: int = 0,
        cut: FinishReason = "cancelled",
    ) -> tuple[Event, ...]:
        """The events of an output that an engine returned; the last one is `Finished`.

        `max_tokens` is what the request was allowed, by default no more than it has. An output that ends where the
        machine would go on was cut off by the engine, and `cut` is what to call that: a stop string, or `cancelled`.

        Raises:
            ForcedTokenLost, DecodeError: the engine did not do what it was to do.
            GrammarError: the grammar does not compile.
        """
        reader = self.reader(mode=mode, grammar=grammar, max_tokens=len(output) if max_tokens is None else max_tokens)
        try:
            for token in output:
                reader.take(token)
        except DecodeError as error:
            error.locate(reader.machine.text, reader.machine.sampled + reader.machine.forced)
            raise
        if reader.reason is None:
            reader.stop(cut)
        return (*reader.events, _finished(reader, prompt_tokens))

    def _evaluate(self, name: str, data: bytes, rule: SpanRule | None) -> tuple[Outcome, float]:
        start = time.perf_counter()
        if rule is None:
            outcome = self._evaluators.evaluate_bound(name, data)
        else:
            outcome = self._evaluators.evaluate(name, data, rule)
        return outcome, round((time.perf_counter() - start) * 1e6, 1) if self._timed else 0.0


def replay(
    registry: Registry,
    tokenizer: Tokenizer,
    output: Sequence[int],
    *,
    mode: Mode = "grammar-eval",
    grammar: Grammar | None = None,
    max_tokens: int | None = None,
    prompt_tokens: int = 0,
    cut: FinishReason = "cancelled",
) -> tuple[Event, ...]:
    """The events of one output; `Replayer.replay` says how. For many outputs, keep a `Replayer`."""
    with Replayer(registry, tokenizer) as replayer:
        return replayer.replay(
            output, mode=mode, grammar=grammar, max_tokens=max_tokens, prompt_tokens=prompt_tokens, cut=cut
        )


def clockless(registry: Registry) -> Registry:
    """The registry with every deadline at its ceiling: fuel bounds an evaluation, and that is the same everywhere.

    The time that all evaluations of a generation may take (`max_evaluation_ms`) is kept by the driver alone.
    """
    latest = max(_ceilings(Limits))
    default = registry.limits.model_copy(update={"deadline_ms": latest})
    return registry.model_copy(
        update={
            "policy": registry.policy.model_copy(update={"default": default}),
            "evaluators": tuple(
                entry.model_copy(update={"policy": entry.policy.model_copy(update={"deadline_ms": None})})
                for entry in registry.evaluators
            ),
            "spans": tuple(
                rule.model_copy(update={"policy": rule.policy.model_copy(update={"deadline_ms": None})})
                for rule in registry.spans
            ),
        }
    )


def _ceilings(limits: type[Limits]) -> Iterable[int]:
    return (limit.le for limit in limits.model_fields["deadline_ms"].metadata if hasattr(limit, "le"))


def _finished(reader: OutputReader, prompt_tokens: int) -> Finished:
    if reader.reason is None:
        raise DecodeError("the output has not ended")
    return reader.machine.finished(reader.reason, prompt_tokens)
