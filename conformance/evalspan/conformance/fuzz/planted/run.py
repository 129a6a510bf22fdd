"""How soon the fuzzer finds each planted bug."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from evalspan.conformance.fuzz.campaign import Campaign, Plan
from evalspan.conformance.fuzz.findings import Finding
from evalspan.conformance.fuzz.planted.bugs import PlantedBug, built
from evalspan.conformance.fuzz.targets import TargetSpec

__all__ = ["Caught", "caught"]


@dataclass(frozen=True, slots=True)
class Caught:
    """What became of one planted bug."""

    bug: PlantedBug
    finding: Finding | None
    """The first finding; None where there was none in time."""
    seconds: float
    """CPU seconds of one core until it was found, or for how many it was looked for."""
    inputs: int

    def as_json(self) -> dict[str, Any]:
        """The row of the table."""
        found = self.finding
        return {
            "bug": self.bug.name,
            "operator": self.bug.operator,
            "fault": self.bug.fault,
            "oracle": None if found is None else found.oracle,
            "seconds": round(self.seconds, 2),
            "inputs": self.inputs,
            "input": None if found is None else found.sample.data.decode("utf-8", "backslashreplace"),
            "options": {} if found is None else dict(found.sample.options),
        }


def caught(bug: PlantedBug, seconds: float, seed: int) -> Caught:
    """Build the module with a fault and fuzz it until the first finding, or for so many seconds of CPU time.

    Raises:
        FuzzError: it cannot be built.
    """
    with built(bug) as module:
        target = TargetSpec(kind="module", name=str(module))
        campaign = Campaign(Plan(target, seed=seed, seconds=seconds, clock=time.process_time, first_only=True))
        campaign.run(lambda _: None)
    if campaign.interrupted:
        raise KeyboardInterrupt
    if not campaign.findings:
        return Caught(bug, None, campaign.seconds, campaign.inputs)
    finding = campaign.findings[0][0]
    return Caught(bug, finding, finding.seconds, finding.inputs)
