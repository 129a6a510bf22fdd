"""The `evalspan` command: its group, its errors and its exit codes."""

from __future__ import annotations

import os
import sys
from importlib import import_module, metadata
from typing import Any, NoReturn

import click

__all__ = ["EXIT_CODES", "cli", "main"]

EXIT_CODES = {
    "ok": 0,
    "no": 1,
    "usage": 2,
    "registry": 3,
    "backend": 4,
    "decode": 5,
    "bug": 70,
    "interrupted": 130,
}
"""Exit status by meaning; `no` is a command that worked and whose answer is negative."""

_EPILOG = """\b
Exit status: 0 done; 1 the answer is an error (no value, a check failed); 2 wrong usage;
3 registry, module or input file; 4 backend, model or prompt; 5 decoding could not go on;
70 a bug in evalspan; 130 interrupted. EVALSPAN_DEBUG=1 shows tracebacks."""

_COMMANDS = {
    "demo": "evalspan.orchestrator.cli.demo:demo",
    "evaluate": "evalspan.orchestrator.cli.evaluate:evaluate",
    "evaluators": "evalspan.orchestrator.cli.evaluators:evaluators",
    "inspect": "evalspan.orchestrator.cli.inspect:inspect",
    "new-evaluator": "evalspan.orchestrator.cli.new_evaluator:new_evaluator",
    "plugins": "evalspan.orchestrator.cli.plugins:plugins",
    "receipt": "evalspan.orchestrator.cli.receipt:receipt",
    "registry": "evalspan.orchestrator.cli.registry:registry",
    "run": "evalspan.orchestrator.cli.run:run",
}

_GROUP = "evalspan.commands"


class _Commands(click.Group):
    """The built-in commands and those of the entry-point group `evalspan.commands`, loaded when asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*_COMMANDS, *(point.name for point in metadata.entry_points(group=_GROUP))})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _COMMANDS:
            module, _, attribute = _COMMANDS[cmd_name].partition(":")
            found: Any = getattr(import_module(module), attribute)
        else:
            points = list(metadata.entry_points(group=_GROUP, name=cmd_name))
            if not points:
                return None
            found = points[0].load()
        if not isinstance(found, click.Command):
            raise click.ClickException(f"the plugin command {cmd_name!r} is no click command")
        return found


@click.group(cls=_Commands, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="evalspan", prog_name="evalspan")
def cli() -> None:
    """Decode with exact values: the model writes an expression, the engine owns its result."""


def main() -> NoReturn:
    """Run the command line and exit; every error is one line on standard error."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that is not UTF-8 must not turn a result into a traceback.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    sys.exit(_run())


def _run() -> int:
    try:
        # Outside standalone mode an exit code is returned, and errors are ours to print.
        code = cli.main(standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return EXIT_CODES["usage"]
    except (KeyboardInterrupt, click.Abort):
        click.echo("evalspan: interrupted", err=True)
        return EXIT_CODES["interrupted"]
    except BrokenPipeError:
        # The reader has gone; nothing more can be said, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_CODES["no"]
    except Exception as error:  # noqa: BLE001  the last line of defence: never a traceback
        return _explain(error)
    return code if isinstance(code, int) else EXIT_CODES["ok"]


def _explain(error: Exception) -> int:
    from evalspan.evaluators import EvaluatorError
    from evalspan.orchestrator.errors import BackendError, DecodeError
    from evalspan.policies import EvalspanError, RegistryError

    if os.environ.get("EVALSPAN_DEBUG"):
        import traceback

        traceback.print_exception(error)
    if not isinstance(error, EvalspanError):
        click.echo(f"evalspan: bug: {type(error).__name__}: {error} (EVALSPAN_DEBUG=1 shows where)", err=True)
        return EXIT_CODES["bug"]
    click.echo(f"evalspan: {' '.join(str(error).split())}", err=True)
    if isinstance(error, BackendError):
        return EXIT_CODES["backend"]
    if isinstance(error, DecodeError):
        if error.state:
            click.echo(f"  {' '.join(error.state.split())[:400]}", err=True)
        return EXIT_CODES["decode"]
    if isinstance(error, RegistryError | EvaluatorError):
        return EXIT_CODES["registry"]
    return EXIT_CODES["usage"]
