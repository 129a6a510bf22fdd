"""Beam search: the likeliest outputs, each with the results of its own spans in it.

A beam is scored by `log p / length ** length_penalty`, where `log p` adds up the logarithms of the probabilities that
the model gave to the tokens it chose, over the whole vocabulary: a mask rules outputs out and makes none of the others
likelier. The formula is the one that Wu et al. 2016 (Google's Neural Machine Translation System, section 7) begin
with; 0 does not normalize. Forced tokens were never the model's choice, so they add nothing to `log p`, and count
towards the length only where that is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evalspan.orchestrator.actions import Block, Force, Stop
from evalspan.orchestrator.backend import Feed, ForkingEngine, Logits
from evalspan.orchestrator.errors import DecodeError, EmptyMask, LogitsError, RequestError
from evalspan.orchestrator.events import DecodeFailed, Event, FinishReason, Injected
from evalspan.orchestrator.generating import Deadline, failure
from evalspan.orchestrator.machine import SpanMachine
from evalspan.orchestrator.requests import Generation, gathered
from evalspan.orchestrator.sampling import Sampler

__all__ = ["BeamParams", "BeamSearch", "Hypothesis"]

_MAX_PENALTY = 10  # with it, one token more already outweighs a factor of a thousand in probability
_FIRST_RANKED = 64  # candidates that are put in order at first: several for each beam of a usual width

_RANKS: dict[FinishReason, int] = {"eos": 0, "stop_string": 0, "length": 1, "time_limit": 1, "cancelled": 1}
"""Outputs that are complete come before those that were cut off, and those before what went wrong."""
_WRONG, _FAILED = 2, 3


@dataclass(frozen=True, slots=True)
class BeamParams:
    """How to search.

    At each step the best continuations are taken until `width` beams go on or `width` outputs have ended. The search
    ends where `width` outputs are complete and no beam scores better than the last of them now; with `patient` not
    before none can score better however it goes on.
    """

    width: int = 4
    length_penalty: float = 1.0
    forced_in_length: bool = False
    patient: bool = False

    def __post_init__(self) -> None:
        if self.width < 1:
            raise RequestError(f"the width of a beam search must be 1 or more, got {self.width}")
        if not 0 <= self.length_penalty <= _MAX_PENALTY:
            raise RequestError(f"length_penalty must be from 0 to {_MAX_PENALTY}, got {self.length_penalty}")

    def score(self, log_probability: float, length: int) -> float:
        """See above."""
        return float(log_probability / max(length, 1) ** self.length_penalty)


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One output of a beam search. `tokens` are its ids, forced ones too; `length` is what the score was divided by."""

    generation: Generation
    score: float
    log_probability: float
    length: int
    tokens: tuple[int, ...] = field(repr=False)

    @property
    def text(self) -> str:
        """The whole text, results included."""
        return self.generation.text


class _Beam:
    """An output on its way, or at its end."""

    def __init__(self, machine: SpanMachine, sampler: Sampler) -> None:
        self.machine = machine
        self.sampler = sampler
        self.log_probability = 0.0
        self.events: list[Event] = []
        self.tokens: list[int] = []
        self.pending: list[int] = []
        """What the engine has not been fed yet."""
        self.blocks: tuple[Block, ...] = ()
        self.sequence = -1
        self.logits: Logits | None = None
        self.reason: FinishReason | None = None
        self.error: DecodeError | None = None
        self.failed: DecodeFailed | None = None

    def child(self, token: int, log_probability: float) -> _Beam:
        """This beam with a token more, and with what it forces."""
        beam = _Beam(self.machine.fork(), self.sampler.fork())
        beam.log_probability = log_probability
        beam.events = list(self.events)
        beam.tokens = [*self.tokens]
        try:
            action = beam.machine.advance(token)
        except DecodeError as error:
            beam.fail(error)
            return beam
        beam.pending = [] if isinstance(action, Force) and action.replaces_token else [token]
        if isinstance(action, Force):
            beam.pending += action.tokens
            beam.blocks = action.blocks
        elif isinstance(action, Stop):
            beam.reason = action.reason
        beam.tokens += beam.pending
        return beam

    def stop(self, reason: FinishReason) -> None:
        """End it here."""
        self.reason = self.machine.stop(reason).reason

    def fail(self, error: DecodeError) -> None:
        """End it with an error."""
        self.error, self.failed = error, failure(error, self.machine)
        self.stop("decode_error")

    def length(self, params: BeamParams) -> int:
        """In tokens."""
        return self.machine.sampled + (self.machine.forced if params.forced_in_length else 0)

    def score(self, params: BeamParams) -> float:
        """Of what there is so far."""
        return params.score(self.log_probability, self.length(params))


