"""A vLLM engine in this process: its loop runs in a thread of its own, its model in processes of its own."""

# What is imported here is of vLLM's environment, which is not the one that the types are checked in.
# pyright: reportMissingImports=false
from __future__ import annotations

import asyncio
import atexit
import itertools
import os
import sys
import threading
from collections.abc import AsyncGenerator, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import aclosing, contextmanager
from typing import Any, TypeVar

from evalspan.backends.openai_http_dialects import DIALECTS
from evalspan.backends.vllm_settings import VllmSettings
from evalspan.orchestrator.backend import Chunk
from evalspan.orchestrator.errors import BackendError
from evalspan.orchestrator.sampling import SamplingParams

__all__ = ["VllmCompletion", "VllmEngine", "chunk_of"]

_T = TypeVar("_T")

_PROCESSOR = "evalspan.backends.vllm_plugin:EvaluatorLogitsProcessor"

_STEP_TOKENS = 2048  # vLLM's own default for a step
_GRACE = 1.0  # seconds for the engine's processes to end by themselves; they hold nothing that must be saved

# What vLLM reads of the environment when it is imported; what a user has set stays.
_ENVIRONMENT: Mapping[str, str] = {
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",  # standard output is for what the model writes
    "VLLM_LOGGING_LEVEL": "ERROR",  # its warnings are about how it is called, not about what a user can change
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn",  # a forked process that compiles a module of an evaluator would hang
}


