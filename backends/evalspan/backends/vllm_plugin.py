"""evalspan inside vLLM: a logits processor that runs the span machine in the worker and pins forced tokens.

    vllm serve MODEL --logits-processors evalspan.backends.vllm_plugin:EvaluatorLogitsProcessor

A request opts in with `vllm_xargs` (over HTTP) or `SamplingParams.extra_args`: `{"evalspan": "default"}`. Others are
left alone. One class serves both of vLLM's model runners; docs/vllm.md says what works with what.
"""

# pyright: reportMissingImports=false
# What is imported here is of vLLM's environment, which is not the one that the types are checked in.
from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vllm.v1.sample.logits_processor.interface import BatchUpdate, MoveDirectionality
from vllm.v1.sample.logits_processor.interface import LogitsProcessor as V1LogitsProcessor
from vllm.v1.worker.gpu.sample.logits_processor.interface import LogitsProcessor as V2LogitsProcessor

from evalspan.backends.in_engine.logits import MaskWriter, pin
from evalspan.backends.in_engine.options import Options, OptionsError, read_options
from evalspan.backends.in_engine.registries import SWITCH, check_options, load_registries, switched_off
from evalspan.backends.in_engine.rows import Row
from evalspan.backends.in_engine.worker import Decisions, Terms, Worker
from evalspan.backends.transformers_tokenizer import TransformersTokenizer
from evalspan.orchestrator.errors import BackendError, DecodeError
from evalspan.policies import EvalspanError

if TYPE_CHECKING:
    import torch

__all__ = ["EvaluatorLogitsProcessor", "InstalledLogitsProcessor"]

_NAME = "evalspan.backends.vllm_plugin:EvaluatorLogitsProcessor"

# What a request may not ask for beside evalspan, and why.
_EXCLUDED: Mapping[str, str] = {
    "structured_outputs": "a grammar of vLLM's own knows nothing of forced tokens: give evalspan the grammar instead, "
    "in vllm_xargs as evalspan_schema (a JSON Schema as a string), evalspan_regex, evalspan_gbnf, evalspan_grammar "
    "(Lark) or evalspan_structural_tag",
    "ignore_eos": "evalspan ends a generation with the end token: leave it out, and set min_tokens if it must go on",
    "thinking_token_budget": "it forces tokens of its own: leave it out",
    "trace_decode_token_ids": "it forces tokens of its own: leave it out",
}


