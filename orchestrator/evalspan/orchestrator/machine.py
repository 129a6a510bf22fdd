"""The span machine: what the tokens of one sequence mean, and what must happen next.

Pure: no input or output, no clock, no randomness, no backend. It is a function of its plan and of the tokens
it is given; the driver runs it beside llama.cpp, and a plugin inside another engine's process can run the same.
It works on bytes, so a tag may arrive in any split of tokens, and reads each byte once.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping, Sequence
from copy import copy

from evalspan.evaluators import Failure, Outcome
from evalspan.orchestrator.actions import Action, Block, Continue, Force, Stop, added
from evalspan.orchestrator.backend import Tokenizer
from evalspan.orchestrator.blocks import BlockMaker, Spell, told
from evalspan.orchestrator.encoding import open_character
from evalspan.orchestrator.errors import DecodeError, EmptyMask
from evalspan.orchestrator.events import (
    Event,
    Finished,
    FinishReason,
    InjectionKind,
    Recorded,
    SpanOpened,
    Text,
    UnclosedSpan,
    Unverified,
)
from evalspan.orchestrator.grammar import Observer, Written
from evalspan.orchestrator.guard import TagGuard
from evalspan.orchestrator.matcher import Mask, Matcher, Place
from evalspan.orchestrator.plan import SpanPlan
from evalspan.orchestrator.stages import Stage, Stages
from evalspan.orchestrator.stopping import StopReader, StopStrings
from evalspan.orchestrator.token_log import TokenLog
from evalspan.policies import Channel, ErrorCode, SpanRule

__all__ = ["Action", "Block", "Continue", "Evaluate", "Force", "SpanMachine", "SpanPlan", "Spell", "Stop"]

_CONTEXT_BYTES = 16  # of text before a forced piece; a tokenizer's rules look at a word or two

Evaluate = Callable[[str, bytes, SpanRule | None], tuple[Outcome, float]]
"""Evaluates with an evaluator, by its name, for a span of this rule (None: the input is no span's, but that of a bound
value): the outcome, and the microseconds it took."""


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
        stops: StopStrings | None = None,
        spell: Spell | None = None,
        stages: Stages | None = None,
    ) -> None:
        """`guard` keeps the engine's tags out of a masked text whose grammar does not do so by itself. `stops` are
        looked for in what the model writes, tags and expressions included, and never in what is forced. Without a
        tokenizer the machine reads bytes only; `spell` then says what a forced text costs. An output in parts has
        `stages`, in place of a matcher, a guard and an observer for all of it."""
        self._plan = plan
        self._evaluate = evaluate
        self._max_tokens = max_tokens
        self._tokenizer = tokenizer
        self._blocks = BlockMaker(tokenizer, spell, plan.registry.limits.max_injected_tokens)
        self._matcher = matcher
        self._guard = guard
        self._missing = list(required)
        self._observer = observer
        self._stops = StopReader(stops)
        self._limits = plan.registry.limits
        self._opens: Mapping[bytes, SpanRule] = plan.opens
        self._channels: Mapping[bytes, Channel] = plan.channels
        self._stages = stages if stages is not None and stages.several else None

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
        self.log: TokenLog | None = None
        """What takes note of every token, where that is wanted; not for machines that are forked."""
        if stages is not None:
            self._enter(stages.current)

    @property
    def reads_bytes(self) -> bool:
        """Whether it has no tokenizer: `advance_bytes` is for it, not `advance`."""
        return self._tokenizer is None

    @property
    def remaining(self) -> int:
        """How many tokens, sampled or forced, may still come."""
        return self._max_tokens - self.sampled - self.forced

    def finished(self, reason: FinishReason, prompt_tokens: int) -> Finished:
        """The last event, after a `Stop`."""
        return Finished(reason, "".join(self.output), prompt_tokens, self.sampled, self.forced, self._stops.found)

    def fork(self) -> SpanMachine:
        """A machine in the same state, which goes on by itself; the time for evaluations is shared."""
        twin = copy(self)
        twin.text = bytearray(self.text)
        twin.output = list(self.output)
        twin._stops = copy(self._stops)
        twin._missing = list(self._missing)
        twin._events = list(self._events)
        twin._outcomes = dict(self._outcomes)
        twin.log = self.log.fork() if self.log is not None else None
        twin._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        twin._decoder.setstate(self._decoder.getstate())
        if self._stages is not None:
            twin._stages = self._stages.fork()
            twin._matcher, twin._observer = twin._stages.current.matcher, twin._stages.current.observer
        else:
            twin._matcher = self._matcher.fork() if self._matcher is not None else None
            twin._observer = self._observer.fork() if self._observer is not None else None
        return twin

    def drain(self) -> list[Event]:
        """The events since the last call."""
        events, self._events = self._events, []
        return events

    def mask(self) -> Mask | None:
        """The tokens that may come next; None allows all.

        Raises:
            EmptyMask: the grammar allows none.
        """
        if self._matcher is None:
            return None
        place = None if self._missing else self._place()
        allowed = self._matcher.mask(place)
        if self._guard is not None:
            allowed = allowed & self._guard.allowed(self._state)
        if self._stages is not None:
            allowed = self._stages.widened(allowed, self._state)
        plain = place is not None and place.opened is None and self._guard is None
        if not plain and not allowed.any():
            raise EmptyMask("the grammar allows no token")
        return allowed

    def advance(self, token: int) -> Action:
        """Take a sampled token.

        Raises:
            DecodeError: the grammar does not allow it.
        """
        if self.log is None:
            return self._advance(token)
        self.log.drawn(token)
        action = self._advance(token)
        self.log.followed(action)
        return action

    def _advance(self, token: int) -> Action:
        if self._tokenizer is None:
            raise ValueError("a machine without a tokenizer reads bytes only")
        if self._stages is not None:
            if not self._stages.asked:
                self.mask()  # which says what part the token belongs to
            if (stage := self._stages.passed(token, self._state, self._tokens)) is not None:
                self._enter(stage)
        if self._matcher is not None:
            self._matcher.consume(token)
        if token in self._tokenizer.eos_ids:
            self.sampled += 1
            return self.stop("eos")
        observer = self._observer  # the token may end a window, and what comes then has another
        action = self.advance_bytes(self._tokenizer.pieces[token])
        if observer is not None and self._stops.found is None:
            seen = observer.read(self._tokenizer.pieces[token], self._written)
            self._events += seen.events
            if seen.stop is not None and not isinstance(action, Stop):
                return self.stop(seen.stop)
        action = self._follow(action)
        if self._stages is None:
            return action
        self._stages.read(self._tokenizer.pieces[token])
        return self._within_window(action, self._stages)

    def advance_bytes(self, data: bytes, tokens: int = 1) -> Action:
        """Take the bytes of so many sampled tokens. What follows a close tag or a stop string in them is dropped."""
        self.sampled += tokens
        start = len(self.text)
        used = 0
        data = self._stops.read(data, start)
        while used < len(data):
            self._state, end, tag = self._plan.automaton.scan(self._state, data, used)
            self.text += data[used:end]
            used = end
            if tag >= 0 and self._meet(self._plan.automaton.tags[tag]):
                if self._stops.found is not None and used == len(data):
                    break  # the stop string ends with the close tag: the text ends here, and so nothing is evaluated
                self._stops.begin_anew()
                self._release()
                return self._close(self.text[start:], tokens, replaces=used < len(data))
        if self._stops.found is not None:
            self._stops.cut(self.text)
            return self.stop("stop_string")
        self._release()
        if self.remaining <= 0:
            return self.stop("length")
        return Continue()

    def stop(self, reason: FinishReason) -> Stop:
        """End the sequence: text that was held back is released, and an open span is reported, not evaluated."""
        self._state = 0
        self._stops.since = None
        self._release(final=True)
        self._give_up_span()
        if self.log is not None:
            self._events.append(Recorded(self.log.prompt, self.log.tokens))
        return Stop(reason)

    def _give_up_span(self, end: int | None = None) -> None:
        """Report a span that stays open; its content goes up to `end`."""
        if self._rule is not None:
            content = bytes(self.text[self._content_start : end]).decode("utf-8", "replace")
            self._events.append(UnclosedSpan(self._rule.name, content))
            self._rule = None

    @property
    def _tokens(self) -> int:
        return self.sampled + self.forced

    def _enter(self, stage: Stage) -> None:
        """Go on in another part of the output."""
        self._matcher, self._guard, self._observer = stage.matcher, stage.guard, stage.observer
        self._opens, self._channels = stage.opens, stage.channels
        self._channel = None
        self._state = 0

    def _within_window(self, action: Action, stages: Stages) -> Action:
        """Close the window whose tokens are used up; a span that is open in it is given up."""
        if isinstance(action, Stop):
            return action
        window = stages.overdue(self._tokens, inside_character=bool(open_character(self.text)))
        if window is None:
            return action
        block = self._block_here(window.name, "close", window.close)
        if isinstance(block, Failure):
            return self._stop_untold(block)
        if block.cost > self.remaining:
            return self.stop("length")
        self._stops.begin_anew()
        self._release(upto=len(self.text), final=True)
        self._give_up_span()
        self._take(block)
        self._enter(stages.enter_next(self._tokens))
        return self._follow(added(action, block))

    def _meet(self, tag: bytes) -> bool:
        """Take note of a tag that has just ended; true if it closes a span that is to be evaluated."""
        start = len(self.text) - len(tag)
        if self._stages is not None and tag == self._stages.close:
            self._give_up_span(start)
            self._enter(self._stages.enter_next(self._tokens))
        elif self._rule is not None:
            if tag == self._rule.close.encode():
                if self._plan.evaluate_spans:
                    return True
                self._rule = None
        elif self._channel is not None and tag == self._channel.close.encode():
            self._channel = None
        elif self._channel is None and tag in self._channels:
            self._channel = self._channels[tag]
        elif tag in self._opens and (self._channel is None or self._channel.spans):
            self._release(upto=start)
            self._rule = self._opens[tag]
            self._content_start = len(self.text)
            self._events.append(SpanOpened(self._rule.name, start))
        if tag in self._plan.results:
            if self._matcher is not None and self._plan.evaluate_spans:
                raise DecodeError("a tag of the engine's was written under a mask")
            self._release(upto=start)
            self._events.append(Unverified(tag.decode(), start))
        return False

    def _close(self, piece: bytearray, tokens: int, *, replaces: bool) -> Action:
        """Evaluate the span that has just closed; `piece` are the bytes of the last `tokens` up to its end."""
        rule, self._rule = self._rule, None
        if rule is None:
            raise ValueError("no span is open")
        if replaces and self._matcher is not None:
            raise DecodeError("a token ran past a close tag under a mask")
        close = len(self.text) - len(rule.close.encode())
        content = bytes(self.text[self._content_start : close])
        self.spans += 1
        if rule.name in self._missing:
            self._missing.remove(rule.name)
        kept: tuple[int, ...] = ()
        if replaces and self._blocks.spells:
            before = bytes(self.text[-len(piece) - _CONTEXT_BYTES : -len(piece)])
            spelling = self._blocks.spelling(bytes(piece), before)
            kept = spelling.tokens
            self.sampled += spelling.count - tokens
        outcome, microseconds = self._outcome(rule, content)
        block = self._blocks.answer(rule, outcome, self.forced)
        if isinstance(block, Failure):
            outcome, block = block, self._blocks.answer(rule, block, self.forced)
        self._events.append(told(rule, content, outcome, microseconds))
        if isinstance(outcome, Failure) and rule.on_error == "stop":
            return self.stop("evaluation_error")
        if isinstance(block, Failure):
            return self._stop_untold(block)
        if block.cost > self.remaining:
            return self.stop("length")
        self._outcomes[rule.name] = outcome
        if self._matcher is not None:
            self._matcher.inject(block.tokens)
        self._take(block)
        return Force((block,), (*kept, *block.tokens), replaces)

    def _place(self) -> Place | None:
        """Where this is; None inside a span, where everything that was written in it counts."""
        channel = self._channel.name if self._channel is not None else None
        if self._rule is None:
            return Place(channel, self._state, open_character(self.text))
        if len(self.text) == self._content_start:
            return Place(channel, self._state, b"", self._rule.name)
        return None

    def _follow(self, action: Action) -> Action:
        """Add what the grammar's directives force at this place."""
        while not isinstance(action, Stop):
            if self._stages is not None and (stage := self._stages.due(self._state, self._tokens)) is not None:
                self._enter(stage)
            matcher = self._matcher
            if matcher is None or (directive := matcher.directive_due()) is None:
                break
            resolved = directive.resolve(self._written())
            self._events += resolved.events
            if resolved.text is None:
                return self.stop("evaluation_error")
            span = resolved.span or directive.span
            block = self._block_here(span, directive.kind, resolved.text)
            if isinstance(block, Failure):
                return self._stop_untold(block)
            if block.cost > self.remaining:
                return self.stop("length")
            matcher.follow(directive, block.tokens)
            self._stops.begin_anew()
            self._release(upto=len(self.text))  # the grammar has ended what was held back
            # What is forced here has no fence of its own: with the text around it, it must not spell a tag.
            self._state, _, tag = self._plan.automaton.scan(self._state, block.text.encode(), 0)
            if tag >= 0:
                raise DecodeError(f"the {block.kind} text would complete a tag")
            self._take(block)
            action = added(action, block)
        return action

    def _block_here(self, span: str, kind: InjectionKind, text: str) -> Block | Failure:
        return self._blocks.block(span, kind, text, bytes(self.text[-_CONTEXT_BYTES:]), self.forced)

    def _stop_untold(self, failure: Failure) -> Stop:
        """End where not even the reason can be injected."""
        return self.stop("over_budget" if failure.code is ErrorCode.OVER_BUDGET else "evaluation_error")

    def _written(self) -> Written:
        return Written(self._outcomes, lambda name, data: self._evaluate(name, data, None), self._observer)

    def _take(self, block: Block) -> None:
        """The block is part of the text from now on; nothing in it is looked at."""
        self.forced += block.cost
        self.text += block.text.encode()
        self.output.append(block.text)
        self._released = len(self.text)
        if self._stages is not None and self._stages.read(block.text.encode()):
            raise DecodeError(f"the {block.kind} text would complete a tag", f"after {bytes(self.text[-80:])!r}")
        if self._observer is not None:
            self._events += self._observer.read(block.text.encode(), self._written).events

    def _outcome(self, rule: SpanRule, content: bytes) -> tuple[Outcome, float]:
        if self.spans > self._limits.max_spans:
            message = f"the generation has had its {self._limits.max_spans} spans"
            return Failure(ErrorCode.OVER_BUDGET, message), 0.0
        return self._evaluate(rule.evaluator, content, rule)

    def _release(self, upto: int | None = None, *, final: bool = False) -> None:
        """Release text that cannot become a tag any more; a character that is not complete is kept too."""
        end = len(self.text) - self._plan.automaton.depth[self._state] if upto is None else upto
        if self._stops.since is not None:
            end = min(end, self._stops.since)
        released = self._decoder.decode(bytes(self.text[self._released : end]), final)
        self._released = max(end, self._released)
        if released:
            self.output.append(released)
            self._events.append(Text(released))
