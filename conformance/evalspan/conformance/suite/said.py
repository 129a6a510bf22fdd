"""What a generation said: its events, and how they are compared with others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from evalspan.conformance.suite.outcome import Fault
from evalspan.orchestrator import Evaluated, Event, Failed, Finished, Injected, Text
from evalspan.orchestrator.events import AssertionFailed

__all__ = ["Said", "essence", "kinds"]


@dataclass(frozen=True)
class Said:
    """One generation, to its end."""

    events: tuple[Event, ...]
    fed: tuple[int, ...] | None = None
    """The tokens that the engine was fed after the prompt, where that is seen."""

    @property
    def finished(self) -> Finished:
        """The last event.

        Raises:
            Fault: there is none.
        """
        last = self.events[-1] if self.events else None
        if not isinstance(last, Finished):
            raise Fault(f"the last event is {last!r}, not how the generation finished")
        return last

    @property
    def text(self) -> str:
        """The whole text."""
        return self.finished.text

    @property
    def streamed(self) -> str:
        """The text as a reader of the stream has it."""
        return "".join(event.text for event in self.events if isinstance(event, Text | Injected))

    @property
    def injected(self) -> tuple[Injected, ...]:
        """The blocks that were forced."""
        return tuple(event for event in self.events if isinstance(event, Injected))

    @property
    def evaluated(self) -> tuple[Evaluated | Failed, ...]:
        """The evaluations."""
        return tuple(event for event in self.events if isinstance(event, Evaluated | Failed))

    @property
    def kinds(self) -> list[str]:
        """The kinds of the events, text left out."""
        return kinds(self.events)


def kinds(events: tuple[Event, ...]) -> list[str]:
    """The kinds of events, text left out."""
    return [event.event for event in events if not isinstance(event, Text)]


def essence(events: tuple[Event, ...]) -> list[Any]:
    """What must be the same however a text was cut into tokens: no times, no counts of tokens, text put together."""
    found: list[Any] = []
    for event in events:
        if isinstance(event, Text):
            if found and isinstance(found[-1], Text):
                found[-1] = Text(found[-1].text + event.text)
            else:
                found.append(event)
        elif isinstance(event, Evaluated | Failed | AssertionFailed):
            found.append(replace(event, microseconds=0.0))
        elif isinstance(event, Injected):
            found.append(replace(event, milliseconds=0.0))
        elif isinstance(event, Finished):
            found.append(replace(event, sampled_tokens=0, prompt_tokens=0))
        else:
            found.append(event)
    return found
