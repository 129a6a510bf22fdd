"""Options that several commands share, and what they open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from evalspan.orchestrator.driver import Driver

__all__ = ["json_option", "model_options", "open_driver", "registry_option", "runtime_option"]

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

json_option: Decorator = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")

registry_option: Decorator = click.option(
    "--registry",
    "registry_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Registry in TOML; the one that ships with evalspan by default.",
)

runtime_option: Decorator = click.option(
    "--runtime",
    type=click.Choice(["wasm", "in_process", "subprocess"]),
    default="wasm",
    show_default=True,
    help="Where evaluators run: the sandbox, or the Python reference here or in a worker process.",
)


def model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that choose a backend and a model."""
    for option in reversed(
        (
            click.option("--backend", default="llama_cpp", show_default=True, help="See `evalspan plugins`."),
            click.option("--model", metavar="FILE", help="Model of the backend, such as a GGUF file."),
            click.option(
                "--context", type=click.IntRange(min=1), metavar="TOKENS", help="Size of the model's context."
            ),
            click.option(
                "--slots", type=click.IntRange(min=1), help="Generations at once, each with a context of its own."
            ),
            click.option(
                "--threads", type=click.IntRange(min=1), help="CPU threads of the backend; all cores by default."
            ),
            registry_option,
            runtime_option,
        )
    ):
        command = option(command)
    return command


def open_driver(
    *,
    backend: str,
    model: str | None,
    context: int | None,
    slots: int | None,
    threads: int | None,
    registry_path: Path | None,
    runtime: Any,
) -> Driver:
    """The driver that `model_options` describe; the registry is read before the model, which takes longer."""
    from evalspan.orchestrator.backend import BackendOptions
    from evalspan.orchestrator.driver import Driver
    from evalspan.orchestrator.plugins import backend_class
    from evalspan.policies import Registry

    registry = Registry.load(registry_path)
    options = BackendOptions(model=model, context_tokens=context, threads=threads, slots=slots)
    return Driver(backend_class(backend)(options), registry, runtime=runtime)
