"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from evalspan.conformance.fuzz.errors import FuzzError

__all__ = ["write_whole"]


def write_whole(path: Path, data: bytes) -> None:
    """Write a file beside `path` and rename it.

    Raises:
        FuzzError: it cannot be written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        raise FuzzError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)
