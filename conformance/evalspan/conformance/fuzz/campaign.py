"""A run from its start to its summary: workers, a store, limits, and what is shown meanwhile."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evalspan.conformance.bench.machine import machine_line
from evalspan.conformance.fuzz.findings import Finding, save_finding
from evalspan.conformance.fuzz.session import Tally
from evalspan.conformance.fuzz.store import Store
from evalspan.conformance.fuzz.targets import Described, TargetSpec
from evalspan.conformance.fuzz.workers import Here, Job, Report, Several, Workers

__all__ = ["Campaign", "Plan"]

_SAVE_SECONDS = 10.0
"""What a run that is killed may lose."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do, and for how long."""

    target: TargetSpec
    seed: int = 0
    inputs: int | None = None
    seconds: float | None = None
    jobs: int = 1
    corpus: Path | None = None
    findings: Path | None = None
    """Where findings go without a corpus folder."""
    clock: Callable[[], float] = time.monotonic
    """Of what the seconds are: `time.process_time` for those of one core, whatever else the machine does."""
    first_only: bool = False
    """Whether to stop at the first finding."""


@dataclass
class Campaign:
    """The state of a run; `run` is called once, and everything else may be read at any time."""

    plan: Plan
    described: Described | None = None
    findings: list[tuple[Finding, Path | None]] = field(default_factory=list)
    """Those of this run and those found before in the corpus folder, with their files."""
    tallies: dict[int, Tally] = field(default_factory=dict)
    interrupted: bool = False
    seconds: float = 0.0
    resumed: int = 0
    """Inputs that runs before this one asked."""
    _store: Store | None = None
    _keys: set[str] = field(default_factory=set)

    @property
    def inputs(self) -> int:
        """Inputs asked in this run."""
        return sum(tally.inputs for tally in self.tallies.values())

    @property
    def corpus(self) -> int:
        """Inputs that were kept; the most of any worker, since they share them."""
        return max((tally.corpus for tally in self.tallies.values()), default=0)

    @property
    def covered(self) -> tuple[int, int]:
        """Productions used and productions of the grammar; of the worker that used most."""
        return max(((tally.covered, tally.productions) for tally in self.tallies.values()), default=(0, 0))

    @property
    def worst(self) -> tuple[float, bytes]:
        """The most cost per byte, and its input."""
        return max(((tally.worst_rate, tally.worst) for tally in self.tallies.values()), default=(0.0, b""))

    def answers(self) -> Counter[str]:
        """How often each kind of answer came."""
        return sum((tally.answers for tally in self.tallies.values()), Counter())

    def complaints(self) -> Counter[str]:
        """How often each oracle objected."""
        return sum((tally.complaints for tally in self.tallies.values()), Counter())

    def run(self, show: Callable[[Campaign], None]) -> None:
        """Fuzz until a limit is reached or Ctrl-C comes; `show` is called several times a second.

        Raises:
            EvalspanError: the target or the folder cannot be used.
        """
        plan = self.plan
        if plan.corpus is not None:
            self._store = Store.open(plan.corpus, plan.target.name, plan.seed)
            self.resumed = self._store.inputs
            folder = plan.corpus / "findings"
            self.findings = [(finding, folder / f"{finding.name}.json") for finding in self._store.findings]
            self._keys = {finding.key for finding in self._store.findings}
        clock = plan.clock
        began, saved = clock(), time.monotonic()
        workers = self._workers()
        try:
            while not workers.done and not self._over(clock() - began):
                for report in workers.reports(0.5):
                    self._take(report)
                self.seconds = clock() - began
                if self._store is not None and time.monotonic() - saved > _SAVE_SECONDS:
                    self._store.save_state(self.inputs, self.seconds)
                    saved = time.monotonic()
                show(self)
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            self.seconds = clock() - began
            workers.close()
            if self._store is not None:
                self._store.save_state(self.inputs, self.seconds)

    def _workers(self) -> Workers:
        plan, store = self.plan, self._store
        samples, known = ([], []) if store is None else (store.samples, store.findings)
        share = None if plan.inputs is None else -(-plan.inputs // plan.jobs)
        jobs = [
            # Seeds of jobs are far apart, so that runs with seeds that follow each other share no stream.
            Job(plan.target, plan.seed + (number << 32), self.resumed, samples, known, share, plan.clock)
            for number in range(plan.jobs)
        ]
        if plan.jobs > 1:
            return Several(jobs)
        return Here(jobs[0])

    def _over(self, seconds: float) -> bool:
        if self.plan.first_only and self.findings:
            return True
        return self.plan.seconds is not None and seconds >= self.plan.seconds

    def _take(self, report: Report) -> None:
        self.tallies[report.worker] = report.tally
        self.described = report.described
        for finding in report.findings:
            if finding.key in self._keys:
                continue  # another worker found it first
            self._keys.add(finding.key)
            self.findings.append((finding, self._saved(finding)))
        if self._store is not None:
            self._store.keep(report.kept)

    def _saved(self, finding: Finding) -> Path | None:
        if self._store is not None:
            return self._store.add_finding(finding)
        return None if self.plan.findings is None else save_finding(self.plan.findings, finding)

    def as_json(self) -> dict[str, Any]:
        """The summary."""
        rate, worst = self.worst
        covered, productions = self.covered
        return {
            "target": self.plan.target.name,
            "machine": machine_line(),
            "seed": self.plan.seed,
            "jobs": self.plan.jobs,
            "reference_every": self.plan.target.reference_every,
            "inputs": self.inputs,
            "inputs_before": self.resumed,
            "seconds": round(self.seconds, 3),
            "inputs_per_second": round(self.inputs / max(self.seconds, 1e-9)),
            "corpus": self.corpus,
            "productions": {"covered": covered, "of": productions},
            "worst_cost_per_byte": {"cost": round(rate, 1), "input": worst.decode("utf-8", "backslashreplace")},
            "answers": dict(self.answers().most_common()),
            "objections": dict(self.complaints().most_common()),
            "interrupted": self.interrupted,
            "findings": [
                {**finding.as_json(), "file": None if path is None else str(path)} for finding, path in self.findings
            ],
        }
