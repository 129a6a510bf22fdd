"""Writing a figure: whole or not at all."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import TYPE_CHECKING

from evalspan.orchestrator.errors import RequestError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["check", "write"]

_FORMATS = (".png", ".svg")
_DOTS_PER_INCH = 150
"""A figure of 12 inches is 1,800 pixels wide: sharp on a page, and small enough to read without scrolling."""


def check(path: Path) -> None:
    """Refuse what `write` could not do, as far as that can be known.

    Raises:
        RequestError: matplotlib is not installed, the suffix is no format, or the folder cannot be written to.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise RequestError("--plot needs matplotlib: pip install 'evalspan[bench]'")
    if path.suffix.lower() not in _FORMATS:
        raise RequestError(f"--plot {path}: the name must end in {' or '.join(_FORMATS)}")
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise RequestError(f"--plot {path}: no file can be written there")


def write(figure: Figure, path: Path) -> None:
    """Write `figure` beside `path`, in the format of its suffix, and move it there when it is whole.

    Raises:
        RequestError: it cannot be written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        figure.savefig(part, format=path.suffix.lower()[1:], dpi=_DOTS_PER_INCH)
        part.replace(path)
    except OSError as error:
        raise RequestError(f"--plot {path}: cannot be written: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)
