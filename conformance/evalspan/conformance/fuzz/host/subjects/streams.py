"""Texts through the span machine under any registry: in every chunking, and as tokens, the same comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from evalspan.backends.scripted import ScriptedTokenizer
from evalspan.conformance.fuzz.host.chunks import chance_of, cut_at_random, cuts
from evalspan.conformance.fuzz.host.subject import Disagreement
from evalspan.evaluators import Failure, Outcome, Value
from evalspan.orchestrator.actions import Action, Force, Stop
from evalspan.orchestrator.events import Event, SpanOpened, Text
from evalspan.orchestrator.machine import SpanMachine, SpanPlan
from evalspan.orchestrator.stopping import StopStrings
from evalspan.policies import ErrorCode, Registry, SpanRule

__all__ = ["StreamSubject"]

_PLENTY = 1_000_000
"""Tokens: more than any input here has bytes, forced ones included."""

_LONGEST = 24
"""Bytes of a token, more than any tag here has."""

_MOST_SHOWN = 90

Facts = tuple[str, list[object], str | None]
"""The text, the events but for those of text, and why it ended."""


class StreamSubject:
    """An input is a registry, stop strings a line each, and what a model says, with a zero byte between them."""

    def run(self, data: bytes) -> str:
        """How many spans there were, and why the text ended."""
        head, _, rest = data.partition(b"\0")
        middle, _, text = rest.rpartition(b"\0")
        registry = Registry.parse(head.decode("utf-8", "replace"))
        strings = tuple(line.decode("utf-8", "replace") for line in middle.split(b"\n") if line)
        stops = partial(StopStrings, strings, keep=len(middle) % 2 == 1) if strings else None
        plan = SpanPlan(_with_room(registry))
        chunkings = cuts(text)
        whole = _read(plan, stops, next(chunkings))
        for pieces in chunkings:
            _same(whole, _read(plan, stops, pieces), "the chunking makes a difference")
        tokenizer = ScriptedTokenizer(piece[:_LONGEST] for piece in cut_at_random(text, chance_of(text, 9)))
        _same(whole, _read_tokens(plan, stops, tokenizer, text), "tokens make a difference")
        spans = sum(isinstance(fact, SpanOpened) for fact in whole[1])
        return f"{min(spans, 4)} spans {len(plan.channels)} channels {whole[2]}"


def _with_room(registry: Registry) -> Registry:
    """The registry with a budget that no text here spends: what a forced text costs depends on the tokens."""
    limits = registry.limits.model_copy(update={"max_injected_tokens": _PLENTY})
    return registry.model_copy(update={"policy": registry.policy.model_copy(update={"default": limits})})


def _same(whole: Facts, other: Facts, cause: str) -> None:
    for name, one, two in zip(("text", "events", "end"), whole, other, strict=True):
        if one != two:
            raise Disagreement(f"{cause} to the {name}", f"{str(one)[-_MOST_SHOWN:]} and {str(two)[-_MOST_SHOWN:]}")


def _answer(name: str, content: bytes, rule: SpanRule | None) -> tuple[Outcome, float]:
    """A stand-in evaluator, which answers tags too: nothing that is forced may trigger."""
    if b"!" in content:
        return Failure(ErrorCode.SYNTAX, "no"), 1.0
    return Value(content.decode("utf-8", "replace").swapcase()), 1.0


def _read(plan: SpanPlan, stops: Callable[[], StopStrings] | None, pieces: Iterable[bytes]) -> Facts:
    machine = SpanMachine(plan, _answer, max_tokens=_PLENTY, tokenizer=None, stops=None if stops is None else stops())
    return _facts(machine, pieces, machine.advance_bytes)


def _read_tokens(
    plan: SpanPlan, stops: Callable[[], StopStrings] | None, tokenizer: ScriptedTokenizer, text: bytes
) -> Facts:
    machine = SpanMachine(
        plan, _answer, max_tokens=_PLENTY, tokenizer=tokenizer, stops=None if stops is None else stops()
    )

    events: list[Event] = []
    rest, reason = text, None
    while rest:
        token = tokenizer.encode(rest[:_LONGEST])[0]  # where one ran past a close tag, the rest is said again
        used, action = _advance(machine, tokenizer.pieces[token], lambda data: machine.advance(token))  # noqa: B023
        events += machine.drain()
        if isinstance(action, Stop):
            reason = action.reason
            break
        rest = rest[used:]
    return _ended(machine, events, reason)


def _facts(machine: SpanMachine, pieces: Iterable[bytes], advance: Callable[[bytes], Action]) -> Facts:
    events: list[Event] = []
    reason: str | None = None
    for piece in pieces:
        rest = piece
        while rest and reason is None:
            used, action = _advance(machine, rest, advance)
            events += machine.drain()
            if isinstance(action, Stop):
                reason = action.reason
            rest = rest[used:]
    return _ended(machine, events, reason)


def _advance(machine: SpanMachine, data: bytes, advance: Callable[[bytes], Action]) -> tuple[int, Action]:
    """How many of the bytes were taken: what runs past a close tag is not, and is said again."""
    before = len(machine.text)
    action = advance(data)
    if not isinstance(action, Force):
        return len(data), action
    return len(machine.text) - before - sum(len(block.text.encode()) for block in action.blocks), action


def _ended(machine: SpanMachine, events: list[Event], reason: str | None) -> Facts:
    if reason is None:
        reason = machine.stop("eos").reason
        events += machine.drain()
    text = "".join(machine.output)
    released = "".join(event.text for event in events if isinstance(event, Text))
    if len(released) > len(text):
        raise Disagreement("text is released twice", released[-_MOST_SHOWN:])
    return text, [event for event in events if not isinstance(event, Text)], reason
