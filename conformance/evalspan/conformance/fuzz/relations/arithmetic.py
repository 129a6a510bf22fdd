"""Relations of arithmetic/1: laws of the rational numbers."""

from __future__ import annotations

from evalspan.conformance.fuzz.oracles.trial import Objection, Trial
from evalspan.conformance.vectors import described
from evalspan.evaluators import Value

__all__ = ["commutes", "quotient_and_remainder", "rounding", "undoes"]

_PARTNERS = ("1/3", "2", "-7.5", "10**20", "sqrt(2)", "0", "-1", "9223372036854775807", "0.1", "4294967296/7")


def commutes(trial: Trial) -> Objection | None:
    """x + p is p + x, and so for the product, the least and the greatest."""
    if not isinstance(trial.outcome, Value):
        return None
    x, partner = _grouped(trial), trial.chance.pick(_PARTNERS)
    form = trial.chance.pick(("({})+({})", "({})*({})", "min({},{})", "max({},{})", "sum({},{})"))
    return _same(trial, form.format(x, partner), form.format(partner, x))


def undoes(trial: Trial) -> Objection | None:
    """x - x is 0, -(-x) is x, and p added and taken away again leaves x, as long as all is exact."""
    if not isinstance(trial.outcome, Value) or not _all_exact(trial):
        return None
    x, partner = _grouped(trial), trial.chance.pick(_PARTNERS[:4])
    form, expected = trial.chance.pick(
        (
            ("{x}-{x}", "0"),
            ("-(-{x})", "{x}"),
            ("{x}+({p})-({p})", "{x}"),
            ("{x}*({p})/({p})", "{x}"),
            ("({p})-(({p})-{x})", "{x}"),
            ("{x}*1", "{x}"),
            ("0-{x}", "-{x}"),
        )
    )
    return _same(trial, form.format(x=x, p=partner), expected.format(x=x))


def quotient_and_remainder(trial: Trial) -> Objection | None:
    """x is p·(x // p) + x % p, and the remainder has p's sign and is smaller."""
    if not isinstance(trial.outcome, Value) or not _all_exact(trial):
        return None
    x, p = _grouped(trial), trial.chance.pick(("3", "-7", "1/3", "-0.25", "10**20", "7919"))
    # A remainder between 0 and p is no further than half of p from its middle.
    middle = f"abs({x}%({p})-({p})/2)"
    whole = _same(trial, f"({p})*({x}//({p}))+{x}%({p})", x)
    return whole or _same(trial, f"max({middle},abs({p})/2)", f"abs({p})/2")


def rounding(trial: Trial) -> Objection | None:
    """Rounding is odd, a rounded value rounds to itself, and no rounding moves a value by more than half a place."""
    if not isinstance(trial.outcome, Value) or not _all_exact(trial):
        return None
    x, name, n = _grouped(trial), trial.chance.pick(("round", "round_even")), trial.chance.pick(("0", "2", "-1", "5"))
    form, expected = trial.chance.pick(
        (
            ("{f}(-{x},{n})", "-{f}({x},{n})"),
            ("{f}({f}({x},{n}),{n})", "{f}({x},{n})"),
            ("floor(-{x})", "-ceil({x})"),
            ("trunc(-{x})", "-trunc({x})"),
            ("max(0,abs({f}({x},{n})-{x})*2*10**{n}-1)", "0"),
        )
    )
    return _same(trial, form.format(x=x, f=name, n=n), expected.format(x=x, f=name, n=n))


def _grouped(trial: Trial) -> str:
    return f"({trial.data.decode('utf-8', 'replace')})"


def _all_exact(trial: Trial) -> bool:
    """Whether nothing was rounded: laws hold for rational numbers, not for rounded ones."""
    return b"sqrt" not in trial.data


def _same(trial: Trial, left: str, right: str) -> Objection | None:
    one, other = trial.value(left), trial.value(right)
    if one is None or other is None or (one.text, one.exact) == (other.text, other.exact):
        return None  # of two forms one may be too long, too deep or too large
    shown = left if len(left) < 200 else f"{left[:200]}…"
    return Objection("two values", f"{shown} is {described(one)}, but {right[:200]} is {described(other)}")
