"""`evalspan new-evaluator`: the sources of an evaluator of one's own."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

__all__ = ["new_evaluator"]


@click.command("new-evaluator")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--name", metavar="NAME", help="What spans call it; by default the folder's name.")
def new_evaluator(folder: Path, name: str | None) -> None:
    """Write a Rust crate to DIR that builds to an evaluator, with tests and a registry.

    It works as it is, and adds numbers; the function to replace is `evaluate` in DIR/src/lib.rs.
    """
    from evalspan.evaluators.scaffold import MODULE, SAMPLE, new_crate

    name = new_crate(folder, name)
    place = shlex.quote(str(folder))
    click.echo(
        f"""\
{folder}: the evaluator {name}, of the specification {name}/1

  cd {place}
  cargo build --release --target wasm32-unknown-unknown
  evalspan inspect {MODULE}
  evalspan evaluate {name} {shlex.quote(SAMPLE)} --registry registry.toml"""
    )
