"""What a driver has done since it was opened, as numbers, and as text for Prometheus."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from evalspan.orchestrator.events import Evaluated, Event, Failed, Finished, Injected, Unverified

__all__ = ["Counters"]


@dataclass(slots=True)
class Counters:
    """Totals. `masked_mass` and `masked_steps` are of generations with a ledger only."""

    generations: Counter[str] = field(default_factory=Counter)
    """Finished generations by reason."""
    evaluations: Counter[str] = field(default_factory=Counter)
    """Evaluations by evaluator, those that failed included."""
    errors: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Failed evaluations by evaluator and code."""
    injections: Counter[str] = field(default_factory=Counter)
    """Injected blocks by kind."""
    prompt_tokens: int = 0
    sampled_tokens: int = 0
    forced_tokens: int = 0
    unverified: int = 0
    """Tags of the engine's own that a model wrote where nothing was masked."""
    evaluation_seconds: float = 0.0

    def observe(self, event: Event) -> None:
        """Count an event."""
        if isinstance(event, Evaluated | Failed):
            self.evaluations[event.evaluator] += 1
            self.evaluation_seconds += event.microseconds / 1e6
            if isinstance(event, Failed):
                self.errors[event.evaluator, str(event.code)] += 1
        elif isinstance(event, Injected):
            self.injections[event.kind] += 1
        elif isinstance(event, Unverified):
            self.unverified += 1
        elif isinstance(event, Finished):
            self.generations[event.reason] += 1
            self.prompt_tokens += event.prompt_tokens
            self.sampled_tokens += event.sampled_tokens
            self.forced_tokens += event.forced_tokens

    def prometheus(self) -> str:
        """The totals in the text format of Prometheus, version 0.0.4."""
        lines: list[str] = []

        def metric(name: str, text: str, samples: list[tuple[str, float]]) -> None:
            lines.append(f"# HELP evalspan_{name} {text}")
            lines.append(f"# TYPE evalspan_{name} counter")
            lines.extend(f"evalspan_{name}{labels} {value:g}" for labels, value in samples)

        metric("generations_total", "Finished generations.", _labelled("reason", self.generations))
        metric("evaluations_total", "Evaluations.", _labelled("evaluator", self.evaluations))
        errors = [
            (f'{{evaluator="{name}",code="{code}"}}', float(count))
            for (name, code), count in sorted(self.errors.items())
        ]
        metric("evaluation_errors_total", "Failed evaluations.", errors)
        metric("injections_total", "Injected blocks.", _labelled("kind", self.injections))
        tokens = {"prompt": self.prompt_tokens, "sampled": self.sampled_tokens, "forced": self.forced_tokens}
        metric("tokens_total", "Tokens.", _labelled("kind", tokens))
        metric("unverified_total", "Tags of the engine that a model wrote.", [("", float(self.unverified))])
        metric("evaluation_seconds_total", "Time in evaluators.", [("", self.evaluation_seconds)])
        return "\n".join(lines) + "\n"


def _labelled(label: str, counts: dict[str, int] | Counter[str]) -> list[tuple[str, float]]:
    # Names and reasons are identifiers: nothing in them needs an escape.
    return [(f'{{{label}="{key}"}}', float(value)) for key, value in sorted(counts.items())]
