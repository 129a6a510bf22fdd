"""What a vLLM engine is opened with: the model as a folder, and what the options of the backend say."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from evalspan.orchestrator.backend import BackendOptions
from evalspan.orchestrator.errors import BackendError, ModelError

__all__ = ["ENGINE_OPTIONS", "PATHS", "Path_", "VllmSettings", "read_settings"]

Path_ = Literal["in-engine", "sessions", "resume"]
"""A way to bring forced tokens into a sequence."""

PATHS: Mapping[Path_, str] = {
    "in-engine": "forces tokens inside the engine",
    "sessions": "forces tokens as input of a session, in one forward pass",
    "resume": "resumes with a new request after each result; nothing is masked",
}
"""Each with what it does, for people."""

ENGINE_OPTIONS: Mapping[str, str] = {
    "path": "in-engine (the default), sessions or resume",
    "dtype": "auto (the default), float32, bfloat16 or float16",
    "eager": "1: no compilation and no CUDA graphs, the default on a CPU; 0: as vLLM would",
    "tensor_parallel": "devices that share the model, 1 by default",
    "gpu_memory": "the part of a GPU's memory that vLLM may use, 0.9 by default",
}
"""The names of `BackendOptions.engine` that the backend takes, with their meanings."""

_CONTEXT = 4096  # tokens; more is memory that few prompts use, and a model may be trained for less
_SLOTS = 32  # sequences at once: what the benchmarks go up to
_DTYPES = ("auto", "float32", "bfloat16", "float16")


@dataclass(frozen=True, slots=True)
class VllmSettings:
    """An engine to be opened."""

    folder: Path
    """With the model's files."""
    path: Path_ = "in-engine"
    context_tokens: int = _CONTEXT
    slots: int = _SLOTS
    dtype: str = "auto"
    eager: bool | None = None
    """None is True on a CPU, where compiling takes longer than most runs."""
    tensor_parallel: int = 1
    gpu_memory: float = 0.9
    processors: tuple[Any, ...] = field(default=())
    """Logits processors beside evalspan's, by their names."""


def read_settings(options: BackendOptions) -> VllmSettings:
    """The settings that a user's options mean; a GGUF model is prepared here.

    Raises:
        ModelError: the model is missing, or none that vLLM reads.
        BackendError: an option is out of its range, or the path is not to be had.
    """
    given = options.engine
    if options.threads is not None:
        raise BackendError(
            "vLLM binds its threads by itself: leave --threads away, and set VLLM_CPU_OMP_THREADS_BIND where it should "
            "use other cores"
        )
    path = _path(given)
    dtype = given.get("dtype", "auto")
    if dtype not in _DTYPES:
        raise BackendError(f"engine option dtype must be one of {', '.join(_DTYPES)}, got {dtype!r}")
    eager = given.get("eager")
    if eager not in (None, "0", "1"):
        raise BackendError(f"engine option eager must be 0 or 1, got {eager!r}")
    tensor_parallel = _number(given, "tensor_parallel", int, "1", lambda value: value >= 1, "1 or more")
    gpu_memory = _number(given, "gpu_memory", float, "0.9", lambda value: 0 < value <= 1, "above 0 and at most 1")
    folder = _folder(options.model)
    trained = _trained(folder)
    context = options.context_tokens or min(_CONTEXT, trained or _CONTEXT)
    if trained is not None and context > trained:
        raise BackendError(f"the context must be from 1 to the {trained} tokens of the model, got {context}")
    return VllmSettings(
        folder,
        path,
        context,
        options.slots or _SLOTS,
        dtype,
        None if eager is None else eager == "1",
        int(tensor_parallel),
        gpu_memory,
    )


def _path(given: Mapping[str, str]) -> Path_:
    """The path that is asked for, else the best that is to be had."""
    from evalspan.backends.in_engine.registries import SWITCH, switched_off

    asked = given.get("path")
    if asked is not None and asked not in get_args(Path_):
        raise BackendError(f"engine option path must be one of {', '.join(PATHS)}, got {asked!r}")
    if switched_off():
        if asked not in (None, "resume"):
            raise BackendError(f"{SWITCH}=off keeps evalspan out of the engine: unset it, or take path=resume")
        return "resume"
    return asked or "in-engine"  # type: ignore[return-value]  # it is one of them


def _number(
    given: Mapping[str, str],
    name: str,
    kind: Callable[[str], float],
    default: str,
    fits: Callable[[float], bool],
    right: str,
) -> float:
    text = given.get(name, default)
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or not fits(value):
        raise BackendError(f"engine option {name} must be {right}, got {text!r}")
    return value


def _folder(model: str | None) -> Path:
    """The folder of a model: as it is, or made of a GGUF file."""
    if model is not None:
        path = Path(model)
        if path.is_dir():
            if not (path / "config.json").is_file():
                raise ModelError(
                    f"{path}: has no config.json: vLLM reads a folder as Hugging Face transformers write it"
                )
            return path
        if not path.exists():
            raise ModelError(
                f"{model}: there is no such folder or GGUF file (download a model from a hub first, and name its "
                "folder)"
            )
    from evalspan.backends.vllm_model import prepared_model

    return prepared_model(model)


def _trained(folder: Path) -> int | None:
    """The tokens of context that the model was trained for, where its files say so."""
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{folder / 'config.json'}: cannot be read: {error}") from None
    for part in (config, config.get("text_config")):
        if isinstance(part, dict) and isinstance(part.get("max_position_embeddings"), int):
            return int(part["max_position_embeddings"])
    return None
