"""What servers understand: their names for sampling parameters, the order of their samplers, and what they can tell.

A parameter that a server would ignore, or take in another sense, is refused: a generation is what was asked for. What
is not asked for is sent too, since servers have defaults of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evalspan.orchestrator.errors import RequestError
from evalspan.orchestrator.sampling import Filter, SamplingParams

__all__ = ["DIALECTS", "Dialect"]

_SEEDS = 2**31  # servers keep a seed in 32 or 64 bits, with and without a sign: all take these
_BIAS = 100  # OpenAI's bound on a bias; vLLM clips to it and says nothing
_COLDEST = 0.01  # vLLM takes a lower temperature for this one, or for 0


@dataclass(frozen=True, slots=True)
class Dialect:
    """A kind of server."""

    name: str
    order: tuple[Filter, ...] | None
    """In which its samplers run; None takes any."""
    filters: frozenset[str] = frozenset({"temperature", "top_p"})
    top_k_off: int = 0
    penalty: str | None = None
    """Its name for a repetition penalty over the prompt and the whole output."""
    tells_tokens: bool = False
    """Takes token ids for a prompt, and shows those of its output (`return_token_ids`)."""
    keeps_stops: str | None = None
    """The parameter that leaves a stop string in the output."""
    stop_field: str | None = None
    """Where it says which stop string it was."""
    connections: int | None = None
    """The most that it works on at once, where that is known."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Sent always: what would otherwise be the server's default."""
    biases: Callable[[SamplingParams], Any] = lambda params: {str(token): bias for token, bias in params.logit_bias}

    def check(self, params: SamplingParams) -> None:
        """Whether the server samples as asked.

        Raises:
            RequestError: it would not; the text says what to change.
        """
        active = _active(params)
        if missing := sorted(active - self.filters):
            raise RequestError(f"{self.name} does not take {missing[0]}: leave it off")
        if params.repetition_penalty != 1 and self.penalty is None:
            raise RequestError(
                f"{self.name} has no repetition_penalty over the prompt and the whole output: leave it at 1"
            )
        if any(abs(bias) > _BIAS for _, bias in params.logit_bias):
            raise RequestError(f"a logit_bias over HTTP is from -{_BIAS} to {_BIAS}")
        if self.tells_tokens and 0 < params.temperature < _COLDEST:
            raise RequestError(f"{self.name} takes a temperature of 0 or from {_COLDEST} up, got {params.temperature}")
        if self.order is not None and not _same(params.order, self.order, active):
            order = ", ".join(name for name in self.order if name in active)
            raise RequestError(
                f"{self.name} filters in the order {order}, which gives other tokens than the order asked for: leave "
                "one of them off, or ask for that order (SamplingParams.order)"
            )

    def parameters(self, params: SamplingParams, turn: int) -> dict[str, Any]:
        """The sampling parameters of a request, all of them."""
        body: dict[str, Any] = {
            "temperature": params.temperature,
            "top_p": params.top_p,
            "presence_penalty": 0.0,
            "frequency_penalty": 0.0,
            # Another seed for each turn: with the same one a resumed turn would repeat the draws of the one before.
            "seed": (params.seed + turn) % _SEEDS,
            **self.fixed,
        }
        if "top_k" in self.filters:
            body["top_k"] = params.top_k or self.top_k_off
        if "min_p" in self.filters:
            body["min_p"] = params.min_p
        if self.penalty is not None:
            body[self.penalty] = params.repetition_penalty
        if params.logit_bias:
            body["logit_bias"] = self.biases(params)
        if self.order is None:
            body["samplers"] = ["penalties", *params.order]
        return body


def _active(params: SamplingParams) -> set[str]:
    """The filters that do something."""
    if params.temperature == 0:
        return set()  # greedy: whatever they leave, the largest stays
    active: set[str] = {"temperature"} if params.temperature != 1 else set()
    if params.top_k > 0:
        active.add("top_k")
    if params.top_p < 1:
        active.add("top_p")
    if params.min_p > 0:
        active.add("min_p")
    return active


_COMMUTE = ({"temperature", "top_k"}, {"top_k", "min_p"})
"""Pairs whose order does not matter: temperature keeps the ranking, which is all that top-k looks at, and top-k keeps
the largest, which is all that min-p looks at. Top-p looks at the mass of what is left, so its place matters."""


def _same(asked: tuple[Filter, ...], offered: tuple[Filter, ...], active: set[str]) -> bool:
    """Whether two orders of the active filters give the same distribution."""
    names = [name for name in asked if name in active]
    return all(
        {first, second} in _COMMUTE or offered.index(first) < offered.index(second)
        for index, first in enumerate(names)
        for second in names[index + 1 :]
    )


_ALL: frozenset[str] = frozenset({"temperature", "top_k", "top_p", "min_p"})

DIALECTS: Mapping[str, Dialect] = {
    "vllm": Dialect(
        "vLLM",
        order=("temperature", "min_p", "top_k", "top_p"),
        filters=_ALL,
        penalty="repetition_penalty",
        tells_tokens=True,
        keeps_stops="include_stop_str_in_output",
        stop_field="stop_reason",
    ),
    "sglang": Dialect(
        "SGLang",
        order=("temperature", "top_k", "top_p", "min_p"),
        filters=_ALL,
        top_k_off=-1,
        penalty="repetition_penalty",
        tells_tokens=True,
        keeps_stops="no_stop_trim",
        stop_field="matched_stop",
    ),
    "llama_server": Dialect(
        "llama-server",
        order=None,
        filters=_ALL,
        penalty="repeat_penalty",
        # The whole context is looked at for the penalty, and samplers that nobody asked for are off.
        fixed={"repeat_last_n": -1, "dynatemp_range": 0.0, "mirostat": 0},
        biases=lambda params: [[token, bias] for token, bias in params.logit_bias],
    ),
    "llama_cpp": Dialect(
        "llama_cpp.server",
        order=("top_k", "top_p", "min_p", "temperature"),
        filters=_ALL,
        # Its penalty looks at the last 64 tokens only.
        connections=1,  # a second request interrupts the first
        fixed={"repeat_penalty": 1.0, "mirostat_mode": 0, "logit_bias_type": "input_ids"},
    ),
    "other": Dialect("this server", order=("temperature", "top_k", "top_p", "min_p")),
}
"""By the name that detection gives. vLLM 0.32 and llama_cpp.server were run against; SGLang and llama-server were
read."""
