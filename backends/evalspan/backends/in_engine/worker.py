"""The processor's work without an engine: requests in, decisions for each step out."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from evalspan.backends.in_engine.counters import COUNTERS, Counters
from evalspan.backends.in_engine.options import Options, OptionsError, grammar_of
from evalspan.backends.in_engine.rows import Pin, Request, Row, Rows
from evalspan.orchestrator.backend import Tokenizer
from evalspan.orchestrator.matcher import Mask, Vocabulary
from evalspan.orchestrator.replay import OutputReader, Replayer
from evalspan.policies import Registry

__all__ = ["RECORD", "Decisions", "Terms", "Worker"]

RECORD = "EVALSPAN_VLLM_RECORD"
"""The environment variable with the file to which each output is added, a line of JSON, when it leaves the batch.

The first rank writes it; with `{rank}` in the name each rank writes one of its own."""

_DUMP_SECONDS = 1.0  # between two writings of the counters

_log = logging.getLogger("vllm.evalspan")  # below the engine's own logger, whose handlers it uses


@dataclass(slots=True)
class Decisions:
    """What to do with the logits of one step, by the places of the rows in the batch."""

    counters: Counters
    masks: list[tuple[int, Mask, Row]] = field(default_factory=list)
    pins: list[tuple[int, int]] = field(default_factory=list)
    """Places with the tokens to pin."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a request says to the engine, as far as it matters here."""

    end: int
    """The token at which the engine ends it."""
    narrow: bool
    """Whether it forbids tokens by itself."""
    max_tokens: int | None
    prompt_tokens: int


class Worker:
    """The rows of one engine process. For one thread."""

    def __init__(
        self,
        registries: Mapping[str, Registry],
        tokenizer: Tokenizer,
        *,
        context_tokens: int,
        rows: int,
        rank: int = 0,
    ) -> None:
        """`context_tokens` is the most that prompt and output may have, `rows` the most in a batch. `rank` is the place
        of this process among those that do the same: the first one writes and logs, for all."""
        self.counters = Counters()
        self.rows = Rows(parked=rows)
        self._registries = registries
        self._tokenizer = tokenizer
        self._vocabulary: Vocabulary | None = None
        self._replayers: dict[str, Replayer] = {}
        self._context = context_tokens
        self._speaks = rank == 0
        self._record = _path(RECORD, rank)
        self._counted = _path(COUNTERS, rank)
        self._dumped = 0.0
        self._failed: set[int] = set()

    @property
    def ends(self) -> frozenset[int]:
        """The tokens that end a generation."""
        return self._tokenizer.eos_ids

    def warm_up(self) -> None:
        """Load every registry now, so that no request waits for it.

        Raises:
            EvalspanError: one cannot be used with this model.
        """
        for name in self._registries:
            options = Options(name)
            self._reader(options, max_tokens=1).mask()

    def add(self, place: int, key: object, output: Sequence[int], options: Options, terms: Terms) -> None:
        """A request that opts in enters a place of the batch; `key` are its parameters, `output` its tokens so far."""
        room = self._context - terms.prompt_tokens
        most = len(options.history) + (room if terms.max_tokens is None else min(terms.max_tokens, room))
        request = Request(options, terms.end, terms.narrow)
        self.rows.add(place, key, output, lambda: Row(request, lambda: self._reader(options, max_tokens=most)))

    def left(self, rows: Iterable[Row | None]) -> None:
        """These rows were taken out of the batch."""
        if self._record is None:
            return
        for row in rows:
            if row is not None:
                self._write(self._record, row)

    def decide(self, outputs: Mapping[int, Sequence[int]]) -> Decisions:
        """What to do in this step; `outputs` are the tokens so far by place, for every row of the step."""
        counters = self.counters
        decisions = Decisions(counters)
        start = time.perf_counter_ns()
        placed = [(place, row) for place in outputs if (row := self.rows.get(place)) is not None]
        for place, row in placed:
            row.follow(outputs[place])
        followed = time.perf_counter_ns()
        for place, row in placed:
            following = row.next()
            if isinstance(following, Pin):
                decisions.pins.append((place, following.token))
            elif following is not None:
                decisions.masks.append((place, following, row))
        counters.follow_ns += followed - start
        counters.mask_ns += time.perf_counter_ns() - followed
        counters.steps += 1
        counters.rows += len(placed)
        counters.masked += len(decisions.masks)
        counters.pinned += len(decisions.pins)
        for place, row in placed:
            if row.failure is not None:
                self.failed(place, row)
        return decisions

    def failed(self, place: int, row: Row) -> None:
        """A row cannot go on: say so once."""
        if id(row) in self._failed:
            return
        self._failed = {id(other) for _, other in self.rows.items() if other.failure is not None} | {id(row)}
        self.counters.failures += 1
        if self._speaks:
            _log.warning("request %r ends early: %s", row.request.options.label or place, row.failure)

    def dump(self, *, idle: bool) -> None:
        """Write the counters if they are wanted, and a second has passed or there is nothing else to do."""
        if self._counted is None:
            return
        now = time.monotonic()
        if idle or now - self._dumped >= _DUMP_SECONDS:
            self._dumped = now
            self.counters.write(self._counted)

    def _reader(self, options: Options, *, max_tokens: int) -> OutputReader:
        if options.refused:
            raise OptionsError(options.refused)
        if options.registry not in self._replayers:
            if options.registry not in self._registries:
                raise OptionsError(f"this process has no registry {options.registry!r}: set the same path everywhere")
            if self._vocabulary is None:
                self._vocabulary = Vocabulary(self._tokenizer)
            registry = self._registries[options.registry]
            self._replayers[options.registry] = Replayer(registry, self._tokenizer, self._vocabulary)
        replayer = self._replayers[options.registry]
        return replayer.reader(mode=options.mode, grammar=grammar_of(options), max_tokens=max_tokens)

    def _write(self, path: Path, row: Row) -> None:
        options = row.request.options
        record: dict[str, Any] = {
            "label": options.label,
            "registry": options.registry,
            "tokens": [*options.history, *row.tokens],
            "events": [{"event": event.event, **asdict(event)} for event in row.events],
            "reason": row.reason,
            "failure": row.failure,
        }
        try:
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
        except OSError as error:
            _log.warning("%s: cannot be written: %s; no more outputs are recorded", path, error.strerror)
            self._record = None


def _path(variable: str, rank: int) -> Path | None:
    """The file that a variable names for this process: its own where the name has `{rank}` in it."""
    value = os.environ.get(variable, "")
    if not value or (rank != 0 and "{rank}" not in value):
        return None
    return Path(value.replace("{rank}", str(rank)))
