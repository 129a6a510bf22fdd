"""Expressions of arithmetic/1: mostly right, of small numbers and of numbers at the limits."""

from __future__ import annotations

from collections.abc import Mapping

from evalspan.conformance.generators.chance import Chance

__all__ = ["FRAGMENTS", "OPTIONS", "text"]

OPTIONS: tuple[Mapping[str, int], ...] = (
    {},
    {},
    {"max_depth": 3, "max_digits": 5, "precision": 3},
    {"max_digits": 40, "max_result_bytes": 20, "precision": 1},
    {"max_input_bytes": 24, "max_digits": 18, "precision": 34},
    {"max_input_bytes": 16_384, "max_depth": 64, "max_result_bytes": 16_384, "precision": 34},
)
"""Sets of options: the defaults, tight ones, and the widest."""

_OPERATORS = (
    *("+", "-", "*", "/", "+", "-", "*", "/", "//", "%", "**", " + ", " - ", " * ", " / ", " % "),
    *("//", "%", "^", "×", "·", "÷", "−", "\t*\n", "--", "+-", "*-", "/-", "**-", " // ", "××"),
)
_ONE = ("abs", "floor", "ceil", "trunc", "sqrt")
_PLACES = ("round", "round_even")
_MANY = ("min", "max", "sum", "mean")
_WHOLE = ("gcd", "lcm")
_NAMES = (*_ONE, *_PLACES, *_MANY, *_WHOLE, "factorial")
_EDGES = (
    *("0", "1", "2", "10", "0.5", ".5", "0.1", "1e1023", "1e-1023", "5e-1024", "1e1024", "7e511", "3e-500", "2e-700"),
    *("0e9999999999", "1e99999999999", "1e-99999999999", "016", "00", "1.50", "0.0", "1.2e3", "1E+2", "4e-02", "5."),
    *("9223372036854775807", "9223372036854775808", "4294967296", "2147483647", "3037000500", "18446744073709551616"),
)

FRAGMENTS = (
    *(name.encode() for name in (*_NAMES, "max(", "round(", "sqrt(2)", "Abs", "log(", "today", "pi")),
    *(literal.encode() for literal in _EDGES),
    *(operator.encode() for operator in _OPERATORS),
    *(b"(", b")", b",", b".", b"e", b"E5", b"_", b"x", b"1e9999", b"1/3", b"(1/3)", b"%", b"^-", b"1,000"),
)
"""Tokens, right and wrong."""


def text(chance: Chance) -> str:
    """One expression."""
    form = chance.random()
    if form < 0.94:
        return _expression(chance, chance.size(24))
    if form < 0.96:
        return _tie(chance)
    if form < 0.98:
        return _deep(chance)
    if form < 0.999:
        return _large(chance)
    return _many(chance)


def _expression(chance: Chance, size: int) -> str:
    """Of about `size` literals."""
    if size <= 1:
        return _literal(chance)
    kind = chance.random()
    if kind < 0.45:
        left = chance.between(1, size - 1)
        return _expression(chance, left) + chance.pick(_OPERATORS) + _expression(chance, size - left)
    if kind < 0.6:
        return f"({_expression(chance, size)})" if chance.one_in(8) else f"({_expression(chance, size - 1)})"
    if kind < 0.66:
        return chance.pick("-−+") + _expression(chance, size - 1)
    if kind < 0.74:
        return f"{_power_base(chance, size)}{chance.pick(('**', '^', ' ** '))}{_exponent(chance)}"
    return _call(chance, size - 1)


def _power_base(chance: Chance, size: int) -> str:
    return _literal(chance) if chance.random() < 0.5 else f"({_expression(chance, size - 1)})"


def _exponent(chance: Chance) -> str:
    kind = chance.random()
    if kind < 0.6:
        return chance.pick(("2", "3", "0", "1", "-1", "-2", "5", "10", "64"))
    if kind < 0.8:
        return str(chance.between(-2000, 2000))
    return chance.pick(("0.5", "10**9", "2**3", "(1/2)", "-10**10", "99999999999999999999", "(4/2)", "sqrt(4)"))


