"""A grammar with one sentence: whatever the model, this is the output, and these are the tokens that are forced."""

from __future__ import annotations

from collections.abc import Iterable

from evalspan.orchestrator import Event, Injected, StructuralTag

__all__ = ["FORCED", "GRAMMAR", "TEXT", "forced"]


def _span(expression: str) -> dict[str, object]:
    return {
        "type": "evaluated_tag",
        "begin": "<calc>",
        "content": {"type": "const_string", "value": expression},
        "end": "</calc>",
        "evaluator": "arithmetic",
    }


def _ids(text: str) -> tuple[int, ...]:
    return tuple(int(token) for token in text.split())


GRAMMAR = StructuralTag.from_json(
    {
        "type": "structural_tag",
        "format": {
            "type": "sequence",
            "elements": [
                {"type": "const_string", "value": "It is "},
                _span("17 * 23 + 91"),
                {"type": "const_string", "value": ", and not "},
                _span("1 / 0"),
                {"type": "const_string", "value": "."},
            ],
        },
    }
)

TEXT = (
    "It is <calc>17 * 23 + 91</calc><result>482</result>, and not "
    "<calc>1 / 0</calc><result_error>division_by_zero: the divisor is 0: /</result_error>."
)

FORCED = (
    ("<result>482</result>", _ids("44 4917 46 36 40 34 9617 4917 46")),
    (
        "<result_error>division_by_zero: the divisor is 0: /</result_error>",
        _ids("44 4917 79 2742 46 29645 79 1717 79 13723 42 260 3044 40031 314 216 32 42 2272 9617 4917 79 2742 46"),
    ),
)
"""The injected texts, each with its tokens in the vocabulary of SmolLM2."""


def forced(events: Iterable[Event]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """The injections of a generation as `FORCED` has them."""
    return tuple((event.text, event.tokens) for event in events if isinstance(event, Injected))
