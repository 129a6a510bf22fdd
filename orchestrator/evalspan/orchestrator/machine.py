"""The span machine: what the tokens of one sequence mean, and what must happen next.

Pure: no input or output, no clock, no randomness, no backend. It is a function of its plan and of the tokens
it is given; the driver runs it beside llama.cpp, and a plugin inside another engine's process can run the same.
It works on bytes, so a tag may arrive in any split of tokens, and reads each byte once.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evalspan.evaluators import Failure, Outcome, Value
from evalspan.orchestrator.backend import Tokenizer
from evalspan.orchestrator.encoding import encode_forced
from evalspan.orchestrator.errors import DecodeError, TokenizerError
from evalspan.orchestrator.events import (
    Evaluated,
    Event,
    Failed,
    FinishReason,
    InjectionKind,
    SpanOpened,
    Text,
    UnclosedSpan,
    Unverified,
)
from evalspan.orchestrator.grammar import Observer, Written
from evalspan.orchestrator.guard import TagGuard
from evalspan.orchestrator.matcher import Mask, Matcher
from evalspan.orchestrator.tags import TagAutomaton
from evalspan.policies import Channel, ErrorCode, Registry, SpanRule

__all__ = ["Action", "Block", "Continue", "Evaluate", "Force", "SpanMachine", "SpanPlan", "Stop"]

_CONTEXT_BYTES = 16  # of text before a forced piece; a tokenizer's rules look at a word or two

Evaluate = Callable[[str, bytes, SpanRule | None], tuple[Outcome, float]]
"""Evaluates with an evaluator, by its name, for a span of this rule (None: the input is no span's, but that of a bound
value): the outcome, and the microseconds it took."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block to inject: its span's name, what it is, its text, its tokens (none without a tokenizer)."""

    span: str
    kind: InjectionKind
    text: str
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Continue:
    """Feed the token; sample the next one under `SpanMachine.mask()`."""


@dataclass(frozen=True, slots=True)
class Force:
    """Feed `tokens`, all in one step: those of the blocks. Where `replaces_token` is set they take the token's place,
    and what is to be kept of it comes first."""

    blocks: tuple[Block, ...]
    tokens: tuple[int, ...]
    replaces_token: bool


@dataclass(frozen=True, slots=True)
class Stop:
    """The generation is over."""

    reason: FinishReason


Action = Continue | Force | Stop
"""What must happen next."""


class SpanPlan:
    """A registry prepared for the machine; shared by all sequences."""

    def __init__(self, registry: Registry, *, evaluate_spans: bool = True, inert: bool = False) -> None:
        """`inert` text has no spans: an open tag in it is text like any other."""
        self.registry = registry
        self.evaluate_spans = evaluate_spans
        self.automaton = TagAutomaton(tag.encode() for tag in registry.tags)
        self.opens = {rule.open.encode(): rule for rule in registry.spans if not inert}
        self.channels = {channel.open.encode(): channel for channel in registry.channels if not inert}
        self.results = {
            tag.encode()
            for rule in registry.spans
            for tag in (rule.result.open, rule.result.close, rule.error.open, rule.error.close)
        }

    def unwritable(self, spans: frozenset[str] | None) -> tuple[bytes, ...]:
        """The tags that a model must not write: the engine's, and those of spans that a grammar has no place for."""
        if spans is None:
            return tuple(sorted(self.results))
        places = [rule for rule in self.registry.spans if rule.name in spans]
        written = {tag.encode() for rule in places for tag in (rule.open, rule.close)}
        return tuple(sorted({*self.automaton.tags} - written))


