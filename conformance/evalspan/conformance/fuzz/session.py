"""One worker: draws inputs, asks the target, lets the oracles judge, keeps what is new."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from evalspan.conformance.fuzz.complaint import Complaint
from evalspan.conformance.fuzz.findings import Finding, new_finding
from evalspan.conformance.fuzz.pool import Entry, Pool
from evalspan.conformance.fuzz.source import Source
from evalspan.conformance.fuzz.targets import Target
from evalspan.conformance.generators import Sample
from evalspan.conformance.minimize import MAX_TRIALS, minimized_sample

__all__ = ["Session", "Tally"]

_MOST_OF_A_CAUSE = 8
"""Complaints of one coarse cause that are minimized: more are the same faults again, most likely."""

_COSTLY_TRIALS = 24
"""Smaller inputs that are tried where each takes a time limit."""

_MINIMIZE_SECONDS = 20.0
"""How long a finding is made smaller; an evaluator's takes a second."""

_BEFORE = 8
"""Inputs that are kept in mind, for a fault that depends on what was asked before."""


@dataclass(slots=True)
class Tally:
    """What a worker has done so far, in values that a process can hand to another."""

    inputs: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    """How often each kind of answer came, without messages."""
    complaints: Counter[str] = field(default_factory=Counter)
    """How often each oracle objected, known causes included."""
    corpus: int = 0
    kinds: int = 0
    covered: int = 0
    productions: int = 0
    worst_rate: float = 0.0
    worst: bytes = b""
    """The input with the most cost per byte."""


class Session:
    """Fuzzes one target in this process. `findings` grows."""

    def __init__(
        self,
        target: Target,
        *,
        seed: int,
        start: int = 0,
        corpus: Sequence[Sample] = (),
        known: Sequence[Finding] = (),
        name: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`corpus` are inputs of a run before, `known` its findings; `start` is how many inputs it had asked.

        `clock` is what the seconds of a finding are told by.
        """
        self._target = target
        self.described = target.described
        self._name = name
        self._seed = seed
        self._start = start
        self.pool = Pool()
        self.source = Source(target.vocabulary, self.pool, seed, start)
        self.tally = Tally()
        self.findings: list[Finding] = []
        self._known: set[str] = {finding.key for finding in known}
        self._times: Counter[tuple[str, str]] = Counter()
        self._recent: deque[Sample] = deque(maxlen=_BEFORE)
        self._clock = clock
        self._began = clock()
        for sample in corpus:
            self._one(sample)
        self.tally.inputs = 0
        self.pool.take_fresh()

    def run(self, count: int) -> None:
        """Ask so many inputs."""
        for _ in range(count):
            sample = self.source.draw()
            self._one(sample)

    def share(self, sample: Sample) -> None:
        """Take in an input that another worker found worth keeping."""
        answer = self._target.ask(sample)
        target = self._target
        self.pool.judge(sample, target.kind_of(answer), target.cost_of(answer), new_production=False)

    def count(self) -> Tally:
        """The tally, up to date."""
        tally, derivation = self.tally, self.source.derivation
        tally.corpus = len(self.pool.entries)
        tally.kinds = self.pool.kinds
        tally.worst_rate = self.pool.worst_rate
        tally.worst = b"" if self.pool.worst is None else self.pool.worst.data
        if derivation is not None:
            tally.covered, tally.productions = derivation.covered, len(derivation.counts)
        return tally

    def fresh(self) -> list[Entry]:
        """What was kept since the last call."""
        return self.pool.take_fresh()

    def _one(self, sample: Sample) -> None:
        target, tally = self._target, self.tally
        answer = target.ask(sample)
        kind = target.kind_of(answer)
        broken = False
        for complaint in target.check(sample, answer, self._start + tally.inputs):
            broken = True
            tally.complaints[complaint.oracle] += 1
            if complaint.costly:
                self.source.drop_bomb()
            self._found(sample, complaint)
        tally.inputs += 1
        tally.answers[kind.partition(" ")[0]] += 1
        self._recent.append(sample)
        if not broken:  # what is broken already would be found again and again from the corpus
            self.pool.judge(sample, kind, target.cost_of(answer), new_production=self.source.new_production)

    def _found(self, sample: Sample, complaint: Complaint) -> None:
        """Make a complaint a finding, unless its cause is known well enough."""
        cause = (complaint.oracle, complaint.cause)
        if self._times[cause] >= (_MOST_OF_A_CAUSE if complaint.coarse else 1):
            return
        if f"{complaint.oracle}: {complaint.cause}" in self._known:
            return
        self._times[cause] += 1
        inputs, seconds = self.tally.inputs + 1, self._clock() - self._began

        until = time.monotonic() + _MINIMIZE_SECONDS

        def keeps(data: bytes, options: Mapping[str, int]) -> bool:
            return time.monotonic() < until and any(
                each.cause == complaint.cause
                for each in self._target.complaints(
                    Sample(data, {**self._target.vocabulary.base, **options}), complaint.oracle
                )
            )

        before: tuple[bytes, ...] = ()
        if keeps(sample.data, sample.options):
            trials = _COSTLY_TRIALS if complaint.costly else MAX_TRIALS
            sample = minimized_sample(sample, keeps, trials=trials)
            sample = Sample(sample.data, {**self._target.vocabulary.base, **sample.options})
            complaint = next(
                (each for each in self._target.complaints(sample, complaint.oracle) if each.cause == complaint.cause),
                complaint,
            )
        else:
            before = tuple(each.data for each in self._recent)
        finding = new_finding(self._name, complaint, sample, before, self._seed, inputs, seconds)
        if finding.key not in self._known:
            self._known.add(finding.key)
            self.findings.append(finding)
