"""What a driver has done since it was opened, as numbers, and as text for Prometheus."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from evalspan.orchestrator.events import (
    AssertionFailed,
    DecodeFailed,
    Evaluated,
    Event,
    Failed,
    Finished,
    Injected,
    Refused,
    RequestFailed,
    Step,
    Unverified,
)

__all__ = ["Counters"]


@dataclass(slots=True)
class Counters:
    """Totals, of all generations that the driver has run: alone, in batches, as samples or as beams."""

    generations: Counter[str] = field(default_factory=Counter)
    """Finished generations by reason."""
    evaluations: Counter[str] = field(default_factory=Counter)
    """Evaluations by evaluator, those that failed and those of assertions that do not hold included."""
    errors: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Failed evaluations by evaluator and code."""
    assertions: Counter[str] = field(default_factory=Counter)
    """Assertions that do not hold, by evaluator."""
    injections: Counter[str] = field(default_factory=Counter)
    """Injected blocks by kind."""
    decode_errors: Counter[str] = field(default_factory=Counter)
    """Generations that could not go on, by code; `empty_mask` is one of them."""
    refused_requests: Counter[str] = field(default_factory=Counter)
    """Requests that a batch has reported as not to be honoured, by code."""
    prompt_tokens: int = 0
    sampled_tokens: int = 0
    forced_tokens: int = 0
    unverified: int = 0
    """Tags of the engine's own that a model wrote where nothing was masked."""
    refusals: int = 0
    """Refusals that a JSON schema names."""
    masked_mass: float = 0.0
    """The probability that masks took away, added up over `masked_steps`."""
    masked_steps: int = 0
    """Sampled tokens of generations with a ledger."""
    evaluation_seconds: float = 0.0

    def observe(self, event: Event) -> None:
        """Count an event."""
        match event:
            case Evaluated() | Failed() | AssertionFailed():
                self.evaluations[event.evaluator] += 1
                self.evaluation_seconds += event.microseconds / 1e6
                if isinstance(event, Failed):
                    self.errors[event.evaluator, str(event.code)] += 1
                elif isinstance(event, AssertionFailed):
                    self.assertions[event.evaluator] += 1
            case Injected():
                self.injections[event.kind] += 1
            case Unverified():
                self.unverified += 1
            case Refused():
                self.refusals += 1
            case Step():
                self.masked_mass += event.masked_mass
                self.masked_steps += 1
            case DecodeFailed():
                self.decode_errors[event.code] += 1
            case RequestFailed():
                self.refused_requests[event.code] += 1
            case Finished():
                self.generations[event.reason] += 1
                self.prompt_tokens += event.prompt_tokens
                self.sampled_tokens += event.sampled_tokens
                self.forced_tokens += event.forced_tokens
            case _:
                pass

    def prometheus(self) -> str:
        """The totals in the text format of Prometheus, version 0.0.4."""
        lines: list[str] = []

        def metric(name: str, text: str, samples: list[tuple[str, int | float]]) -> None:
            lines.append(f"# HELP evalspan_{name} {text}")
            lines.append(f"# TYPE evalspan_{name} counter")
            lines.extend(f"evalspan_{name}{labels} {value!r}" for labels, value in samples)

        metric("generations_total", "Finished generations.", _labelled("reason", self.generations))
        metric("evaluations_total", "Evaluations.", _labelled("evaluator", self.evaluations))
        errors: list[tuple[str, int | float]] = [
            (f'{{evaluator="{name}",code="{code}"}}', count) for (name, code), count in sorted(self.errors.items())
        ]
        metric("evaluation_errors_total", "Failed evaluations.", errors)
        metric("assertions_failed_total", "Assertions that do not hold.", _labelled("evaluator", self.assertions))
        metric("injections_total", "Injected blocks.", _labelled("kind", self.injections))
        tokens = {"prompt": self.prompt_tokens, "sampled": self.sampled_tokens, "forced": self.forced_tokens}
        metric("tokens_total", "Tokens.", _labelled("kind", tokens))
        metric("unverified_total", "Tags of the engine that a model wrote.", [("", self.unverified)])
        metric("refusals_total", "Refusals that a JSON schema names.", [("", self.refusals)])
        metric("decode_errors_total", "Generations that could not go on.", _labelled("code", self.decode_errors))
        metric("refused_requests_total", "Requests not honoured.", _labelled("code", self.refused_requests))
        metric("masked_mass_total", "Probability that masks took away, where a ledger is on.", [("", self.masked_mass)])
        metric("masked_steps_total", "Sampled tokens with a ledger.", [("", self.masked_steps)])
        metric("evaluation_seconds_total", "Time in evaluators.", [("", self.evaluation_seconds)])
        return "\n".join(lines) + "\n"


def _labelled(label: str, counts: dict[str, int] | Counter[str]) -> list[tuple[str, int | float]]:
    # Names and reasons are identifiers: nothing in them needs an escape.
    return [(f'{{{label}="{key}"}}', value) for key, value in sorted(counts.items())]
