"""Showing a generation to a person: text as it comes, injections so that they stand out, and a table of them."""

from __future__ import annotations

from collections.abc import Iterable

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from evalspan.orchestrator.events import Evaluated, Event, Failed, Finished, Injected, Text, Unverified

__all__ = ["finish_line", "injection_table", "show_stream"]


def show_stream(console: Console, events: Iterable[Event]) -> list[Event]:
    """Print text and injections as they come; answer all the events.

    On a terminal a result is green and a failed one red, and a tag that the model wrote itself is yellow.
    """
    seen: list[Event] = []
    unverified = False
    for event in events:
        seen.append(event)
        if isinstance(event, Unverified):
            unverified = True
        elif isinstance(event, Injected):
            _write(console, event.text, "bold red" if event.kind == "error" else "bold green")
        elif isinstance(event, Text):
            _write(console, event.text, "yellow" if unverified else None)
            unverified = False
    console.print()
    return seen


def _write(console: Console, text: str, style: str | None) -> None:
    # Control characters are a model's way to the terminal: they are shown, not sent.
    safe = "".join(char if char.isprintable() or char in "\n\t" else "�" for char in text)
    console.print(safe, style=style, end="", markup=False, highlight=False, soft_wrap=True)


def injection_table(events: Iterable[Event]) -> Table | None:
    """The answers that were injected, and what they cost; None where there are none."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("span", "evaluator", "result"):
        table.add_column(heading, overflow="fold")
    for heading in ("fuel", "µs to evaluate", "forced tokens", "ms to decode"):
        table.add_column(heading, justify="right")
    answer: Evaluated | Failed | None = None
    for event in events:
        if isinstance(event, Evaluated | Failed):
            answer = event
        elif isinstance(event, Injected) and event.kind not in ("restated", "close") and answer is not None:
            table.add_row(
                event.span,
                answer.evaluator,
                answer.value if isinstance(answer, Evaluated) else str(answer.code),
                "-" if answer.fuel is None else f"{answer.fuel:,}",
                f"{answer.microseconds:,.1f}",
                str(len(event.tokens)),
                f"{event.milliseconds:,.1f}",
            )
    return table if table.row_count else None


def finish_line(events: list[Event]) -> str | None:
    """A remark where the generation did not end by itself."""
    last = events[-1]
    if not isinstance(last, Finished) or last.reason == "eos":
        return None
    return {
        "stop_string": f"stopped at {last.stop_string!r} (--stop)",
        "time_limit": "stopped: the time is used up (--time-limit)",
        "decode_error": "stopped: decoding could not go on",
        "length": "stopped at the token limit (--max-tokens) or the end of the context",
        "over_budget": "stopped: the policy's budget of injections is used up",
        "evaluation_error": 'stopped: a span failed whose rule says on_error = "stop", or a bound value has none',
        "assertion_failed": 'stopped: an assertion does not hold that says "on_violation": "stop"',
        "cancelled": "cancelled",
    }[last.reason]
