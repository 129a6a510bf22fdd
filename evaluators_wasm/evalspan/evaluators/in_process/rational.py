"""The operations of arithmetic/1 on exact rational values, with every size checked before the work."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from types import MappingProxyType

from evalspan.evaluators.in_process.faults import Fault
from evalspan.policies.errors import ErrorCode

__all__ = ["BINARY", "FUNCTIONS", "Rational", "Scope", "literal"]

Rational = int | Fraction
"""A value in lowest terms. An integer may be either: nothing depends on which."""

_ROOT_DIGITS = 34  # significant digits of a rounded root: decimal128's, more than any double
_USUAL_DIGITS = 1024
_USUAL_BOUND = 10**_USUAL_DIGITS


class Scope:
    """What the operations of one evaluation share: its size limit, and whether a root was rounded.

    Every part of an expression flows into its result, so the mark "inexact" is one flag for all of it.
    """

    __slots__ = ("bound", "digits", "rounded")

    def __init__(self, digits: int) -> None:
        self.digits = digits
        self.bound: int = _USUAL_BOUND if digits == _USUAL_DIGITS else 10**digits
        """What a numerator's absolute value and a denominator stay below."""
        self.rounded = False

    def fits(self, value: Rational) -> bool:
        """Whether `value` is within the size limit."""
        numerator, denominator = value.numerator, value.denominator
        return -self.bound < numerator < self.bound and denominator < self.bound

    def too_large(self) -> Fault:
        """The fault of a value over the size limit."""
        return Fault(ErrorCode.TOO_LARGE, f"a number has more than {self.digits} digits here")


def literal(word: bytes, scope: Scope) -> Rational:
    """The value of a literal. Raises Fault `too_large` before a long one could cost anything."""
    if len(word) <= scope.digits and word.isdigit():
        return int(word)
    mantissa, _, exponent = word.replace(b"E", b"e").partition(b"e")
    whole, _, fraction = mantissa.partition(b".")
    digits = (whole + fraction).lstrip(b"0")
    significant = digits.rstrip(b"0")
    if not significant:
        return 0
    power = _saturated(exponent) - len(fraction) + len(digits) - len(significant)
    if power >= 0:
        if len(significant) + power > scope.digits:
            raise scope.too_large()
        return int(significant + b"0" * power)
    # M = significant is no multiple of 10, so M / 10**k in lowest terms has a denominator of at least 2**k and a
    # numerator of at least M / 5**k. Both below 10**digits: k < 3.33 * digits and M < 10**(3.33 * digits).
    if max(-power, len(significant)) > 4 * scope.digits:
        raise scope.too_large()
    return Fraction(int(significant), 10**-power)


def _saturated(exponent: bytes) -> int:
    """The exponent's value, or one that is over every limit where it has more than nine digits."""
    negative = exponent.startswith(b"-")
    digits = exponent.lstrip(b"+-").lstrip(b"0")
    size = int(digits[:10] or b"0")  # ten digits are as good as more: the limits are in the thousands
    return -size if negative else size


def _power_of_ten(n: int) -> Fraction:
    return Fraction(10**n) if n >= 0 else Fraction(1, 10**-n)


def _add(a: Rational, b: Rational, scope: Scope) -> Rational:
    return a + b


def _subtract(a: Rational, b: Rational, scope: Scope) -> Rational:
    return a - b


def _multiply(a: Rational, b: Rational, scope: Scope) -> Rational:
    return a * b


def _divide(a: Rational, b: Rational, scope: Scope) -> Rational:
    return Fraction(a, _divisor(b))


def _floor_divide(a: Rational, b: Rational, scope: Scope) -> Rational:
    return a // _divisor(b)


def _modulo(a: Rational, b: Rational, scope: Scope) -> Rational:
    return a % _divisor(b)


def _divisor(value: Rational) -> Rational:
    if value == 0:
        raise Fault(ErrorCode.DIVISION_BY_ZERO, "division by zero")
    return value


def _power(base: Rational, exponent: Rational, scope: Scope) -> Rational:
    if exponent.denominator != 1:
        raise Fault(ErrorCode.DOMAIN, "an exponent must be an integer; the square root is sqrt(x)")
    n = exponent.numerator
    if base == 0 and n < 0:
        raise Fault(ErrorCode.DIVISION_BY_ZERO, "zero to a negative power is a division by zero")
    if n == 0 or base == 1:
        return 1
    if base == 0:
        return 0
    if base == -1:
        return -1 if n % 2 else 1
    larger = max(abs(base.numerator), base.denominator)
    # larger >= 2**k with k >= 1, and powers stay in lowest terms: larger**n >= 2**(k*n)
    if (larger.bit_length() - 1) * abs(n) >= scope.bound.bit_length():
        raise scope.too_large()
    power: Rational = base**n if n > 0 else Fraction(base) ** n
    return power


BINARY: Mapping[str, Callable[[Rational, Rational, Scope], Rational]] = MappingProxyType(
    {
        "+": _add,
        "-": _subtract,
        "*": _multiply,
        "/": _divide,
        "//": _floor_divide,
        "%": _modulo,
        "**": _power,
    }
)
"""The binary operators. The caller checks the size of what they return; they raise Fault for the rest."""