class EvaluatorLogitsProcessor(V1LogitsProcessor, V2LogitsProcessor):
    """Spans with exact values for the requests that opt in. vLLM makes one in each worker process."""

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Check a request before it is taken. Runs in the server's process, which has no model.

        Raises:
            ValueError: it opts in and cannot be honoured; vLLM answers with status 400 and this text.
        """
        options = read_options(sampling_params.extra_args)
        if options is None:
            return
        if switched_off():
            raise OptionsError(f"this server was started with {SWITCH}=off and does not run evalspan")
        for name, reason in _EXCLUDED.items():
            if getattr(sampling_params, name, None):
                raise OptionsError(f"{name} and evalspan exclude each other: {reason}")
        try:
            check_options(options)
        except ValueError:
            raise
        except EvalspanError as error:
            raise OptionsError(str(error)) from None

    def __init__(self, vllm_config: Any, second: Any, is_pin_memory: bool | None = None) -> None:
        """`second` is the device for the first model runner, and the requests' state for the second one, which gives
        no `is_pin_memory`.

        Raises:
            BackendError: the engine is set up so that this cannot work; the text says what to set.
            RegistryError: the registries cannot be used.
        """
        self._worker: Worker | None = None
        self._states = second if is_pin_memory is None else None
        self._config = vllm_config
        self._updated = 0
        self._updating = 0
        self._writer = MaskWriter()
        self._idle = True
        if not self._wanted():
            return
        self._refuse()
        self._worker = self._open()
        if self._eager():
            self._worker.warm_up()

    def _wanted(self) -> bool:
        return not switched_off()

    def _eager(self) -> bool:
        """Whether to load everything now; a server that was told to use evalspan should not stop for it later."""
        return True

    def _refuse(self) -> None:
        config = self._config
        if config.speculative_config is not None:
            raise BackendError(
                "evalspan does not run beside speculative decoding, whose drafts no processor sees: leave out "
                "--speculative-config"
            )
        if config.model_config.skip_tokenizer_init:
            raise BackendError("evalspan needs the model's tokenizer: leave out --skip-tokenizer-init")
        if self._states is None and config.scheduler_config.async_scheduling and not self._named():
            raise BackendError(
                "under asynchronous scheduling vLLM tells a processor which tokens were sampled only if it is named: "
                f"add --logits-processors {_NAME}, or --no-async-scheduling, or set {SWITCH}=off where this server is "
                "not to run evalspan"
            )

    def _named(self) -> bool:
        """Whether any processor was named when the engine was started; then all are told the tokens."""
        return bool(self._config.model_config.logits_processors)

    def _open(self) -> Worker:
        from vllm.tokenizers import cached_tokenizer_from_config

        model = self._config.model_config
        ends = model.try_get_generation_config().get("eos_token_id")
        declared = ends if isinstance(ends, list) else [] if ends is None else [ends]
        try:
            tokenizer = TransformersTokenizer(cached_tokenizer_from_config(model), ends=declared)
        except BackendError as error:
            raise BackendError(f"{error} (or set {SWITCH}=off where this server is not to run evalspan)") from None
        return Worker(
            load_registries(),
            tokenizer,
            context_tokens=model.max_model_len,
            rows=self._config.scheduler_config.max_num_seqs,
            rank=_rank(),
        )

    def is_argmax_invariant(self) -> bool:
        """Masks and pins change what greedy sampling takes."""
        return False

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        """Follow the batch of the first model runner. The tokens are not read here: they may not be known yet."""
        worker = self._worker
        if worker is None:
            return
        self._updated = time.perf_counter_ns()
        self._updating = 0
        if batch_update is None:
            return
        rows = worker.rows
        left = [rows.remove(place) for place in batch_update.removed]
        for place, params, prompt, output in batch_update.added:
            left.append(rows.remove(place))  # a place used again in one step is not among the removed
            self._add(worker, place, params, output, prompt_tokens=len(prompt or ()))
        for first, second, direction in batch_update.moved:
            if direction is MoveDirectionality.SWAP:
                rows.swap(first, second)
            else:
                left.append(rows.move(first, second))
        worker.left(left)
        self._updating = time.perf_counter_ns() - self._updated
        if not rows and not self._idle:
            self._idle = True
            worker.dump(idle=True)

    def add_request(self, req_idx: int, sampling_params: Any) -> bool:
        """A request enters a place of the second model runner, which does not say when it leaves.

        Answers whether its logits are changed here.
        """
        worker, states = self._worker, self._states
        if worker is None or states is None:
            return False
        worker.left([worker.rows.remove(req_idx)])
        return self._add(worker, req_idx, sampling_params, (), prompt_tokens=int(states.prompt_len.np[req_idx]))

    def apply_staged_writes(self) -> None:
        """The second model runner begins a step."""
        self._updated = time.perf_counter_ns()

    def _add(self, worker: Worker, place: int, params: Any, output: Sequence[int], *, prompt_tokens: int) -> bool:
        if not params.extra_args:
            return False
        try:
            options = read_options(params.extra_args)
            if options is None:
                return False
        except OptionsError as error:
            options = Options(refused=str(error))  # a request that nobody checked ends, it is not left alone
        worker.add(
            place,
            params,
            output,
            options,
            Terms(
                end=_end(params, worker.ends),
                narrow=bool(params.min_tokens or params.allowed_token_ids or params.bad_words or params.logit_bias),
                max_tokens=params.max_tokens,
                prompt_tokens=prompt_tokens,
            ),
        )
        self._idle = False
        return True

    def apply(self, logits: torch.Tensor, ctx: Any = None) -> torch.Tensor:
        """Mask and pin the rows that opted in; the others are not touched."""
        worker = self._worker
        if worker is None or not worker.rows:
            return logits
        start = time.perf_counter_ns()
        outputs, places = self._outputs(ctx)
        if not outputs:
            return logits
        self._write(logits, worker.decide(outputs), places)
        counters = worker.counters
        counters.update_ns += self._updating
        counters.step_ns += time.perf_counter_ns() - (self._updated or start)
        worker.dump(idle=False)
        return logits

    def _outputs(self, ctx: Any) -> tuple[dict[int, Sequence[int]], Mapping[int, int] | None]:
        """The tokens of each row that opted in, by place, and the row of the logits of each place (None: the same)."""
        worker = self._worker
        if worker is None:
            return {}, None
        if ctx is None:
            return {place: row.output for place, row in worker.rows.items()}, None
        places = {int(slot): row for row, slot in enumerate(ctx.idx_mapping_np) if worker.rows.get(int(slot))}
        return self._committed([*places]), places

    def _committed(self, slots: list[int]) -> dict[int, Sequence[int]]:
        """The output tokens in the second model runner's state, as far as they were not read before."""
        import torch

        worker, states = self._worker, self._states
        if worker is None or states is None or not slots:
            return {}
        index = torch.tensor(slots, dtype=torch.int64, device=states.device)
        totals = states.total_len.gpu[index].tolist()
        prompts = [int(states.prompt_len.np[slot]) for slot in slots]
        known = [len(row.tokens) if (row := worker.rows.get(slot)) is not None else 0 for slot in slots]
        # From the last token that was read on: it shows whether what was read still stands.
        firsts = [
            prompt + max(0, min(read, total - prompt) - 1)
            for prompt, read, total in zip(prompts, known, totals, strict=True)
        ]
        width = max(total - first for total, first in zip(totals, firsts, strict=True))
        if width <= 0:
            return dict.fromkeys(slots, ())
        columns = torch.tensor(firsts, dtype=torch.int64, device=states.device)[:, None] + torch.arange(
            width, device=states.device
        )
        columns.clamp_(max=states.all_token_ids.gpu.shape[1] - 1)
        window = states.all_token_ids.gpu[index[:, None], columns].tolist()
        outputs: dict[int, Sequence[int]] = {}
        for slot, prompt, first, total, tokens in zip(slots, prompts, firsts, totals, window, strict=True):
            row = worker.rows.get(slot)
            before = list(row.tokens[: first - prompt]) if row is not None else []
            outputs[slot] = [*before, *tokens[: total - first]]
        return outputs

    def _write(self, logits: torch.Tensor, decisions: Decisions, places: Mapping[int, int] | None) -> None:
        """Mask, then pin."""
        counters = decisions.counters
        start = time.perf_counter_ns()
        masks = [(place if places is None else places[place], mask) for place, mask, _ in decisions.masks]
        self._writer.write(logits, masks)
        for (place, mask, entry), (row, _) in zip(decisions.masks, masks, strict=True):
            if entry.request.narrow and not bool((logits[row] > -math.inf).any()):
                self._nothing_left(decisions, place, entry, ended=bool(mask[entry.request.end]))
        masked = time.perf_counter_ns()
        pin(logits, [(place if places is None else places[place], token) for place, token in decisions.pins])
        counters.mask_ns += masked - start
        counters.pin_ns += time.perf_counter_ns() - masked

    def _nothing_left(self, decisions: Decisions, place: int, row: Row, *, ended: bool) -> None:
        """The request forbids by itself what the grammar allows; where that is the end, it may end all the same."""
        if not ended:
            row.fail(DecodeError("what the request forbids by itself and the grammar leave no token"))
            if self._worker is not None:
                self._worker.failed(place, row)
        decisions.pins.append((place, row.request.end))


class InstalledLogitsProcessor(EvaluatorLogitsProcessor):
    """The same, as vLLM finds it by its entry point, in every server of the environment.

    It loads nothing before the first request that opts in, and leaves the work to the other where that one is named.
    """

    def _wanted(self) -> bool:
        return super()._wanted() and not any(_is_ours(named) for named in self._names())

    def _eager(self) -> bool:
        return False

    def _names(self) -> Sequence[Any]:
        return self._config.model_config.logits_processors or ()


def _is_ours(named: Any) -> bool:
    return named == _NAME or (isinstance(named, type) and issubclass(named, EvaluatorLogitsProcessor))


def _end(params: Any, ends: frozenset[int]) -> int:
    """The token at which vLLM ends this request."""
    for token in (params.eos_token_id, *sorted(params.stop_token_ids or ())):
        if token in ends:
            return int(token)
    return min(ends)


def _rank() -> int:
    """The place of this process among those that do the same work."""
    from vllm.distributed.parallel_state import get_tensor_model_parallel_rank, model_parallel_is_initialized

    return get_tensor_model_parallel_rank() if model_parallel_is_initialized() else 0
