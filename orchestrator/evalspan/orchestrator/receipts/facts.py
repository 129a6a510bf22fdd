"""The parts of a receipt that are rebuilt: made by the same functions when it is written and when it is verified."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from evalspan.evaluators import Evaluators
from evalspan.orchestrator.backend import Tokenizer
from evalspan.orchestrator.errors import RequestError
from evalspan.orchestrator.events import (
    DecodeFailed,
    Event,
    Finished,
    Recorded,
    RequestFailed,
    Step,
    Text,
    TokenKind,
)
from evalspan.orchestrator.grammar import Grammar, Mode
from evalspan.orchestrator.receipts.canonical import ReceiptError, canonical
from evalspan.orchestrator.receipts.grammars import compiled, describe
from evalspan.orchestrator.requests import Prompt
from evalspan.orchestrator.sampling import FILTERS, SamplingParams
from evalspan.policies import Registry

__all__ = [
    "Course",
    "event_facts",
    "identity_facts",
    "output_facts",
    "request_facts",
    "sampling_facts",
    "sampling_params",
    "told",
    "uniform_numbers",
]

_TIMES = ("microseconds", "milliseconds")
_OFF: Mapping[str, float] = {"top_k": 0, "top_p": 1.0, "min_p": 0.0}


@dataclass(frozen=True, slots=True)
class Course:
    """How a generation went, as it was recorded or as it was replayed.

    `reason` is the receipt's: `interrupted` stands for every end that does not follow from the tokens.
    """

    reason: str
    tokens: Sequence[tuple[int, TokenKind]]
    events: Sequence[Event]
    finished: Finished


def identity_facts(
    registry: Registry, evaluators: Evaluators, tokenizer: Tokenizer, grammar_engine: str | None
) -> dict[str, Any]:
    """What a generation runs on; `evaluators` are those of the registry, in the sandbox."""
    described = [evaluators.describe(entry.name) for entry in registry.evaluators]
    return {
        "evalspan": version("evalspan"),
        "tokenizer": tokenizer.digest,
        "grammar_engine": grammar_engine,
        "registry": registry.model_dump(mode="json", by_alias=True),
        "registry_sha256": registry.digest,
        "evaluators": [{"name": info.name, "spec": info.spec, "sha256": info.digest} for info in described],
    }


def request_facts(
    registry: Registry,
    tokenizer: Tokenizer,
    *,
    mode: Mode,
    grammar: Grammar,
    prompt: Prompt,
    prompt_tokens: Sequence[int],
    keep_stop: bool,
    course: Course,
) -> dict[str, Any]:
    """What was asked for, as far as the output depends on it."""
    finished = course.finished
    turns = prompt if isinstance(prompt, str) else [{"role": turn.role, "content": turn.content} for turn in prompt]
    return {
        "mode": mode,
        "prompt": turns,
        "prompt_tokens": list(prompt_tokens),
        "grammar": describe(grammar),
        "compiled": compiled(grammar, registry, mode, len(tokenizer.pieces)),
        "stop": {"string": finished.stop_string, "keep": keep_stop} if course.reason == "stop_string" else None,
        "limit": finished.sampled_tokens + finished.forced_tokens if course.reason == "length" else None,
    }


def output_facts(course: Course) -> dict[str, Any]:
    """What came of it."""
    finished = course.finished
    return {
        "reason": course.reason,
        "text": finished.text,
        "tokens": [[token, kind] for token, kind in course.tokens],
        "sampled_tokens": finished.sampled_tokens,
        "forced_tokens": finished.forced_tokens,
        "events": [event_facts(event) for event in told(course.events)],
    }


def told(events: Iterable[Event]) -> list[Event]:
    """The events that a receipt has, in order: those that are neither text nor about the telling."""
    left_out = (Text, Step, Recorded, DecodeFailed, RequestFailed, Finished)
    return [event for event in events if not isinstance(event, left_out)]


def event_facts(event: Event) -> dict[str, Any]:
    """An event without its times."""
    fields = {name: item for name, item in asdict(event).items() if name not in _TIMES}
    plain: dict[str, Any] = json.loads(canonical({"event": event.event, **fields}))  # no tuples, no codes
    return plain


def sampling_facts(params: SamplingParams) -> dict[str, Any]:
    """The parameters that have an effect; `order` names the filters that are on."""
    facts: dict[str, Any] = {"temperature": float(params.temperature)}
    if params.repetition_penalty != 1:
        facts["repetition_penalty"] = float(params.repetition_penalty)
    if params.logit_bias:
        facts["logit_bias"] = [[token, float(bias)] for token, bias in sorted(dict(params.logit_bias).items())]
    if params.temperature == 0:
        return facts
    on = [name for name in params.order if name == "temperature" or getattr(params, name) != _OFF[name]]
    filters = {name: getattr(params, name) for name in on if name != "temperature"}
    return {
        **facts,
        **{name: item if name == "top_k" else float(item) for name, item in filters.items()},
        "order": on,
        "seed": params.seed,
    }


def sampling_params(facts: Mapping[str, Any]) -> SamplingParams:
    """The parameters of these facts.

    Raises:
        ReceiptError: there are none, or other ones, or they could be said in fewer words.
    """
    try:
        given = {name: item for name, item in facts.items() if name not in ("order", "logit_bias")}
        bias = tuple((token, float(weight)) for token, weight in facts.get("logit_bias", ()))
        order = list(facts.get("order", ()))
        params = SamplingParams(**given, logit_bias=bias, order=(*order, *(f for f in FILTERS if f not in order)))
        same = sampling_facts(params) == dict(facts)
    except (TypeError, ValueError, RequestError) as error:
        raise ReceiptError(f"are no sampling parameters: {error}", "model.sampling") from None
    if not same or any(isinstance(item, bool) for item in facts.values()):
        raise ReceiptError(f"must be written as {sampling_facts(params)}", "model.sampling")
    return params


def uniform_numbers(params: SamplingParams, count: int) -> list[float]:
    """The random numbers of the first draws; none where nothing is drawn."""
    if params.temperature == 0:
        return []
    return [float(number) for number in np.random.Generator(np.random.PCG64(params.seed)).random(count)]
