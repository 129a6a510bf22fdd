"""The text of a rational value: exact decimals in full, anything else to a number of significant digits."""

from __future__ import annotations

from evalspan.evaluators.in_process.rational import Rational

__all__ = ["render"]

_EXACT_PLACES = 30  # fractional digits up to which a decimal that ends is written in full
_EXACT_SCALE = 10**_EXACT_PLACES


def render(value: Rational, inexact: bool, precision: int) -> tuple[str, bool]:
    """The canonical text of `value`, and whether it is exact.

    `inexact` says that a rounding came before; `precision` is the number of significant digits where the
    text must be rounded, half to even.
    """
    numerator, denominator = value.numerator, value.denominator
    if not inexact:
        if denominator == 1:
            return str(numerator), True
        if _EXACT_SCALE % denominator == 0:
            return _decimal(numerator * (_EXACT_SCALE // denominator), _EXACT_PLACES), True
    if numerator == 0:
        return "0", False

    places = max(0, precision - 1 - _exponent(abs(numerator), denominator))
    scaled, rest = divmod(numerator * 10**places, denominator)
    if 2 * rest > denominator or (2 * rest == denominator and scaled % 2):
        scaled += 1
    return _decimal(scaled, places), rest == 0 and not inexact


def _exponent(numerator: int, denominator: int) -> int:
    """The e with 10**e <= numerator / denominator < 10**(e + 1)."""
    e = len(str(numerator)) - len(str(denominator))  # right, or one too many
    if e >= 0:
        too_many = numerator < denominator * 10**e
    else:
        too_many = numerator * 10**-e < denominator
    return e - 1 if too_many else e


def _decimal(scaled: int, places: int) -> str:
    """The text of scaled / 10**places without trailing zeros."""
    digits = str(abs(scaled)).rjust(places + 1, "0")
    point = len(digits) - places
    fraction = digits[point:].rstrip("0")
    text = f"{digits[:point]}.{fraction}" if fraction else digits[:point]
    return f"-{text}" if scaled < 0 else text
