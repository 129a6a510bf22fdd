"""Long runs as data: summaries that `evalspan fuzz --json` wrote, as the table of docs/security.md.

    python -m evalspan.conformance.fuzz.recorded docs/security.md

writes the table of the files in `runs/` between the two marks in the page.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from evalspan.conformance.fuzz.errors import FuzzError
from evalspan.conformance.fuzz.files import write_whole

__all__ = ["main", "recorded_runs", "table", "with_table"]

_BEGIN, _END = "<!-- runs: begin -->", "<!-- runs: end -->"


def recorded_runs() -> list[dict[str, Any]]:
    """The summaries in `runs/`, evaluators before parts of the host."""
    folder = Path(str(files("evalspan.conformance.fuzz").joinpath("runs")))
    runs = [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))]
    return sorted(runs, key=lambda run: (":" in run["target"], run["target"]))


def table(runs: Iterable[Mapping[str, Any]]) -> str:
    """The table in Markdown, and a line for each machine that it was made on."""
    rows = [
        "| target | inputs | of them before | with the reference | seed | jobs | seconds | findings left | machine |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    machines: list[str] = []
    for run in runs:
        machine = run["machine"]
        if machine not in machines:
            machines.append(machine)
        total = run["inputs"] + run["inputs_before"]
        cells = [f"`{run['target']}`", f"{total:,}", f"{run['inputs_before']:,}", _asked(run), run["seed"], run["jobs"]]
        cells += [f"{run['seconds']:,.0f}", len(run["findings"]), machines.index(machine) + 1]
        rows.append(f"| {' | '.join(map(str, cells))} |")
    listed = [f"{number}. {machine}" for number, machine in enumerate(machines, 1)]
    return "\n".join([*rows, "", *listed])


def _asked(run: Mapping[str, Any]) -> str:
    """How many of the inputs the reference was asked; parts of the host have none."""
    every = 0 if ":" in run["target"] else run["reference_every"]
    return f"one in {every}" if every > 1 else "each" if every else "none"


def with_table(page: str, runs: Iterable[Mapping[str, Any]]) -> str:
    """The page with the table between its marks.

    Raises:
        FuzzError: it has no marks.
    """
    before, begin, rest = page.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise FuzzError(f"the page has no lines {_BEGIN} and {_END}")
    return f"{before}{_BEGIN}\n{table(runs)}\n{_END}{after}"


def main(path: Path) -> None:
    """Write the table into a page."""
    write_whole(path, with_table(path.read_text("utf-8"), recorded_runs()).encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
