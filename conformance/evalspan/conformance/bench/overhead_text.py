"""The tables of `bench overhead`, for people."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from evalspan.conformance.bench.holds import Hold
from evalspan.conformance.bench.overhead import Overhead
from evalspan.policies import Limits

__all__ = ["print_goals", "print_overhead"]


def print_overhead(found: Overhead, console: Console) -> None:
    """The machine line, every figure, and the goals."""
    console.print(found.machine, soft_wrap=True)
    console.print(f"{found.rounds} interleaved rounds; load average {found.load}", soft_wrap=True)
    console.print("One evaluation, policy checks included. The ratio is that of the medians, to in_process.")
    console.print(_costs(found))
    if found.decode_step is not None:
        step = found.decode_step
        console.print(f"One decode step of {step.model}: {step.p50_us:,.0f} us. Typical inputs between two steps:")
        console.print(_shares(found))
    console.print(
        f"How long one evaluation can last at the default of {Limits().fuel:,} units of fuel, in microseconds."
    )
    for third_party, title in ((False, "Expressions that a model can write:"), (True, "Modules that mean ill:")):
        console.print(title)
        console.print(_holds([hold for hold in found.holds if hold.third_party is third_party]))
    console.print(f"Longest hold of a batch: {found.longest_hold_us:,.0f} us\n")
    print_goals(found, console)


def print_goals(found: Overhead, console: Console) -> None:
    """A line for each goal."""
    for goal in found.goals:
        console.print(f"{'met' if goal.met else 'not met':8}{goal.about} ({goal.measured})", soft_wrap=True)


def _costs(found: Overhead) -> Table:
    table = _table("evaluator", "case", "runtime", numbers=("median us", "p99 us", "ratio", "fuel"))
    last = None
    for row in found.rows:
        if last is not None and (row.evaluator, row.case) != last:
            table.add_section()
        first = (row.evaluator, row.case) != last
        last = (row.evaluator, row.case)
        table.add_row(
            row.evaluator if first else "",
            row.case if first else "",
            row.runtime,
            f"{row.p50_us:,.1f}",
            f"{row.p99_us:,.1f}",
            f"{row.ratio_to_in_process:.2f}",
            "-" if row.fuel is None else f"{row.fuel:,}",
        )
    return table


def _shares(found: Overhead) -> Table:
    table = _table("evaluator", "runtime", numbers=("median us", "of a step", "again at once", "of a step"))
    step = found.decode_step
    for share in step.shares if step is not None else ():
        table.add_row(
            share.evaluator,
            share.runtime,
            f"{share.p50_us:,.1f}",
            f"{share.share:.2%}",
            f"{share.p50_us_at_once:,.1f}",
            f"{share.share_at_once:.2%}",
        )
    return table


def _holds(holds: list[Hold]) -> Table:
    table = _table("name", "what it does", numbers=("median", "longest", "ended by"))
    for hold in holds:
        end = {"value": "its value", "fuel_exhausted": "fuel", "internal": "deadline"}.get(hold.end, hold.end)
        table.add_row(hold.name, hold.about, f"{hold.median_us:,.0f}", f"{hold.longest_us:,.0f}", end)
    return table


def _table(*texts: str, numbers: tuple[str, ...]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in texts:
        table.add_column(heading)
    for heading in numbers:
        table.add_column(heading, justify="right")
    return table
