"""The ledger of a generation: its `Step` events must be what the logits, the mask and the settings say."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from evalspan.backends.scripted import ScriptedBackend
from evalspan.conformance.probability.finding import Finding
from evalspan.conformance.probability.settings import FORBIDDEN, SCORES, SETTINGS
from evalspan.conformance.probability.theory import expected, softmax
from evalspan.orchestrator import Backend, Driver, Regex, SamplingParams, Step
from evalspan.orchestrator.backend import Feed, StepEngine

__all__ = ["GENERATIONS", "check_ledger", "check_steps"]

_TOLERANCE = 1e-9  # of a probability: the logits are the same float32 numbers on both sides, the rest is double

_LETTERS = "abcdefghijkl"
"""One for each of the scores; the grammar allows those that are not among the forbidden."""

GENERATIONS = 500
"""For each setting: the rarest candidate, with 1.1%, is missing from all with a chance of 0.3%; the seeds
are fixed, and with these it is not."""


def check_steps(steps: Iterable[Step], params: SamplingParams) -> Finding:
    """What holds for any ledger, whatever the logits were: shares of the allowed rest, and no more than all of it.

    Good for a backend whose logits nobody knows. Where nothing filters, what is drawn from is the renormalized
    distribution.
    """
    faults: list[str] = []
    compared = 0
    plain = params.temperature == 1 and not params.top_k and params.top_p == 1 and not params.min_p
    plain = plain and params.repetition_penalty == 1 and not params.logit_bias
    for step in steps:
        compared += 1
        rest = 1 - step.masked_mass
        where = f"token {step.token}"
        if not all(0 <= share <= 1 + _TOLERANCE for share in (step.probability, step.masked_mass, step.renormalized)):
            faults.append(f"{where}: a share is not from 0 to 1: {step}")
        elif abs(step.renormalized * rest - step.probability) > _TOLERANCE:
            faults.append(f"{where}: {step.renormalized} of the allowed {rest} is not the {step.probability} it had")
        if not 0 < step.drawn <= 1 + _TOLERANCE:
            faults.append(f"{where}: was drawn with the probability {step.drawn}")
        elif plain and abs(step.drawn - step.renormalized) > _TOLERANCE:
            faults.append(
                f"{where}: was drawn with {step.drawn}, but its share of what is allowed is {step.renormalized}"
            )
    return Finding("steps", "each step's shares fit together", compared, tuple(faults[:5]))


def check_ledger(open_driver: Callable[[Backend], Driver] = Driver, generations: int = GENERATIONS) -> Finding:
    """Generate with known logits under a mask and compare every step of the ledger with theory.

    A renormalization that is left out shows in `drawn`; a filter that comes before the mask shows there too, and in
    candidates that are missing. `open_driver` makes the driver that is tested; there are so many `generations` for each
    setting, each of one token.
    """
    faults: list[str] = []
    compared = 0
    scores = dict(zip(_LETTERS, SCORES, strict=True))
    writable = "".join(letter for index, letter in enumerate(_LETTERS) if index not in FORBIDDEN)
    for params in SETTINGS:
        backend = ScriptedBackend.replay([scores])
        logits = _logits(backend)
        allowed = {ord(letter) for letter in writable}
        wanted = expected(logits, allowed, params)
        seen: dict[int, float] = {}
        with open_driver(backend) as driver:
            for seed in range(generations):
                events = driver.stream(
                    "go",
                    grammar=Regex(f"[{writable}]"),
                    max_tokens=1,
                    sampling=replace(params, seed=seed),
                    ledger=True,
                )
                for step in (event for event in events if isinstance(event, Step)):
                    compared += 1
                    seen[step.token] = step.drawn
                    faults += _faults(step, logits, allowed, wanted)
        total = math.fsum(seen.values())
        if abs(total - 1) > _TOLERANCE:
            faults.append(f"the candidates' probabilities add up to {total!r} with {params}")
        if missing := sorted(set(wanted) - set(seen)):
            faults.append(f"token {missing[0]}, one of {len(wanted)} candidates, was never drawn with {params}")
    statement = "every step of the ledger is what the logits, the mask and the settings say"
    return Finding("ledger", statement, compared, tuple(dict.fromkeys(faults))[:5])


def _logits(backend: ScriptedBackend) -> dict[int, float]:
    """The logits of the script's only step, from the engine itself."""
    engine = backend.engine
    if not isinstance(engine, StepEngine):
        raise TypeError("a script of logits runs on a step engine")
    sequence = engine.open()
    (logits,) = engine.decode([Feed(sequence, [ord("!")])])
    engine.close(sequence)
    if logits is None:
        raise TypeError("the engine gave no logits")
    return {token: float(logit) for token, logit in enumerate(logits)}


def _faults(step: Step, logits: Mapping[int, float], allowed: set[int], wanted: Mapping[int, float]) -> list[str]:
    model = softmax(logits)
    mass = math.fsum(share for token, share in model.items() if token in allowed)
    theory = {
        "logit": logits[step.token],
        "probability": model[step.token],
        "masked_mass": 1 - mass,
        "renormalized": model[step.token] / mass,
        "drawn": wanted.get(step.token, 0.0),
    }
    return [
        f"token {step.token}: {name} is {getattr(step, name):.9f}, theory {value:.9f}"
        for name, value in theory.items()
        if not abs(getattr(step, name) - value) <= _TOLERANCE
    ]