class BeamSearch:
    """One search on a forking engine with as many free slots as it is wide."""

    def __init__(
        self,
        engine: ForkingEngine,
        params: BeamParams,
        prompt: list[int],
        deadline: Deadline,
        observe: Callable[[Event], None],
    ) -> None:
        """`observe` is told every event of every beam once, but for the ends."""
        self._engine = engine
        self._params = params
        self._prompt = prompt
        self._deadline = deadline
        self._observe = observe
        self._open: set[int] = set()
        self._ended: list[_Beam] = []

    def run(self, machine: SpanMachine, sampler: Sampler) -> list[Hypothesis]:
        """The best outputs, at most as many as the search is wide: those that are complete first, each by its score.

        Raises:
            DecodeError: no beam could go on, and none had come to an end.
        """
        try:
            return self._search(machine, sampler)
        finally:
            for sequence in self._open:
                self._engine.close(sequence)

    def _search(self, machine: SpanMachine, sampler: Sampler) -> list[Hypothesis]:
        self._deadline.begin()
        first = _Beam(machine, sampler)
        first.sequence, first.pending = self._engine.open(), self._prompt
        self._open.add(first.sequence)
        live = [first]
        while live:
            self._decode(live)
            live = self._expand(live)
            self._prune()
            if self._settled(live):
                break
        return self._hypotheses()

    def _decode(self, live: list[_Beam]) -> None:
        start = time.perf_counter()
        answers = self._engine.decode([Feed(beam.sequence, beam.pending) for beam in live])
        milliseconds = round((time.perf_counter() - start) * 1000, 2)
        for beam, logits in zip(live, answers, strict=True):
            beam.logits = logits
            beam.sampler.observe(beam.pending)
            told = [Injected(block.span, block.kind, block.text, block.tokens, milliseconds) for block in beam.blocks]
            self._tell(beam, told)

    def _tell(self, beam: _Beam, events: Sequence[Event]) -> None:
        beam.events += events
        for event in events:
            self._observe(event)

    def _expand(self, live: list[_Beam]) -> list[_Beam]:
        """The beams that go on, each with a token more: the best continuations in their order, until `width` of them go
        on or as many have ended here. With a width of 1 that is greedy decoding."""
        going = [beam for beam in live if self._goes_on(beam)]
        parents, tokens, sums, scores = self._candidates(going)
        chosen: list[tuple[_Beam, _Beam]] = []
        ended = 0
        for index in _ranked(scores):
            parent = going[parents[index]]
            child = parent.child(int(tokens[index]), float(sums[index]))
            if child.reason is not None:
                self._end(child)
                ended += 1
            else:
                self._tell(child, child.machine.drain())
                chosen.append((parent, child))
            if self._params.width in (len(chosen), ended):
                break
        self._place(live, chosen)
        return [child for _, child in chosen]

    def _goes_on(self, beam: _Beam) -> bool:
        reason = self._deadline.reason() or ("length" if beam.machine.remaining <= 0 else None)
        if reason is not None:
            beam.stop(reason)
            self._end(beam)
        return reason is None

    def _end(self, beam: _Beam) -> None:
        self._tell(beam, beam.machine.drain())
        if beam.failed is not None:
            self._tell(beam, [beam.failed])
        self._ended.append(beam)

    def _candidates(
        self, beams: list[_Beam]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
        """Of every token that may follow a beam: the beam, the token, its `log p` and its score with it."""
        parents, tokens, sums, scores = [], [], [], []
        for index, beam in enumerate(beams):
            try:
                allowed, more = _continuations(beam)
            except DecodeError as error:
                beam.fail(error)
                self._end(beam)
                continue
            total = beam.log_probability + more
            parents.append(np.full(len(allowed), index, dtype=np.intp))
            tokens.append(allowed)
            sums.append(total)
            scores.append(total / (beam.length(self._params) + 1) ** self._params.length_penalty)
        if not parents:
            return np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0), np.empty(0)
        return np.concatenate(parents), np.concatenate(tokens), np.concatenate(sums), np.concatenate(scores)

    def _place(self, live: list[_Beam], chosen: list[tuple[_Beam, _Beam]]) -> None:
        """Give each chosen beam a sequence: its parent's to one child, copies to the others."""
        kept = {parent.sequence for parent, _ in chosen}
        for beam in live:
            if beam.sequence not in kept:  # first, to make room for copies
                self._engine.close(beam.sequence)
                self._open.discard(beam.sequence)
        for parent, child in chosen:
            if parent.sequence in kept:
                kept.remove(parent.sequence)
                child.sequence = parent.sequence
        for parent, child in chosen:
            if child.sequence < 0:
                child.sequence = self._engine.fork(parent.sequence)
                self._open.add(child.sequence)

    def _order(self, beam: _Beam) -> tuple[int, float]:
        rank = _FAILED if beam.error is not None else _RANKS.get(beam.reason or "eos", _WRONG)
        return rank, -beam.score(self._params)

    def _prune(self) -> None:
        """No more than `width` are ever asked for; what is worse is forgotten."""
        self._ended.sort(key=self._order)
        del self._ended[self._params.width :]

    def _settled(self, live: list[_Beam]) -> bool:
        """Whether the search is over though beams could go on."""
        width, params = self._params.width, self._params
        if len(self._ended) < width or self._order(self._ended[-1])[0] > 0:
            return False
        worst = self._ended[-1].score(params)
        if not params.patient:
            return all(beam.score(params) <= worst for beam in live)
        # More tokens cannot raise `log p`, and no output is longer than this.
        return all(
            params.score(beam.log_probability, beam.length(params) + beam.machine.remaining) <= worst for beam in live
        )

    def _hypotheses(self) -> list[Hypothesis]:
        best = self._ended[0]
        if best.error is not None:
            raise best.error
        return [
            Hypothesis(
                gathered([*beam.events, beam.machine.finished(beam.reason or "eos", len(self._prompt))]),
                beam.score(self._params),
                beam.log_probability,
                beam.length(self._params),
                tuple(beam.tokens),
            )
            for beam in self._ended
        ]


def _continuations(beam: _Beam) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The tokens that may follow and the model's `log p` of each."""
    if beam.logits is None:
        raise ValueError("the engine gave no logits for a feed that wants them")
    mask = beam.machine.mask()
    logits = beam.sampler.adjusted(beam.logits).astype(np.float64)
    peak = float(logits.max())
    if not np.isfinite(peak):
        raise LogitsError("the logits are not finite numbers")
    shares = logits - peak
    shares -= np.log(np.exp(shares).sum())
    allowed = np.flatnonzero(shares > -np.inf if mask is None else mask & (shares > -np.inf))
    if not len(allowed):
        raise EmptyMask("no token is allowed")
    return allowed, shares[allowed]


def _ranked(scores: NDArray[np.float64]) -> Iterator[int]:
    """The indexes by falling score, equal ones as they stand; put in order as far as they are asked for."""
    done, size = 0, _FIRST_RANKED
    while done < len(scores):
        if size < len(scores):
            threshold = np.partition(scores, len(scores) - size)[len(scores) - size]
            top = np.flatnonzero(scores >= threshold)
        else:
            top = np.arange(len(scores))
        top = top[np.argsort(-scores[top], kind="stable")]
        yield from (int(index) for index in top[done:])
        done, size = len(top), size * 8