class SpanMachine:
    """The state of one sequence. `drain()` after each `advance` for its events."""

    def __init__(
        self,
        plan: SpanPlan,
        evaluate: Evaluate,
        *,
        max_tokens: int,
        tokenizer: Tokenizer | None,
        matcher: Matcher | None = None,
        guard: TagGuard | None = None,
        required: Sequence[str] = (),
        observer: Observer | None = None,
    ) -> None:
        """`guard` keeps the engine's tags out of a masked text whose grammar does not do so by itself."""
        self._plan = plan
        self._evaluate = evaluate
        self._max_tokens = max_tokens
        self._tokenizer = tokenizer
        self._matcher = matcher
        self._guard = guard
        self._missing = list(required)
        self._observer = observer
        self._limits = plan.registry.limits

        self.text = bytearray()
        self.output: list[str] = []
        """The text as characters, as released; joined, it is the text of all events."""
        self.sampled = 0
        self.forced = 0
        self.spans = 0
        self._events: list[Event] = []
        self._state = 0
        self._released = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rule: SpanRule | None = None
        self._content_start = 0
        self._outcomes: dict[str, Outcome] = {}
        """The last outcome of each span that was injected."""
        self._channel: Channel | None = None

    @property
    def remaining(self) -> int:
        """How many tokens, sampled or forced, may still come."""
        return self._max_tokens - self.sampled - self.forced

    def drain(self) -> list[Event]:
        """The events since the last call."""
        events, self._events = self._events, []
        return events

    def mask(self) -> Mask | None:
        """The tokens that may come next; None allows all.

        Raises:
            DecodeError: the grammar allows none.
        """
        if self._matcher is None:
            return None
        key = None
        if self._rule is None and self._channel is None and not self._missing:
            key = (self._state, _open_character(self.text))
        allowed = self._matcher.mask(key)
        if self._guard is not None:
            allowed = allowed & self._guard.allowed(self._state)
        if (key is None or self._guard is not None) and not allowed.any():
            raise DecodeError("the grammar allows no token", f"after {bytes(self.text[-80:])!r}")
        return allowed

    def advance(self, token: int) -> Action:
        """Take a sampled token.

        Raises:
            DecodeError: the grammar does not allow it.
        """
        if self._tokenizer is None:
            raise ValueError("a machine without a tokenizer reads bytes only")
        if self._matcher is not None:
            self._matcher.consume(token)
        if token in self._tokenizer.eos_ids:
            self.sampled += 1
            return self.stop("eos")
        action = self.advance_bytes(self._tokenizer.pieces[token])
        if self._observer is not None:
            seen = self._observer.read(self._tokenizer.pieces[token], self._written)
            self._events += seen.events
            if seen.stop is not None and not isinstance(action, Stop):
                return self.stop(seen.stop)
        return action if self._matcher is None else self._follow(action, self._matcher)

    def advance_bytes(self, data: bytes) -> Action:
        """Take the bytes of one sampled token. What follows a close tag in them is dropped."""
        self.sampled += 1
        start = len(self.text)
        used = 0
        while used < len(data):
            self._state, end, tag = self._plan.automaton.scan(self._state, data, used)
            self.text += data[used:end]
            used = end
            if tag >= 0 and self._meet(self._plan.automaton.tags[tag]):
                self._release()
                return self._close(self.text[start:], replaces=used < len(data))
        self._release()
        if self.remaining <= 0:
            return self.stop("length")
        return Continue()

    def stop(self, reason: FinishReason) -> Stop:
        """End the sequence: text that was held back is released, and an open span is reported, not evaluated."""
        self._state = 0
        self._release(final=True)
        if self._rule is not None:
            content = bytes(self.text[self._content_start :]).decode("utf-8", "replace")
            self._events.append(UnclosedSpan(self._rule.name, content))
            self._rule = None
        return Stop(reason)

    def _meet(self, tag: bytes) -> bool:
        """Take note of a tag that has just ended; true if it closes a span that is to be evaluated."""
        start = len(self.text) - len(tag)
        if self._rule is not None:
            if tag == self._rule.close.encode():
                if self._plan.evaluate_spans:
                    return True
                self._rule = None
        elif self._channel is not None and tag == self._channel.close.encode():
            self._channel = None
        elif self._channel is None and tag in self._plan.channels:
            self._channel = self._plan.channels[tag]
        elif tag in self._plan.opens and (self._channel is None or self._channel.spans):
            self._release(upto=start)
            self._rule = self._plan.opens[tag]
            self._content_start = len(self.text)
            self._events.append(SpanOpened(self._rule.name, start))
        if tag in self._plan.results:
            if self._matcher is not None and self._plan.evaluate_spans:
                raise DecodeError("a tag of the engine's was written under a mask", f"after {bytes(self.text[-80:])!r}")
            self._release(upto=start)
            self._events.append(Unverified(tag.decode(), start))
        return False

    def _close(self, piece: bytearray, *, replaces: bool) -> Action:
        """Evaluate the span that has just closed; `piece` are the bytes of the last token up to its end."""
        rule, self._rule = self._rule, None
        if rule is None:
            raise ValueError("no span is open")
        if replaces and self._matcher is not None:
            raise DecodeError("a token ran past a close tag under a mask", f"after {bytes(self.text[-80:])!r}")
        close = len(self.text) - len(rule.close.encode())
        content = bytes(self.text[self._content_start : close])
        self.spans += 1
        if rule.name in self._missing:
            self._missing.remove(rule.name)
        kept: list[int] = []
        if replaces and self._tokenizer is not None:
            before = bytes(self.text[-len(piece) - _CONTEXT_BYTES : -len(piece)])
            kept = encode_forced(self._tokenizer, bytes(piece), before.decode("utf-8", "ignore").encode())
            self.sampled += len(kept) - 1
        outcome, microseconds = self._outcome(rule, content)
        block = self._block(rule, outcome)
        if isinstance(block, Failure):
            outcome, block = block, self._block(rule, block)
        self._report(rule, content, outcome, microseconds)
        if isinstance(outcome, Failure) and rule.on_error == "stop":
            return self.stop("evaluation_error")
        if isinstance(block, Failure):
            return self._stop_untold(block)
        if len(block.tokens) > self.remaining:
            return self.stop("length")
        self._outcomes[rule.name] = outcome
        if self._matcher is not None:
            self._matcher.inject(block.tokens)
        self._take(block)
        return Force((block,), (*kept, *block.tokens), replaces)

    def _follow(self, action: Action, matcher: Matcher) -> Action:
        """Add what the grammar's directives force at this place."""
        while not isinstance(action, Stop) and (directive := matcher.directive_due()) is not None:
            resolved = directive.resolve(self._written())
            self._events += resolved.events
            if resolved.text is None:
                return self.stop("evaluation_error")
            span = resolved.span or directive.span
            block = self._encoded(span, directive.kind, resolved.text, bytes(self.text[-_CONTEXT_BYTES:]))
            if isinstance(block, Failure):
                return self._stop_untold(block)
            if len(block.tokens) > self.remaining:
                return self.stop("length")
            matcher.follow(directive, block.tokens)
            self._release(upto=len(self.text))  # the grammar has ended what was held back
            # What is forced here has no fence of its own: with the text around it, it must not spell a tag.
            self._state, _, tag = self._plan.automaton.scan(self._state, block.text.encode(), 0)
            if tag >= 0:
                raise DecodeError(f"the {block.kind} text would complete a tag", f"after {bytes(self.text[-80:])!r}")
            self._take(block)
            before = action if isinstance(action, Force) else Force((), (), replaces_token=False)
            action = Force((*before.blocks, block), (*before.tokens, *block.tokens), before.replaces_token)
        return action

    def _stop_untold(self, failure: Failure) -> Stop:
        """End where not even the reason can be injected."""
        return self.stop("over_budget" if failure.code is ErrorCode.OVER_BUDGET else "evaluation_error")

    def _written(self) -> Written:
        return Written(self._outcomes, lambda name, data: self._evaluate(name, data, None), self._observer)

    def _take(self, block: Block) -> None:
        """The block is part of the text from now on; nothing in it is looked at."""
        self.forced += len(block.tokens)
        self.text += block.text.encode()
        self.output.append(block.text)
        self._released = len(self.text)
        if self._observer is not None:
            self._events += self._observer.read(block.text.encode(), self._written).events

    def _outcome(self, rule: SpanRule, content: bytes) -> tuple[Outcome, float]:
        if self.spans > self._limits.max_spans:
            message = f"the generation has had its {self._limits.max_spans} spans"
            return Failure(ErrorCode.OVER_BUDGET, message), 0.0
        return self._evaluate(rule.evaluator, content, rule)

    def _block(self, rule: SpanRule, outcome: Outcome) -> Block | Failure:
        """The block for an outcome, or why it cannot be injected."""
        context = rule.close.encode()
        if isinstance(outcome, Value):
            text = f"{rule.result.open}{outcome.text}{rule.result.close}"
            return self._encoded(rule.name, "result", text, context)
        body = f"{outcome.code}: {outcome.message}" if outcome.message else str(outcome.code)
        block = self._encoded(rule.name, "error", f"{rule.error.open}{body}{rule.error.close}", context)
        if isinstance(block, Failure) and block.code is ErrorCode.REFUSED and outcome.message:
            # Only the quoted piece can be at fault; the code alone says enough.
            return self._block(rule, Failure(outcome.code, ""))
        return block

    def _encoded(self, span: str, kind: InjectionKind, text: str, context: bytes) -> Block | Failure:
        """The block with its tokens, within the budget."""
        if self._tokenizer is None:
            return Block(span, kind, text, ())
        try:
            tokens = encode_forced(self._tokenizer, text.encode(), context.decode("utf-8", "ignore").encode())
        except TokenizerError:
            return Failure(ErrorCode.REFUSED, f"the {kind} does not survive the tokenizer")
        if self.forced + len(tokens) > self._limits.max_injected_tokens:
            limit = self._limits.max_injected_tokens
            return Failure(ErrorCode.OVER_BUDGET, f"the generation has had its {limit} injected tokens")
        return Block(span, kind, text, tuple(tokens))

    def _report(self, rule: SpanRule, content: bytes, outcome: Outcome, microseconds: float) -> None:
        text = content.decode("utf-8", "replace")
        if isinstance(outcome, Failure):
            self._events.append(
                Failed(
                    rule.name,
                    rule.evaluator,
                    text,
                    outcome.code,
                    outcome.message,
                    outcome.offset,
                    outcome.fuel,
                    microseconds,
                )
            )
        else:
            self._events.append(
                Evaluated(rule.name, rule.evaluator, text, outcome.text, outcome.exact, outcome.fuel, microseconds)
            )

    def _release(self, upto: int | None = None, *, final: bool = False) -> None:
        """Release text that cannot become a tag any more; a character that is not complete is kept too."""
        end = len(self.text) - self._plan.automaton.depth[self._state] if upto is None else upto
        released = self._decoder.decode(bytes(self.text[self._released : end]), final)
        self._released = max(end, self._released)
        if released:
            self.output.append(released)
            self._events.append(Text(released))


def _open_character(text: bytearray) -> bytes:
    """The bytes of the UTF-8 character that the text ends inside of; `b""` where it ends between characters."""
    for back in range(1, min(3, len(text)) + 1):
        byte = text[-back]
        if byte >= 0xC0:
            width = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return bytes(text[-back:]) if back < width else b""
        if byte < 0x80:
            return b""
    return b""
