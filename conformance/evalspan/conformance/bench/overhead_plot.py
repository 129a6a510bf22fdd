"""The figure of `bench overhead`: a panel for each evaluator, a group of bars for each case."""

from __future__ import annotations

import textwrap
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from evalspan.conformance.bench.figure import write
from evalspan.conformance.bench.overhead import Overhead
from evalspan.conformance.bench.subjects import CASES, RUNTIMES

__all__ = ["draw"]

# Okabe and Ito's colours, which people with any colour vision tell apart, the sandbox in the two blues.
_COLOURS = {"wasm": "#0072B2", "wasm_fresh": "#56B4E9", "in_process": "#E69F00", "subprocess": "#999999"}
_LABELS = {
    "wasm": "wasm: built-in module, memory restored",
    "wasm_fresh": "wasm_fresh: third-party module, new instance",
    "in_process": "in_process: Python, no sandbox",
    "subprocess": "subprocess: Python in a confined worker",
}
_WIDTH = 0.8 / len(RUNTIMES)
_ROOM = 1.3
"""The axis ends at this multiple of the tallest mark."""
_TITLE = "What sandboxing costs: one evaluation, policy checks included"


def draw(found: Overhead, path: Path) -> None:
    """Write the figure to `path`.

    Raises:
        RequestError: it cannot be written.
    """
    rows = {(row.evaluator, row.case, row.runtime): row for row in found.rows}
    evaluators = list(dict.fromkeys(row.evaluator for row in found.rows))
    figure = Figure(figsize=(12, 8.4), layout="constrained")
    panels = figure.subplots(2, -(-len(evaluators) // 2), sharey=True).ravel()
    for panel, evaluator in zip(panels, evaluators, strict=False):
        for r, runtime in enumerate(RUNTIMES):
            cells = [rows[evaluator, case, runtime] for case in CASES]
            at = [c + (r - (len(RUNTIMES) - 1) / 2) * _WIDTH for c in range(len(CASES))]
            medians = [cell.p50_us for cell in cells]
            panel.bar(at, medians, _WIDTH * 0.94, color=_COLOURS[runtime], label=_LABELS[runtime], zorder=2)
            above = [cell.p99_us - cell.p50_us for cell in cells]
            panel.errorbar(at, medians, [[0] * len(at), above], fmt="none", ecolor="#444444", elinewidth=0.9, capsize=2)
            for x, cell in zip(at, cells, strict=True):
                panel.annotate(
                    _figure(cell.p50_us),
                    (x, cell.p50_us),
                    (0, -3),
                    textcoords="offset points",
                    ha="center",
                    va="top",
                    fontsize=8,
                    color="white" if runtime == "wasm" else "black",
                )
        panel.set_title(evaluator, loc="left", fontweight="bold")
        panel.set_xticks(range(len(CASES)), CASES)
        panel.set_yscale("log")
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        panel.grid(axis="y", which="major", color="#dddddd", linewidth=0.8, zorder=0)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylim(1, _ROOM * max(row.p99_us for row in found.rows))
    for panel in panels[:: -(-len(evaluators) // 2)]:
        panel.set_ylabel("microseconds per evaluation (log)")
    handles, labels = panels[0].get_legend_handles_labels()
    # The legend's own title, since the layout puts a figure's title and a legend outside in the same place.
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False, title=_TITLE, title_fontsize=14)
    note = f"Bars and numbers: median; whiskers: 99th percentile. {found.machine}; load average {found.load}."
    figure.supxlabel("\n".join(textwrap.wrap(note, 150)), fontsize=8, color="#555555")
    write(figure, path)


def _figure(value: float) -> str:
    """Three digits at most: noise takes the rest."""
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"
