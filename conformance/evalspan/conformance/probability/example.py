"""What a mask answers, and what it does not: masked decoding is not the model's distribution given the grammar.

A mask renormalizes at each token over what is allowed there, and does not look ahead: mass that the model would put
on a dead end later is not given back. The example is the smallest that shows it: the model likes to begin with `a`,
and after it nearly always goes on with `y`, which the grammar forbids there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from evalspan.backends.scripted import ScriptedBackend
from evalspan.conformance.probability.finding import Finding
from evalspan.orchestrator import DecodeError, Driver, Regex, Request, SamplingParams
from evalspan.orchestrator.sampling import Sampler

__all__ = ["LANGUAGE", "MODEL", "Row", "check_example", "example_table"]

MODEL: Mapping[str, Mapping[str, Fraction]] = {
    "": {"a": Fraction(6, 10), "b": Fraction(4, 10)},
    "a": {"x": Fraction(1, 100), "y": Fraction(99, 100)},
    "b": {"x": Fraction(1, 2), "y": Fraction(1, 2)},
}
"""A model of strings of two letters: the next letter's probability, by what is written."""

LANGUAGE = ("ax", "bx", "by")
"""What the grammar allows."""

_TOLERANCE = 1e-6  # of the driver's masks: its logits are float32, whose logarithms have 7 digits


@dataclass(frozen=True, slots=True)
class Row:
    """A string of the language, with its probability in four distributions."""

    text: str
    model: Fraction
    """The model's own, without a grammar."""
    masked: Fraction
    """Drawn letter by letter under a mask, by enumeration."""
    driver: float
    """The same, by the masks of the driver's machine and the sampler's distributions."""
    conditional: Fraction
    """The model's, given that the string is one of the language."""


def example_table() -> tuple[Row, ...]:
    """The strings of the language, each with its probabilities."""
    whole = _whole()
    driven = _driven()
    mass = sum((whole[text] for text in LANGUAGE), Fraction(0))
    return tuple(Row(text, whole[text], _masked(text), driven[text], whole[text] / mass) for text in LANGUAGE)


def check_example() -> Finding:
    """Compute each distribution in two ways that share nothing, and compare.

    The masked one by enumeration and by the driver; the conditional one by enumeration, and letter by letter with a
    mask that looks ahead: each letter weighted by the mass of what can still follow it.
    """
    rows = example_table()
    faults = []
    for row in rows:
        if abs(row.driver - float(row.masked)) > _TOLERANCE:
            faults.append(f"{row.text}: the driver's masks give {row.driver:.6f}, enumeration {float(row.masked):.6f}")
        if row.conditional != _looking_ahead(row.text):
            faults.append(f"{row.text}: {row.conditional} by enumeration, {_looking_ahead(row.text)} by looking ahead")
    for name, total in (
        ("masked", sum(row.masked for row in rows)),
        ("conditional", sum(row.conditional for row in rows)),
    ):
        if total != 1:
            faults.append(f"the {name} distribution adds up to {total}")
    statement = "masked and grammar-conditional distributions, each in two ways"
    return Finding("example", statement, 2 * len(rows), tuple(faults))


def _whole() -> dict[str, Fraction]:
    """Every string of the model."""
    return {one + two: MODEL[""][one] * MODEL[one][two] for one, two in product("ab", "xy")}


def _masked(text: str) -> Fraction:
    share = Fraction(1)
    for at, letter in enumerate(text):
        written = text[:at]
        allowed = {following[at] for following in LANGUAGE if following.startswith(written)}
        following = MODEL[written]
        share *= following[letter] / sum((following[other] for other in allowed), Fraction(0))
    return share


def _mass(written: str) -> Fraction:
    """What the model gives to all of the language that goes on from here."""
    if len(written) == len(LANGUAGE[0]):
        return Fraction(written in LANGUAGE)
    return sum((share * _mass(written + letter) for letter, share in MODEL[written].items()), Fraction(0))


def _looking_ahead(text: str) -> Fraction:
    share = Fraction(1)
    for at, letter in enumerate(text):
        share *= MODEL[text[:at]][letter] * _mass(text[: at + 1]) / _mass(text[:at])
    return share


def _driven() -> dict[str, float]:
    """The masked distribution as the driver has it, over all that it allows."""
    request = Request("go", grammar=Regex("|".join(LANGUAGE)), max_tokens=10)
    shares: dict[str, float] = {}
    with Driver(ScriptedBackend.replay([])) as driver:
        pieces = driver.backend.tokenizer.pieces
        waiting = [("", 1.0)]
        while waiting:
            text, share = waiting.pop()
            machine = driver.machine(request)
            try:
                for byte in text.encode():
                    machine.advance(byte)
            except DecodeError:
                continue  # the mask allowed what the machine then refuses: its share is missing
            if text not in MODEL:
                shares[text] = share
                continue
            logits = np.full(len(pieces), -np.inf, dtype=np.float32)
            for letter, probability in MODEL[text].items():
                logits[ord(letter)] = math.log(probability)
            mask = machine.mask()
            if mask is not None:
                logits[~mask] = -np.inf
            ids, found = Sampler(SamplingParams(temperature=1.0)).distribution(logits)
            waiting += [
                (text + chr(token), share * float(one)) for token, one in zip(map(int, ids), found, strict=True)
            ]
    return {text: shares.get(text, 0.0) for text in {*LANGUAGE, *shares}}
