"""Running mutants, each in a process of its own, as many at once as there are cores."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

from evalspan.conformance.mutants.mutant import Mutant

__all__ = ["Verdict", "control", "run_mutants"]

_SECONDS = 600
"""The longest that a mutant may take: some seconds as a rule; one that never ends is killed by that, too."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant."""

    mutant: Mutant
    killed_by: tuple[str, ...] = ()
    survived: tuple[str, ...] = ()
    """Requirements that should have noticed it and did not."""
    detail: str = ""
    """What the first requirement saw."""
    error: str = ""
    """Why the mutant could not be made."""

    @property
    def dead(self) -> bool:
        """Whether every requirement that should notice it did."""
        return bool(self.killed_by) and not self.survived and not self.error


def run_mutants(mutants: Sequence[Mutant]) -> Iterator[Verdict]:
    """The verdicts, as they come."""
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        waiting = {pool.submit(_asked, mutant.name, mutant.kills): mutant for mutant in mutants}
        for done in as_completed(waiting):
            mutant = waiting[done]
            told = done.result()
            if "error" in told:
                yield Verdict(mutant, error=str(told["error"]))
                continue
            answers: dict[str, list[str]] = told["answers"]
            killed = tuple(name for name in mutant.kills if answers[name][0] == "fail")
            detail = answers[killed[0]][1] if killed else ""
            yield Verdict(mutant, killed, tuple(name for name in mutant.kills if name not in killed), detail)


def control(mutants: Sequence[Mutant]) -> dict[str, str]:
    """Requirements of these mutants that the code as it is does not hold, with what they saw: none, else a mutant's
    death would mean nothing."""
    wanted = tuple(dict.fromkeys(name for mutant in mutants for name in mutant.kills))
    told = _asked("-", wanted)
    if "error" in told:
        return {"control": str(told["error"])}
    answers: dict[str, list[str]] = told["answers"]
    missing = {name: "there is no such requirement" for name in wanted if name not in answers}
    return missing | {name: " ".join(answer) for name, answer in answers.items() if answer[0] != "pass"}


def _asked(name: str, wanted: Sequence[str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "evalspan.conformance.mutants.child", name, *wanted]
    # The hash seed, so that a mutant dies the same death every time. The sandbox would notice at its start that its
    # fast path is broken, and take the other one.
    environment = {**os.environ, "PYTHONHASHSEED": "0", "EVALSPAN_SANDBOX": "fast"}
    try:
        done = subprocess.run(  # noqa: S603  this Python, with names from the catalogue
            command, capture_output=True, text=True, timeout=_SECONDS, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        return {"answers": {one: ["fail", f"it did not end within {_SECONDS} s"] for one in wanted}}
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        last = (done.stderr.strip().splitlines() or [""])[-1]
        return {"error": f"its process ended with status {done.returncode}: {last}"}
    told: dict[str, Any] = json.loads(lines[-1])
    return told
