"""Options that several commands share, and what they open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from evalspan.orchestrator.driver import Driver

__all__ = ["engine_pairs", "json_option", "model_options", "open_driver", "registry_option", "runtime_option"]

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
            click.option("--model", metavar="FILE", help="Model of the backend: a GGUF file, a server's URL."),
            click.option(
                "--context", type=click.IntRange(min=1), metavar="TOKENS", help="Size of the model's context."
            ),
            click.option(
                "--slots", type=click.IntRange(min=1), help="Generations at once, each with a context of its own."
            ),
            click.option(
                "--threads", type=click.IntRange(min=1), help="CPU threads of the backend; all cores by default."
            ),
            click.option(
                "--engine-option",
                "engine_options",
                metavar="NAME=VALUE",
                multiple=True,
                help="What one backend alone understands, such as path=sessions of vllm. May be repeated.",
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
    grammar_engine: Any = "llguidance",
    engine_options: tuple[str, ...] = (),
) -> Driver:
    """The driver that `model_options` describe; the registry is read before the model, which takes longer."""
    from evalspan.orchestrator.backend import BackendOptions, check_engine_options
    from evalspan.orchestrator.driver import Driver
    from evalspan.orchestrator.engines import engine_identity
    from evalspan.orchestrator.plugins import backend_class
    from evalspan.policies import Registry

    engine_identity(grammar_engine)
    registry = Registry.load(registry_path)
    engine = engine_pairs(engine_options)
    options = BackendOptions(model=model, context_tokens=context, threads=threads, slots=slots, engine=engine)
    chosen = backend_class(backend)
    check_engine_options(chosen, engine)
    opened = chosen(options)
    try:
        return Driver(opened, registry, runtime=runtime, grammar_engine=grammar_engine)
    except BaseException:
        opened.shutdown()
        raise


def engine_pairs(texts: tuple[str, ...]) -> dict[str, str]:
    """The options of `--engine-option`, by name."""
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise click.UsageError(f"--engine-option wants NAME=VALUE, got {text!r}")
        pairs[name] = value
    return pairs
