"""Sessions in one process or in several, as one stream of reports."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Protocol

from evalspan.conformance.fuzz.errors import FuzzError
from evalspan.conformance.fuzz.findings import Finding
from evalspan.conformance.fuzz.session import Session, Tally
from evalspan.conformance.fuzz.targets import Described, Target, TargetSpec, open_target
from evalspan.conformance.generators import Sample
from evalspan.policies import EvalspanError

__all__ = ["Here", "Job", "Report", "Several", "Workers"]

_BATCH_SECONDS = 0.2
"""How long a worker works between two reports: often enough to look alive, seldom enough to cost nothing."""

_MOST_SHARED = 200
"""Inputs that a worker takes in between two reports."""


@dataclass(slots=True)
class Report:
    """What a worker did since its last report."""

    worker: int
    tally: Tally
    described: Described | None = None
    findings: list[Finding] = field(default_factory=list)
    kept: list[Sample] = field(default_factory=list)
    failure: str | None = None
    """Why the worker ended, where it had to."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker is given."""

    target: TargetSpec
    seed: int
    start: int
    corpus: Sequence[Sample]
    known: Sequence[Finding]
    inputs: int | None
    """How many inputs it asks at most."""
    clock: Callable[[], float] = time.monotonic


class Workers(Protocol):
    """One worker or several."""

    def reports(self, seconds: float) -> list[Report]:
        """What came in within so many seconds; empty where nothing did."""
        ...

    @property
    def done(self) -> bool:
        """Whether all inputs were asked."""
        ...

    def close(self) -> None:
        """End the workers; what they have not reported is lost."""
        ...


class _Pace:
    """Runs a session in batches that take about as long as a report should."""

    def __init__(self, session: Session, inputs: int | None) -> None:
        self._session = session
        self._left = inputs
        self._batch = 16

    @property
    def done(self) -> bool:
        return self._left == 0

    def batch(self) -> None:
        """One batch, and the next one adapted to what it took."""
        count = self._batch if self._left is None else min(self._batch, self._left)
        began = time.monotonic()
        self._session.run(count)
        took = time.monotonic() - began
        self._batch = max(1, min(10_000, int(count * _BATCH_SECONDS / max(took, 0.001))))
        if self._left is not None:
            self._left -= count


class Here:
    """One worker, in this process."""

    def __init__(self, job: Job) -> None:
        """Raises as `open_target` does."""
        self._target = open_target(job.target)
        self._session = _session(self._target, job)
        self._pace = _Pace(self._session, job.inputs)

    @property
    def done(self) -> bool:
        """Whether all inputs were asked."""
        return self._pace.done

    def reports(self, seconds: float) -> list[Report]:
        """One batch of inputs."""
        if not self._pace.done:
            self._pace.batch()
        return [_report(0, self._session)]

    def close(self) -> None:
        """Close the target."""
        self._target.close()


class Several:
    """Workers in processes of their own, started afresh: a forked child that compiles a module may hang."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipes: dict[Connection, int] = {}
        self._shared: dict[int, list[Sample]] = {number: [] for number in range(len(jobs))}
        """What each is to be told of the others, in answer to its next report. A worker waits for the answer: if both
        ends sent when they liked, both could wait for the other to make room."""
        self._processes = []
        for number, job in enumerate(jobs):
            here, there = context.Pipe()
            process = context.Process(target=_serve, args=(there, number, job), daemon=True)
            process.start()
            there.close()
            self._processes.append(process)
            self._pipes[here] = number

    @property
    def done(self) -> bool:
        """Whether all workers have ended."""
        return not self._pipes

    def reports(self, seconds: float) -> list[Report]:
        """What the workers sent; what one kept is passed on to the others.

        Raises:
            FuzzError: a worker could not open the target, or its process ended.
        """
        found: list[Report] = []
        for pipe in wait(list(self._pipes), timeout=seconds):
            assert isinstance(pipe, Connection)  # noqa: S101 - nothing else was given to wait
            try:
                report = pipe.recv()
            except (EOFError, OSError):
                number = self._pipes.pop(pipe)
                raise FuzzError(f"worker {number} ended: its process was killed") from None
            if report is None:
                del self._pipes[pipe]
                continue
            if report.failure is not None:
                raise FuzzError(report.failure)
            found.append(report)
        for report in found:
            for number, samples in self._shared.items():
                if number != report.worker:
                    samples += report.kept
        reported = {report.worker for report in found}
        for pipe, number in self._pipes.items():
            if number in reported:
                samples, self._shared[number] = self._shared[number], []
                with suppress(OSError):  # it ends; its last report says how
                    pipe.send(samples[:_MOST_SHARED])
        return found

    def close(self) -> None:
        """End the processes."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join(5)
            if process.is_alive():
                process.kill()
                process.join()
        for pipe in self._pipes:
            pipe.close()


def _serve(pipe: Connection, number: int, job: Job) -> None:
    """A worker's process: batches until all inputs are asked, or nobody listens any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    try:
        target = open_target(job.target)
        try:
            session = _session(target, job)
            pace = _Pace(session, job.inputs)
            while not pace.done:
                pace.batch()
                pipe.send(_report(number, session))
                for sample in pipe.recv():
                    session.share(sample)
            pipe.send(None)
        finally:
            target.close()
    except (EOFError, OSError):
        return  # the other end is gone
    except EvalspanError as error:
        pipe.send(Report(number, Tally(), failure=str(error)))


def _session(target: Target, job: Job) -> Session:
    return Session(
        target,
        seed=job.seed,
        start=job.start,
        corpus=job.corpus,
        known=job.known,
        name=job.target.name,
        clock=job.clock,
    )


def _report(number: int, session: Session) -> Report:
    findings, session.findings = session.findings, []
    return Report(number, session.count(), session.described, findings, [entry.sample for entry in session.fresh()])
