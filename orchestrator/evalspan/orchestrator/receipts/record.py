"""Making the receipt of a generation that was recorded."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from evalspan.orchestrator.backend import StepEngine
from evalspan.orchestrator.checking import checked
from evalspan.orchestrator.events import Event, Finished, Recorded, Step
from evalspan.orchestrator.receipts.canonical import ReceiptError
from evalspan.orchestrator.receipts.facts import (
    Course,
    identity_facts,
    output_facts,
    request_facts,
    sampling_facts,
    told,
    uniform_numbers,
)
from evalspan.orchestrator.receipts.model import FORMAT, Receipt, digest_of
from evalspan.orchestrator.requests import Request
from evalspan.orchestrator.sampling import SamplingParams

if TYPE_CHECKING:
    from evalspan.orchestrator.driver import Driver

__all__ = ["receipt_of"]


def receipt_of(driver: Driver, request: Request, events: Iterable[Event]) -> Receipt:
    """The receipt of a generation: of the driver and the request that it was run with, and all its events.

    Raises:
        ReceiptError: it was not recorded (`Request.receipt`), or did not come to an end of its own.
        RequestError: the grammar is of a class that a receipt cannot describe.
    """
    seen = list(events)
    finished, recorded = seen[-1] if seen else None, next((e for e in seen if isinstance(e, Recorded)), None)
    if not isinstance(finished, Finished):
        raise ReceiptError("the generation is not over: there is no receipt of a part")
    if recorded is None:
        raise ReceiptError("the generation was not recorded: its request needs receipt=True, and some token")
    if finished.reason in ("decode_error", "refused"):
        raise ReceiptError(f"the generation ended with {finished.reason}: there is nothing to rebuild")
    tokenizer = driver.backend.tokenizer
    mode, grammar = checked(request, driver.backend.engine, driver.backend.name)
    last = recorded.tokens[-1][0] if recorded.tokens else None
    reason: str = finished.reason
    cause = ""
    if reason in ("cancelled", "time_limit") or (reason == "eos" and last not in tokenizer.eos_ids):
        reason, cause = "interrupted", reason
    course = Course(reason, recorded.tokens, seen, finished)
    facts = told(seen)
    value: dict[str, Any] = {
        "format": FORMAT,
        "identity": identity_facts(
            driver.registry,
            driver.evaluators,
            tokenizer,
            driver.grammar_engine if mode != "no-grammar" else None,
        ),
        "request": request_facts(
            driver.registry,
            tokenizer,
            mode=mode,
            grammar=grammar,
            prompt=request.prompt,
            prompt_tokens=recorded.prompt,
            keep_stop=request.keep_stop,
            course=course,
        ),
        "output": output_facts(course),
        "model": _claims(request.sampling or SamplingParams(), seen, isinstance(driver.backend.engine, StepEngine)),
        "unverified": {
            "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "backend": driver.backend.name,
            "model": PurePath(driver.backend.model).name,
            "cause": cause,
            "max_tokens": request.max_tokens,
            "stop": list(request.stop),
            "time_limit": request.time_limit,
            "timings": [timing for index, event in enumerate(facts) if (timing := _timing(index, event))],
        },
    }
    return Receipt.of({**value, "digest": digest_of(value)})


def _claims(params: SamplingParams, events: list[Event], has_logits: bool) -> dict[str, Any]:
    steps = [event for event in events if isinstance(event, Step)]
    return {
        "engine": "logits" if has_logits else "tokens",
        "sampling": sampling_facts(params),
        "uniform": uniform_numbers(params, len(steps)),
        "ledger": [
            {
                "token": step.token,
                "logit": step.logit,
                "probability": step.probability,
                "masked_mass": step.masked_mass,
                "renormalized": step.renormalized,
                "drawn": step.drawn,
            }
            for step in steps
        ],
    }


def _timing(index: int, event: Event) -> dict[str, Any] | None:
    times = {name: getattr(event, name) for name in ("microseconds", "milliseconds") if hasattr(event, name)}
    return {"event": index, **times} if times else None