Arguments = Sequence[Rational]


def _absolute(arguments: Arguments, scope: Scope) -> Rational:
    value = arguments[0]
    return -value if value < 0 else value


def _least(arguments: Arguments, scope: Scope) -> Rational:
    least: Rational = min(arguments)
    return least


def _greatest(arguments: Arguments, scope: Scope) -> Rational:
    greatest: Rational = max(arguments)
    return greatest


def _sum(arguments: Arguments, scope: Scope) -> Rational:
    total = arguments[0]
    for term in arguments[1:]:
        total += term
        if not scope.fits(total):
            raise scope.too_large()
    return total


def _mean(arguments: Arguments, scope: Scope) -> Rational:
    return Fraction(_sum(arguments, scope), len(arguments))


def _floor(arguments: Arguments, scope: Scope) -> Rational:
    return math.floor(arguments[0])


def _ceil(arguments: Arguments, scope: Scope) -> Rational:
    return math.ceil(arguments[0])


def _trunc(arguments: Arguments, scope: Scope) -> Rational:
    return math.trunc(arguments[0])


def _round(arguments: Arguments, scope: Scope, *, ties_to_even: bool) -> Rational:
    value = arguments[0]
    places = _integer(arguments[1], "the number of places").numerator if len(arguments) == 2 else 0
    if places < -scope.digits:
        return 0  # |value| < 10**digits is less than half of 10**(digits + 1)
    if places > 0:
        # A denominator below 10**digits divides 10**(4*digits) or no power of ten, since log2(10) < 4.
        if pow(10, min(places, 4 * scope.digits), value.denominator) == 0:
            return value
        # A neighbour a/b of p/q that differs from it is at least 1/(b*q) > 10**(-2*digits) away.
        if places > 2 * scope.digits:
            raise scope.too_large()
    return _nearest(value, places, ties_to_even)


def _nearest(value: Rational, places: int, ties_to_even: bool) -> Rational:
    """The multiple of 10**-places that is nearest to `value`."""
    unit = _power_of_ten(-places)
    scaled = (-value if value < 0 else value) / unit
    whole = math.floor(scaled)
    twice_rest = 2 * (scaled - whole)
    if twice_rest > 1 or (twice_rest == 1 and not (ties_to_even and whole % 2 == 0)):
        whole += 1
    return (-whole if value < 0 else whole) * unit


def _sqrt(arguments: Arguments, scope: Scope) -> Rational:
    value = arguments[0]
    if value < 0:
        raise Fault(ErrorCode.DOMAIN, "the square root of a negative number")
    p, q = value.numerator, value.denominator
    root = Fraction(math.isqrt(p), math.isqrt(q))
    if root * root == value:
        return root
    scope.rounded = True
    return _rounded_root(p, q)


def _rounded_root(p: int, q: int) -> Rational:
    """The root of p/q, which is irrational, to the nearest of 34 significant digits; there are no ties."""
    # p/q is within a factor of 10 of 10**(digits of p - digits of q): we begin between 10**33 and 10**35.
    places = _ROOT_DIGITS - (len(str(p)) - len(str(q))) // 2
    scaled = Fraction(p, q) * _power_of_ten(2 * places)
    if scaled >= _power_of_ten(2 * _ROOT_DIGITS):
        places -= 1
        scaled /= 100
    whole = math.isqrt(math.floor(scaled))
    if (2 * whole + 1) ** 2 < 4 * scaled:
        whole += 1
    return whole * _power_of_ten(-places)


def _gcd(arguments: Arguments, scope: Scope) -> Rational:
    return math.gcd(*_integers(arguments))


def _lcm(arguments: Arguments, scope: Scope) -> Rational:
    result = 1
    for value in _integers(arguments):
        result = math.lcm(result, value)
        if not scope.fits(result):
            raise scope.too_large()
    return result


def _factorial(arguments: Arguments, scope: Scope) -> Rational:
    n = _integer(arguments[0], "the argument").numerator
    if n < 0:
        raise Fault(ErrorCode.DOMAIN, "the factorial of a negative number")
    if n >= max(25, scope.digits):  # 25! > 10**25, and each further factor is over 10: n! > 10**digits
        raise scope.too_large()
    return math.factorial(n)


def _integers(arguments: Arguments) -> list[int]:
    return [_integer(value, "every argument").numerator for value in arguments]


def _integer(value: Rational, what: str) -> Rational:
    if value.denominator != 1:
        raise Fault(ErrorCode.DOMAIN, f"{what} must be an integer")
    return value


FUNCTIONS: Mapping[bytes, Callable[[Arguments, Scope], Rational]] = MappingProxyType(
    {
        b"abs": _absolute,
        b"ceil": _ceil,
        b"factorial": _factorial,
        b"floor": _floor,
        b"gcd": _gcd,
        b"lcm": _lcm,
        b"max": _greatest,
        b"mean": _mean,
        b"min": _least,
        b"round": partial(_round, ties_to_even=False),
        b"round_even": partial(_round, ties_to_even=True),
        b"sqrt": _sqrt,
        b"sum": _sum,
        b"trunc": _trunc,
    }
)
"""The functions by name, under the same terms."""