class VllmEngine:
    """An engine that is started once and shared by the ways to drive it. Safe from any thread."""

    def __init__(self, settings: VllmSettings) -> None:
        """Nothing is loaded before `start`."""
        for name, value in _ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        self.settings = settings
        self._llm: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._numbers = itertools.count()
        self._restore: dict[str, str | None] = {}

    @property
    def started(self) -> bool:
        """Whether the model is loaded."""
        return self._llm is not None

    @property
    def unfinished(self) -> int:
        """How many requests vLLM works on."""
        return self._llm.get_num_unfinished_requests() if self.started else 0

    @property
    def is_dead(self) -> bool:
        """Whether its process has ended by itself; nothing can be asked of it any more."""
        return self.started and bool(self._llm.errored)

    def start(self, environment: Mapping[str, str] | None = None) -> None:
        """Load the model: half a minute and more. `environment` is set for as long as the engine runs.

        Raises:
            BackendError: vLLM cannot load it.
        """
        if self.started:
            return
        for name, value in (environment or {}).items():
            self._restore[name] = os.environ.get(name)
            os.environ[name] = value
        atexit.register(self.close)  # else the engine's processes would be killed at exit, and say so
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="evalspan-vllm", daemon=True)
        self._thread.start()
        try:
            with _stdout_as_stderr():
                self._llm = self.submit(self._load()).result()
        except BaseException as error:
            self.close()
            if isinstance(error, Exception):
                reason = " ".join(str(error).split())[:300] or type(error).__name__
                raise BackendError(f"vLLM cannot load {self.settings.folder}: {reason}") from None
            raise

    async def _load(self) -> Any:
        from vllm.engine.arg_utils import AsyncEngineArgs
        from vllm.platforms import current_platform
        from vllm.v1.engine.async_llm import AsyncLLM

        settings = self.settings
        on_cpu = current_platform.is_cpu()
        own = () if settings.path == "resume" else (_PROCESSOR,)
        return AsyncLLM.from_engine_args(
            AsyncEngineArgs(
                model=str(settings.folder),
                max_model_len=settings.context_tokens,
                max_num_seqs=settings.slots,
                dtype=settings.dtype,
                enforce_eager=on_cpu if settings.eager is None else settings.eager,
                tensor_parallel_size=settings.tensor_parallel,
                gpu_memory_utilization=settings.gpu_memory,
                # On a CPU vLLM 0.32 dies of a request with a seed whose prompt is read in several steps.
                enable_chunked_prefill=False if on_cpu else None,
                max_num_batched_tokens=max(settings.context_tokens, _STEP_TOKENS) if on_cpu else None,
                logits_processors=[*own, *settings.processors] or None,
                disable_log_stats=True,
            )
        )

    def submit(self, coroutine: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Run a coroutine in the engine's loop; cancelling the future cancels it.

        Raises:
            BackendError: the engine is not running.
        """
        if self._loop is None or self._loop.is_closed():
            coroutine.close()
            raise BackendError("the vLLM engine is not running: the backend was shut down")
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def close(self) -> None:
        """End the engine's processes and what still runs."""
        atexit.unregister(self.close)
        loop, llm = self._loop, self._llm
        self._llm = None
        if loop is not None and not loop.is_closed():

            async def end() -> None:
                others = asyncio.all_tasks() - {asyncio.current_task()}
                for task in others:
                    task.cancel()
                await asyncio.gather(*others, return_exceptions=True)
                if llm is not None:
                    llm.shutdown(_GRACE)

            self.submit(end()).result()
            loop.call_soon_threadsafe(loop.stop)
            if self._thread is not None:
                self._thread.join()
            loop.close()
        for name, value in self._restore.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        self._restore.clear()

    def params(self, sampling: SamplingParams, max_tokens: int, turn: int, keys: Mapping[str, Any]) -> Any:
        """vLLM's sampling parameters. They and what is in them belong to one request."""
        from vllm import SamplingParams as VllmParams
        from vllm.sampling_params import RequestOutputKind

        given = DIALECTS["vllm"].parameters(sampling, turn)
        if sampling.logit_bias:
            given["logit_bias"] = dict(sampling.logit_bias)
        return VllmParams(
            **given,
            max_tokens=max_tokens,
            output_kind=RequestOutputKind.DELTA,
            detokenize=False,
            extra_args=dict(keys) or None,
        )

    async def outputs(self, prompt: Any, params: Any) -> AsyncGenerator[Any, None]:
        """The completions of vLLM's outputs as they come; closing the generator aborts the request.

        `prompt` is token ids, or an async generator of the inputs of a session.
        """
        number = next(self._numbers)
        # A copy: vLLM extends the list that it is given.
        asked = self.input(prompt) if isinstance(prompt, Sequence) else prompt
        async with aclosing(self._llm.generate(asked, params, f"evalspan-{number}")) as outputs:
            async for output in outputs:
                yield output.outputs[0]

    @staticmethod
    def input(tokens: Sequence[int]) -> Any:
        """Token ids as vLLM takes them, in a list of their own."""
        from vllm.inputs.engine import tokens_input

        return tokens_input([*tokens])


def chunk_of(completion: Any) -> Chunk:
    """A piece of a completion.

    Raises:
        BackendError: vLLM gave the request up.
    """
    reason = completion.finish_reason
    if reason not in (None, "stop", "length"):
        raise BackendError(f"vLLM ended a request with {reason!r}: its log says why")
    end = {"stop": "eos", "length": "length"}.get(reason or "")
    return Chunk(tokens=tuple(completion.token_ids), end=end)  # type: ignore[arg-type]  # it is one of them


class VllmCompletion:
    """A completion on its way. What is not asked for stays with vLLM, which puts it together."""

    def __init__(self, engine: VllmEngine, chunks: AsyncGenerator[Chunk, None]) -> None:
        self._engine = engine
        self._chunks = chunks
        self._turn = asyncio.Lock()
        self._awaited: Future[Chunk | None] | None = None
        self._closed = False

    def receive(self) -> Future[Chunk | None]:
        """The next chunk, None after the last."""
        self._awaited = self._engine.submit(self._next())
        return self._awaited

    def close(self) -> None:
        """Abort the request."""
        if self._closed:
            return
        self._closed = True
        if self._awaited is not None:
            self._awaited.cancel()
        self._engine.submit(self._end())

    async def _next(self) -> Chunk | None:
        async with self._turn:
            try:
                return await anext(self._chunks, None)
            except BackendError:
                raise
            except Exception as error:
                if self._engine.is_dead:
                    raise BackendError(
                        "vLLM's engine process has ended, and its log says why: open the backend again"
                    ) from error
                reason = " ".join(str(error).split())[:300]
                raise BackendError(f"vLLM failed: {type(error).__name__}: {reason}") from error

    async def _end(self) -> None:
        async with self._turn:
            await self._chunks.aclose()


@contextmanager
def _stdout_as_stderr() -> Iterator[None]:
    """What the engine's processes inherit as standard output: libraries in them print what is no output of ours."""
    sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:  # there is none
        yield
        return
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
