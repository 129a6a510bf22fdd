"""A receipt for people."""

from __future__ import annotations

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evalspan.orchestrator.receipts.model import Receipt

__all__ = ["show_receipt"]

_TAIL = 400  # characters of a prompt: its end is the question, and what comes before is often a lesson


def show_receipt(receipt: Receipt) -> None:
    """Print a receipt on standard output: forced parts stand in brackets, which a pipe shows too."""
    console = Console(highlight=False)
    request, output = receipt.request, receipt.output
    _section(console, f"prompt ({len(request.prompt_tokens)} tokens)")
    prompt = request.prompt
    tail = prompt if isinstance(prompt, str) else f"{prompt[-1].role}: {prompt[-1].content}" if prompt else ""
    console.print(_plain(f"…{tail[-_TAIL:]}" if len(tail) > _TAIL else tail), soft_wrap=True)
    _section(
        console,
        f"output ({output.sampled_tokens} sampled and {output.forced_tokens} forced tokens, {output.reason}); ⟦forced⟧",
    )
    console.print(_marked(receipt), soft_wrap=True)
    if (table := _values(receipt)) is not None:
        console.print(table)
    _section(console, "identities")
    identity = receipt.identity
    facts = {
        "evalspan": identity.evalspan,
        "tokenizer": identity.tokenizer,
        "registry": identity.registry_sha256,
        **{f"{one.name} ({one.spec})": one.sha256 for one in identity.evaluators},
        "grammar": f"{request.grammar.get('kind')}, {request.mode}, {identity.grammar_engine or 'nothing masked'}",
        "digest": receipt.digest,
    }
    console.print(_table(facts))
    claims = receipt.model
    _section(console, "said of the model (only `receipt verify` with the model confirms it)")
    console.print(_table({**claims.sampling, "ledger": f"{len(claims.ledger)} rows"}))
    _section(console, "unverified (nothing confirms it)")
    unverified = receipt.unverified.model_dump()
    timings = unverified.pop("timings")
    spent = sum(timing["microseconds"] or 0.0 for timing in timings)
    console.print(_table({**unverified, "evaluating": f"{spent:,.1f} µs"}))


def _section(console: Console, title: str) -> None:
    console.print(f"\n{title}", style="bold", soft_wrap=True)


def _marked(receipt: Receipt) -> Text:
    """The text, with the injected blocks, which stand in it in order, in brackets."""
    text, shown = receipt.output.text, Text()
    for event in receipt.output.events:
        block = event.get("text")
        if event.get("event") == "injected" and isinstance(block, str) and block in text:
            before, _, text = text.partition(block)
            shown.append(_plain(before))
            style = "bold red" if event.get("kind") == "error" else "bold green"
            shown.append(f"⟦{_plain(block).plain}⟧", style=style)
    return shown.append(_plain(text))


def _values(receipt: Receipt) -> Table | None:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("span", "evaluator", "input", "answer"):
        table.add_column(heading, overflow="fold")
    for heading in ("exact", "fuel"):
        table.add_column(heading, justify="right")
    for event in receipt.output.events:
        if event.get("event") in ("evaluated", "error"):
            answer = event.get("value", f"{event.get('code')}: {event.get('message')}")
            cells = (event.get("span"), event.get("evaluator"), event.get("input"), answer)
            exact = "-" if "exact" not in event else "yes" if event["exact"] is True else "no"
            table.add_row(*(_plain(str(cell)) for cell in (*cells, exact, event.get("fuel"))))
    return table if table.row_count else None


def _table(facts: dict[str, Any]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(_plain(str(name)), _plain(str(value)))
    return table


def _plain(text: str) -> Text:
    # A receipt comes from elsewhere: its control characters are shown, not sent to the terminal.
    return Text("".join(char if char.isprintable() or char in "\n\t" else "�" for char in text))
