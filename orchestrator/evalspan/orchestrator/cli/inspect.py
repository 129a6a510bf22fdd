"""`evalspan inspect`: would a module load, and why not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalspan.orchestrator.cli.options import json_option, registry_option

if TYPE_CHECKING:
    from evalspan.evaluators import Outcome
    from evalspan.evaluators.inspection import Extern, Inspection

__all__ = ["inspect"]

_MAX_LINES = 20
"""Imports, exports or custom sections that are shown; `--json` has more."""

_MAX_NAME = 64
"""Characters of a name that are shown."""


@click.command()
@click.argument("module", type=click.Path(path_type=Path))
@registry_option
@json_option
def inspect(module: Path, registry_path: Path | None, as_json: bool) -> int:
    """Show what the file MODULE is, whether evalspan would load it, and what to do if not.

    The limits are those of the registry's default policy. Exit status: 0 it would load, 1 it would not,
    3 the file cannot be read.
    """
    from evalspan.evaluators.errors import ModuleRefused
    from evalspan.evaluators.inspection import inspect_file
    from evalspan.orchestrator.cli.main import EXIT_CODES
    from evalspan.policies import Registry

    try:
        inspection = inspect_file(module, Registry.load(registry_path))
    except ModuleRefused as error:  # that it would not load is no error here, but that it cannot be read is one
        click.echo(f"evalspan: {_printable(error.detail, 400)}", err=True)
        return EXIT_CODES["registry"]
    if as_json:
        # ASCII: names in a module may be made to garble a terminal.
        click.echo(json.dumps({"module": str(module)} | _facts(inspection)))
    else:
        for line in _lines(_printable(str(module), 4096), inspection):
            click.echo(line)
    return EXIT_CODES["ok"] if inspection.loads else EXIT_CODES["no"]


def _facts(inspection: Inspection) -> dict[str, Any]:
    """The inspection as JSON."""
    outline, manifest = inspection.outline, inspection.manifest
    return {
        "loads": inspection.loads,
        "check": inspection.check,
        "reason": inspection.reason,
        "advice": list(inspection.advice),
        "sha256": inspection.digest,
        "bytes": inspection.size,
        "code_bytes": outline.code_bytes,
        "functions": outline.functions,
        "start_function": outline.has_start,
        "memories": [
            {
                "minimum_pages": memory.minimum,
                "maximum_pages": memory.maximum,
                "page_bytes": memory.page_bytes,
                "minimum_bytes": memory.minimum * memory.page_bytes,
                "shared": memory.shared,
                "64_bit": memory.wide,
            }
            for memory in outline.memories
        ],
        "imports": [{"module": each.module, "name": each.name} | _kind(each) for each in outline.imports],
        "import_count": outline.import_count,
        "exports": [{"name": each.name} | _kind(each) for each in outline.exports],
        "export_count": outline.export_count,
        "features_off": [
            {
                "feature": use.feature.name,
                "count": use.count,
                "offset": use.offset,
                "rustc": use.feature.rustc,
                "clang": use.feature.clang,
            }
            for use in outline.features
        ],
        "custom_sections": [{"name": name, "bytes": size} for name, size in outline.customs],
        "unread": outline.unread,
        "manifest": None if manifest is None else manifest.model_dump(mode="json"),
        "sample": None if inspection.sample is None else _answer(inspection.sample),
    }


def _kind(extern: Extern) -> dict[str, str]:
    return {"kind": extern.kind, "type": extern.type}


def _answer(outcome: Outcome) -> dict[str, Any]:
    from evalspan.evaluators import Failure

    if isinstance(outcome, Failure):
        error = {"code": str(outcome.code), "message": outcome.message, "offset": outcome.offset}
        return {"error": error, "fuel": outcome.fuel}
    return {"value": outcome.text, "exact": outcome.exact, "fuel": outcome.fuel}


def _lines(module: str, inspection: Inspection) -> Iterator[str]:
    """The inspection for a person, the verdict first."""
    outline, manifest = inspection.outline, inspection.manifest
    if inspection.loads:
        yield f"{module}: ok, it would load"
    else:
        yield f"{module}: would not load ({inspection.check}): {_printable(inspection.reason or '', 400)}"
        yield from (f"  to do: {line}" for line in inspection.advice)
    yield _row(
        "size", f"{inspection.size:,} bytes, {outline.code_bytes:,} of them code; functions: {outline.functions:,}"
    )
    if inspection.digest is not None:
        yield _row("sha256", inspection.digest)
    if not outline.anything:
        return
    memories = [
        f"{memory.minimum:,} page{'' if memory.minimum == 1 else 's'} ({memory.minimum * memory.page_bytes:,} bytes), "
        + ("no maximum" if memory.maximum is None else f"at most {memory.maximum:,}")
        for memory in outline.memories
    ]
    yield from _rows("memory", memories, len(memories))
    imports = [
        f"{_printable(each.module)}.{_printable(each.name)}  {each.kind} {each.type}" for each in outline.imports
    ]
    yield from _rows("imports", imports, outline.import_count)
    width = min(max((len(each.name) for each in outline.exports), default=0), 24)
    exports = [f"{_printable(each.name):{width}}  {each.kind} {each.type}" for each in outline.exports]
    yield from _rows("exports", exports, outline.export_count)
    features = [f"{use.feature.name}, {use.count:,} times, first at byte {use.offset:,}" for use in outline.features]
    yield from _rows("disabled", features, len(features), none="none used")
    customs = [f"{_printable(name)}  {size:,} bytes" for name, size in outline.customs]
    yield from _rows("custom", customs, len(customs))
    if outline.unread:
        yield from _rows("not read", [_printable(why, 200) for why in outline.unread], len(outline.unread))
    if manifest is None:
        yield _row("manifest", "none that can be used")
        return
    unicode = f", Unicode {manifest.unicode}" if manifest.unicode else ""
    yield _row("manifest", f"{manifest.name}, specification {manifest.spec}{unicode}")
    yield _row("request", f"{manifest.request_bytes:,} bytes, input of at most {manifest.max_input_bytes:,}")
    options = [
        f"{option.name} = {option.default} ({option.minimum} to {option.maximum})" for option in manifest.options
    ]
    yield from _rows("options", options, len(options))
    if inspection.sample is not None:
        yield _row("sample", f"{_printable(manifest.sample or '', 512)} = {_shown(inspection.sample)}")


def _shown(outcome: Outcome) -> str:
    from evalspan.evaluators import Failure

    fuel = "" if outcome.fuel is None else f", {outcome.fuel:,} fuel"
    if isinstance(outcome, Failure):
        return f"{outcome.code} at byte {outcome.offset}: {_printable(outcome.message, 256)}{fuel}"
    return f"{_printable(outcome.text, 1024)}{'' if outcome.exact else ' (rounded)'}{fuel}"


def _rows(heading: str, texts: list[str], count: int, none: str = "none") -> Iterator[str]:
    """One row for each text, the heading before the first."""
    if not count:
        yield _row(heading, none)
    for text in texts[:_MAX_LINES]:
        yield _row(heading, text)
        heading = ""
    if count > _MAX_LINES:
        yield _row("", f"and {count - _MAX_LINES:,} more")


def _row(heading: str, text: str) -> str:
    return f"{heading:<13} {text}".rstrip()


def _printable(text: str, most: int = _MAX_NAME) -> str:
    """A text out of a module, which may be anything, fit for a terminal."""
    if len(text) > most:
        text = text[:most] + "…"
    if text.isprintable():
        return text or "''"
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
