"""Relations of strings/1: lengths, slices, searches and orders of one text agree."""

from __future__ import annotations

import json

from evalspan.conformance.fuzz.oracles.trial import Objection, Trial
from evalspan.evaluators import Value

__all__ = ["lengths", "orders", "quoted_result", "searches", "slices"]

_MOST_CHARACTERS = 60
"""A text is spelt out in escapes, twice in some relations: 512 bytes have room for no more."""


def quoted_result(trial: Trial) -> Objection | None:
    """A result written as a literal is itself."""
    text = _text(trial)
    return None if text is None else _is(trial, f"concat({_literal(text)})", text)


def lengths(trial: Trial) -> Objection | None:
    """Bytes and code points are those of the text, clusters are no more than code points, and joined texts add up."""
    text = _text(trial)
    if text is None:
        return None
    literal = _literal(text)
    objection = _is(trial, f"bytes({literal})", str(len(text.encode()))) or _is(
        trial, f"codepoints({literal})", str(len(text))
    )
    if objection is not None:
        return objection
    clusters = trial.value(f"len({literal})")
    if clusters is not None and not (len(text) > 0) <= int(clusters.text) <= len(text):
        return Objection("clusters", f"{clusters.text} clusters of {len(text)} code points in {literal}")
    return _is(trial, f"codepoints(concat({literal},{literal}))", str(2 * len(text)))


def slices(trial: Trial) -> Objection | None:
    """The two sides of a cut are the whole, a slice of one cluster is that cluster, and a slice has its length."""
    text = _text(trial)
    if not text:
        return None
    literal = _literal(text)
    size = trial.value(f"len({literal})")
    if size is None:
        return None
    at = trial.chance.below(int(size.text))
    whole = _is(trial, f"concat(substr({literal},0,{at}),substr({literal},{at}))", text)
    return (
        whole
        or _alike(trial, f"nth({literal},{at + 1})", f"substr({literal},{at},{at + 1})")
        or _alike(trial, f"nth({literal},{at - int(size.text)})", f"nth({literal},{at + 1})")
        or _is(trial, f"len(substr({literal},0,{at}))", str(at))
    )


def searches(trial: Trial) -> Objection | None:
    """What is contained is found and counted, and a text contains, starts and ends with itself."""
    text = _text(trial)
    if not text:
        return None
    literal = _literal(text)
    start = trial.chance.below(len(text))
    part = _literal(text[start : start + trial.chance.size(3)])
    there = trial.value(f"contains({literal},{part})")
    at = trial.value(f"find({literal},{part})")
    times = trial.value(f"count({literal},{part})")
    if there is not None and at is not None and times is not None:
        found = there.text == "true"
        if found != (at.text != "-1") or found != (times.text != "0"):
            return Objection("disagree", f"{part} in {literal}: {there.text}, {at.text}, {times.text}")
        if found:
            size = trial.value(f"len({part})")
            if size is not None:
                end = int(at.text) + int(size.text)
                objection = _alike(trial, f"substr({literal},{at.text},{end})", f"concat({part})")
                if objection is not None:
                    return objection
    return _is(trial, f"starts_with({literal},{literal})", "true") or _is(
        trial, f"ends_with({literal},{literal})", "true"
    )


def orders(trial: Trial) -> Objection | None:
    """Reversed and sorted texts keep their code points, and a palindrome is its own reversal."""
    text = _text(trial)
    if text is None:
        return None
    literal = _literal(text)
    name = trial.chance.pick(("reverse", "sort"))
    size = str(len(text))
    objection = _is(trial, f"codepoints({name}({literal}))", size)
    if objection is not None:
        return objection
    # The converse does not hold: clusters of a reversal may join in another way and still spell the same text.
    palindrome = trial.value(f"is_palindrome({literal})")
    if palindrome is not None and palindrome.text == "true":
        objection = _is(trial, f"equals({literal},reverse({literal}))", "true")
        if objection is not None:
            return objection
    return _is(trial, f'codepoints(replace({literal},{literal},"ab"))', "2") if text else None


def _text(trial: Trial) -> str | None:
    """The text of the result, where there is one that is short enough to be written again."""
    outcome = trial.outcome
    if not isinstance(outcome, Value) or len(outcome.text) > _MOST_CHARACTERS:
        return None
    return outcome.text


def _literal(text: str) -> str:
    """The text as a literal of ASCII; JSON leaves DEL as it is."""
    return json.dumps(text).replace("\x7f", "\\u007f")


def _is(trial: Trial, expression: str, expected: str) -> Objection | None:
    value = trial.value(expression)
    if value is None or value.text == expected:
        return None  # the form may be longer or deeper than the limits
    return Objection(expression.partition("(")[0], f"{expression[:200]} is {value.text[:80]!r}, not {expected[:80]!r}")


def _alike(trial: Trial, left: str, right: str) -> Objection | None:
    value = trial.value(right)
    return None if value is None else _is(trial, left, value.text)
