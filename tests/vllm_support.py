"""Whether a text's results are exact, found out without the span machine, the grammar and the sandbox."""

from __future__ import annotations

import re

from evalspan.evaluators import Evaluators, Value
from evalspan.policies import Registry

__all__ = ["check_exact", "sums"]

_SPAN = re.compile(r"<calc>([^<]*)</calc>(<result>[^<]*</result>|<result_error>[^<]*</result_error>|)")


def check_exact(text: str) -> int:
    """Check every `<calc>` of a text against the evaluator in Python, and that no result stands elsewhere.

    Answers how many there are. At the end of a text that was cut off a result may be missing or cut off too.
    """
    registry = Registry.load()
    rule = registry.span("calc")
    found = 0
    rest = text
    with Evaluators(registry, "in_process") as evaluators:
        for match in _SPAN.finditer(text):
            expression, block = match[1], match[2]
            outcome = evaluators.evaluate(rule.evaluator, expression.encode(), rule)
            if isinstance(outcome, Value):
                wanted = f"<result>{outcome.text}</result>"
            else:
                wanted = f"<result_error>{outcome.code}: {outcome.message}</result_error>"
            if not block:
                cut = text[match.end() :]
                assert wanted.startswith(cut), f"{expression!r} is followed by {cut[:40]!r}"
                return found
            assert block == wanted, f"{expression!r} has {block!r}"
            rest = rest.replace(match[0], "", 1)
            found += 1
    # What only looks like the beginning of a tag, such as "<result x", is text as any other.
    assert not any(tag in rest for tag in (rule.result.open, rule.error.open)), f"a result without a span: {rest!r}"
    return found


def sums(first: int, second: int) -> str:
    """A prompt after which a small model goes on with sums in spans for as long as it may."""
    terms = ((3, 4), (10, 25), (7, 90), (first, second))
    return "".join(f"<calc>{a} + {b}</calc><result>{a + b}</result>\n" for a, b in terms)
