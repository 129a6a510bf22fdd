"""What would be injected can forge nothing."""

from __future__ import annotations

import unicodedata

from evalspan.conformance.fuzz.oracles.trial import Objection, Trial
from evalspan.conformance.runtimes import TAGS
from evalspan.evaluators import Value

__all__ = ["injected_text"]

_MOST_MESSAGE_BYTES = 256
"""Of an error's text as a whole (docs/sandbox.md)."""


def injected_text(trial: Trial) -> Objection | None:
    """A text that passed the result policy has no registered tag, no control character, no surrogate, and a legal size.

    That holds for the text of an error too, which may quote the input.
    """
    outcome = trial.subject.injected(trial.data, trial.options)
    if isinstance(outcome, Value):
        text, limit = outcome.text, trial.limits.max_result_bytes
    else:
        text, limit = f"{outcome.code.value}: {outcome.message}", _MOST_MESSAGE_BYTES
    tag = next((tag for tag in TAGS if tag in text), None)
    if tag is not None:
        return Objection("a tag", f"the injected text has the tag {tag}")
    wrong = next((one for one in text if unicodedata.category(one) in ("Cc", "Cs")), None)
    if wrong is not None:
        return Objection("a control character", f"the injected text has U+{ord(wrong):04X}")
    if len(text.encode()) > limit:
        return Objection("over the limit", f"the injected text has {len(text.encode())} bytes, the limit is {limit}")
    return None
