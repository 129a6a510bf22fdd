"""`evalspan plugins`: what is installed."""

from __future__ import annotations

import click

from evalspan.orchestrator.cli.options import json_option

__all__ = ["plugins"]


@click.command()
@json_option
def plugins(as_json: bool) -> None:
    """List the installed plugins and the backends they offer."""
    import json

    from evalspan.orchestrator.plugins import plugins as installed

    rows = [
        {
            "plugin": plugin.name,
            "distribution": plugin.distribution,
            "backend": cls.name,
            "description": cls.description,
        }
        for plugin in installed()
        for cls in plugin.backends
    ]
    if as_json:
        click.echo(json.dumps(rows))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for heading in ("backend", "description", "plugin", "distribution"):
        table.add_column(heading)
    for row in rows:
        table.add_row(row["backend"], row["description"], row["plugin"], row["distribution"])
    Console().print(table)
