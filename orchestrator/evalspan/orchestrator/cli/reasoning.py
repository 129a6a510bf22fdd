"""The options of `evalspan run` that let a model reason before its answer, in a window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from evalspan.orchestrator.grammar import Grammar
    from evalspan.policies import Registry

__all__ = ["Reasoning", "chosen_reasoning", "reasoning_options"]

_CHANNEL = "reasoning"
_TAGS = ("<think>", "</think>")  # what most models that reason were trained with


def reasoning_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options; any of them that needs a window asks for one."""
    for option in reversed(
        (
            click.option(
                "--reasoning",
                is_flag=True,
                help="Let the model reason first: in the registry's channel of this name, else in <think>…</think>.",
            ),
            click.option(
                "--reasoning-close",
                metavar="TEXT",
                help="What ends the reasoning, a tag or a marker such as 'Answer:'; without --reasoning-open it is "
                "open from the start.",
            ),
            click.option("--reasoning-open", metavar="TAG", help="What the model must begin it with."),
            click.option("--reasoning-opened", is_flag=True, help="The prompt has its open tag already."),
            click.option(
                "--reasoning-spans/--no-reasoning-spans",
                default=None,
                help="Whether spans in it are evaluated; by default as the channel says, else not.",
            ),
            click.option(
                "--reasoning-tokens",
                type=click.IntRange(min=1),
                metavar="N",
                help="After so many tokens of reasoning its close is forced.",
            ),
        )
    ):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What the options ask for."""

    close: str | None
    open: str | None
    opened: bool
    spans: bool | None
    max_tokens: int | None

    def before(self, grammar: Grammar | None, registry: Registry) -> Grammar:
        """The grammar with reasoning before it.

        Raises:
            GrammarError: the tags cannot be used.
        """
        from evalspan.orchestrator.sentences import FreeText
        from evalspan.orchestrator.windows import Window, Windows

        channel = next((channel for channel in registry.channels if channel.name == _CHANNEL), None)
        if self.close is not None:
            window = Window(self.close, self.open or "", max_tokens=self.max_tokens)
        elif channel is not None:
            window = Window.of(channel, opened=self.opened, max_tokens=self.max_tokens)
        else:
            window = Window(_TAGS[1], "" if self.opened else _TAGS[0], max_tokens=self.max_tokens)
        if self.spans is not None:
            window = replace(window, spans=self.spans)
        return Windows((window, grammar or FreeText()))


def chosen_reasoning(values: dict[str, Any]) -> Reasoning | None:
    """What was asked for; the values of `reasoning_options` are taken out of `values`.

    Raises:
        UsageError: the options do not fit together.
    """
    asked = values.pop("reasoning")
    close, open_, opened, spans, tokens = (
        values.pop(f"reasoning_{name}") for name in ("close", "open", "opened", "spans", "tokens")
    )
    if open_ is not None and opened:
        raise click.UsageError("--reasoning-open and --reasoning-opened exclude each other")
    if open_ is not None and close is None:
        raise click.UsageError("--reasoning-open needs --reasoning-close")
    if not asked and close is None:
        further = {"opened": opened, "spans": spans is not None, "tokens": tokens is not None}
        if given := [f"--reasoning-{name}" for name, is_given in further.items() if is_given]:
            raise click.UsageError(f"{given[0]} needs --reasoning or --reasoning-close")
        return None
    return Reasoning(close, open_, opened, spans, tokens)