def _call(chance: Chance, size: int) -> str:
    name = chance.pick(_NAMES)
    if name in _MANY:
        arguments = [_expression(chance, max(1, size // 3)) for _ in range(chance.size(5))]
    elif name in _WHOLE:
        arguments = [_whole(chance, size // 3) for _ in range(chance.size(4))]
    elif name == "factorial":
        arguments = [_small(chance) if chance.random() < 0.9 else _expression(chance, size)]
    else:
        arguments = [_expression(chance, size)]
        if name in _PLACES and chance.random() < 0.6:
            arguments.append(str(chance.between(-5, 5)) if chance.random() < 0.8 else _whole(chance, 3))
    if chance.one_in(40):
        arguments.append("1")
    if chance.one_in(80):
        name = chance.pick(("log", "Max", "max ", "sqrt_", "rounds"))
    comma = chance.pick((",", ", ", ", ", " , "))
    return f"{name}({comma.join(arguments)})"


def _whole(chance: Chance, size: int) -> str:
    """Mostly a whole number."""
    kind = chance.random()
    if kind < 0.6:
        return _integer(chance)
    if kind < 0.9:
        return f"{chance.pick(('floor', 'ceil', 'trunc', 'round', '-', '+', 'abs'))}({_expression(chance, size)})"
    return _expression(chance, size)


def _small(chance: Chance) -> str:
    return str(chance.below(20)) if chance.random() < 0.8 else str(chance.between(20, 600))


def _integer(chance: Chance) -> str:
    kind = chance.random()
    if kind < 0.7:
        return str(chance.below(13))
    if kind < 0.9:
        return str(chance.below(10_000))
    return str(int(chance.digits(chance.size(60))))


def _literal(chance: Chance) -> str:
    kind = chance.random()
    if kind < 0.6:
        return _integer(chance)
    if kind < 0.8:
        whole = "" if chance.one_in(5) else str(chance.below(120))
        return f"{whole}.{chance.digits(chance.size(6))}"
    if kind < 0.9:
        return f"{chance.between(0, 99)}e{chance.between(-12, 12)}"
    return chance.pick(_EDGES)


def _tie(chance: Chance) -> str:
    """Half way between two results of one of the precisions, or next to it."""
    digits = f"{chance.between(1, 9)}{chance.digits(chance.pick((0, 2, 14, 33)))}"
    half = chance.pick(("5", "5", "5", "49", "51", "50000000001"))
    if chance.random() < 0.5:
        return f"{digits}{half}e-{chance.between(31, 80)}"
    point = chance.below(len(digits) + 1)
    value = f"{digits[:point] or '0'}.{digits[point:]}{half}"
    return f"{value}{chance.pick(('+0*sqrt(2)', '*sqrt(2)/sqrt(2)', '-0*sqrt(3)'))}"


def _deep(chance: Chance) -> str:
    """Nested about as deep as the limits."""
    inner = _literal(chance)
    depth = chance.pick((3, 31, 32, 32, 33, 63, 64, 65))
    opening = chance.pick(("(", "-", "abs(", "2**", "--", "max(1,", "(-"))
    closing = ")" * opening.count("(")
    return f"{opening * depth}{inner}{closing * depth}"


def _large(chance: Chance) -> str:
    """Values of up to 1,024 digits, and a few of more."""
    if chance.one_in(3):
        unit = chance.pick(("1", "9", "25", "05", "8192", "1953125"))
        zeros = chance.pick(("", "0", "00001")) * chance.size(1500)
        return f"0.{unit * chance.size(1500)}{zeros}e{chance.between(-4000, 4000)}"
    a, b, c, d = (_long(chance) for _ in range(4))
    x, y = f"({a}/{b})", f"({c}/{d})"
    form = chance.pick(
        (
            *("{}+{}", "{}-{}", "{}*{}", "{}/{}", "{}//{}", "{}%{}", "max({},{})", "sum({},{})", "mean({},{})"),
            *("gcd(floor({}),ceil({}))", "lcm(trunc({}),floor({}))", "sqrt({})-{}", "round({},40)-{}", "{}**2-{}"),
        )
    )
    return form.format(x, y)


def _long(chance: Chance) -> str:
    if chance.one_in(3):
        base = chance.pick((2, 3, 5, 6, 7, 10))
        return f"{base}**{chance.below(int(3450 / base.bit_length()))}"
    return str(int(chance.digits(chance.size(1024))) + 1)


def _many(chance: Chance) -> str:
    """As many terms as an input may have."""
    terms = [_literal(chance) for _ in range(chance.between(2, 40))]
    joined = chance.pick(("+", "-", "*", "/1+", "%7+")).join(terms)
    return "+".join([joined] * (chance.pick((500, 16_000)) // len(joined)))
