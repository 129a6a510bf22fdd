"""The walk: the machine that a driver builds, led along token paths, its mask compared with the oracle everywhere."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evalspan.conformance.oracle.cases import OracleCase
from evalspan.conformance.oracle.documents import Language, Node, Pieces, Tree, spelt
from evalspan.conformance.oracle.paths import Effort, Path, plan
from evalspan.conformance.oracle.report import Disagreement, OracleReport
from evalspan.orchestrator import DecodeError, Driver, GrammarError, Request
from evalspan.orchestrator.backend import Tokenizer
from evalspan.orchestrator.machine import Force, SpanMachine, Stop

__all__ = ["check"]

_LISTED = 10
"""Disagreements that are kept: they tend to have one cause."""

_MAX_TOKENS = 2_000
"""More than any path and its forced texts have: no limit is meant to be reached."""


def check(case: OracleCase, driver: Driver, *, engine: str, effort: Effort | None = None) -> OracleReport:
    """Compare the masks, the ends and the forced texts of a driver's machine with the documents of a case.

    `driver` has the case's registry and any vocabulary; `engine` is the name of its grammar engine, for the report.
    """
    effort = effort or Effort()
    request = Request("go", mode=case.mode, grammar=case.grammar, max_tokens=_MAX_TOKENS)
    try:
        _machine(driver, request)
    except GrammarError as error:
        return OracleReport(case.id, case.statement, engine, unsupported=str(error))
    language = case.language()
    walk = _Walk(driver, request, language)
    planned = plan(language, walk.pieces, effort)
    for path in planned.paths:
        walk.follow(path)
    return OracleReport(
        case.id,
        case.statement,
        engine,
        documents=language.documents if isinstance(language, Tree) else None,
        prefixes=planned.prefixes,
        ways=planned.ways,
        exhaustive=planned.exhaustive,
        masks=len(walk.seen),
        comparisons=len(walk.seen) * len(driver.backend.tokenizer.pieces),
        forced=walk.forced,
        disagreements=tuple(walk.found[:_LISTED]),
        more=max(0, len(walk.found) - _LISTED),
    )


def _machine(driver: Driver, request: Request) -> SpanMachine:
    """The machine of a request: the one that `driver.stream` would run."""
    return driver.machine(request)


@dataclass
class _Walk:
    driver: Driver
    request: Request
    language: Language
    seen: set[Path] = field(default_factory=set)
    """The paths after which the mask was compared."""
    found: list[Disagreement] = field(default_factory=list)
    forced: int = 0
    _expected: dict[tuple[int, ...], NDArray[np.intp]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tokenizer: Tokenizer = self.driver.backend.tokenizer
        self._control = self.tokenizer.special_ids | self.tokenizer.eos_ids
        self.pieces = Pieces(
            [b"" if token in self._control else piece for token, piece in enumerate(self.tokenizer.pieces)]
        )

    def follow(self, path: Path) -> None:
        """Lead a new machine along a path, which the oracle allows; stop where the machine cannot go on."""
        machine = _machine(self.driver, self.request)
        due, node = self.language.due(self.language.start)
        if due:
            raise ValueError("no document starts with what the engine writes: nothing would have been sampled")
        for at, token in enumerate(path):
            if not self._compare(machine, node, path[:at]):
                return
            due, after = self.language.due(self.language.step(node, self.tokenizer.pieces[token]))
            if not self._advance(machine, node, path[:at], token, due):
                return
            node = after
        if self._compare(machine, node, path) and node.complete:
            self._end(machine, node, path)

    def _compare(self, machine: SpanMachine, node: Node, path: Path) -> bool:
        """The mask, against the documents; false where there is none."""
        new = path not in self.seen
        self.seen.add(path)
        expected = self._allowed(node)
        try:
            mask = machine.mask()
        except DecodeError as error:
            self._note(machine, node, path, None, "error", self._hope(node), f"{error} ({error.state})")
            return False
        if mask is None or mask.shape != expected.shape:
            shape = "none" if mask is None else f"one of shape {mask.shape}"
            self._note(machine, node, path, None, "error", f"a mask of shape {expected.shape}", shape)
            return False
        if new:
            for token in np.flatnonzero(mask != expected):
                wanted, got = ("allowed", "forbidden") if expected[token] else ("forbidden", "allowed")
                why = self._why(node, int(token)) if expected[token] else "no document starts so"
                self._note(machine, node, path, int(token), self._kind(int(token)), f"{wanted}: {why}", got)
        return True

    def _advance(self, machine: SpanMachine, node: Node, path: Path, token: int, due: bytes) -> bool:
        """The action, against what the documents have after the token; false where they differ."""
        try:
            action = machine.advance(token)
        except DecodeError as error:
            self._note(machine, node, path, token, "error", "allowed", f"{error} ({error.state})")
            return False
        got = "goes on"
        if isinstance(action, Stop):
            got = f"stops: {action.reason}"
        elif isinstance(action, Force):
            text = "".join(block.text for block in action.blocks).encode()
            ids = b"".join(self.tokenizer.pieces[forced] for forced in action.tokens)
            got = f"forces {text!r}"
            if ids != text or action.replaces_token:
                got += f" as {ids!r}" + (" in place of the token" if action.replaces_token else "")
            self.forced += 1
        wanted = f"forces {due!r}" if due else "goes on"
        if got != wanted:
            self._note(machine, node, path, token, "forced", wanted, got)
        return got == wanted

    def _end(self, machine: SpanMachine, node: Node, path: Path) -> None:
        """An end token at a document ends it."""
        token = min(self.tokenizer.eos_ids)
        try:
            action = machine.advance(token)
            got = f"stops: {action.reason}" if isinstance(action, Stop) else "goes on"
        except DecodeError as error:
            got = f"{error} ({error.state})"
        if got != "stops: eos":
            self._note(machine, node, path, token, "end", "stops: eos", got)

    def _allowed(self, node: Node) -> NDArray[np.bool_]:
        """The mask that the documents ask for."""
        allowed = self._expected.get(node.prefix)
        if allowed is None:
            tokens = {token for token, _ in self.language.tokens(node, self.pieces)}
            if node.complete:
                tokens |= self.tokenizer.eos_ids
            allowed = self._expected[node.prefix] = np.array(sorted(tokens), dtype=np.intp)
        expected = np.zeros(len(self.tokenizer.pieces), dtype=np.bool_)
        expected[allowed] = True
        return expected

    def _kind(self, token: int) -> str:
        if token in self.tokenizer.eos_ids:
            return "end"
        return "control" if token in self._control else "token" if self.tokenizer.pieces[token] else "empty"

    def _why(self, node: Node, token: int) -> str:
        if token in self.tokenizer.eos_ids:
            return "it is a document"
        reached = self.language.step(node, self.tokenizer.pieces[token])
        return f"{self.language.witness(reached)!r} starts so"

    def _hope(self, node: Node) -> str:
        return f"a mask: {self.language.witness(node)!r} is a document"

    def _note(
        self, machine: SpanMachine, node: Node, path: Path, token: int | None, what: str, oracle: str, masker: str
    ) -> None:
        piece = b"" if token is None else self.tokenizer.pieces[token]
        state = (
            f"text {bytes(machine.text[-80:])!r}, {machine.sampled} sampled, {machine.forced} forced, "
            f"{machine.spans} spans, {machine.remaining} tokens left"
        )
        self.found.append(Disagreement(spelt(node.prefix), path, token, piece, what, oracle, masker, state))
