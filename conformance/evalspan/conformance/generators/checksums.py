"""Calls of checksums/1: digests of texts of many scripts, and numbers with right and wrong check digits."""

from __future__ import annotations

from collections.abc import Mapping

from evalspan.conformance.generators.chance import Chance
from evalspan.conformance.generators.literals import literal
from evalspan.conformance.generators.texts import characters

__all__ = ["FRAGMENTS", "OPTIONS", "text"]

OPTIONS: tuple[Mapping[str, int], ...] = (
    {},
    {},
    {"max_input_bytes": 32},
    {"max_result_bytes": 1},
    {"max_result_bytes": 8},
    {"max_input_bytes": 16_384, "max_result_bytes": 16_384},
)
"""Sets of options: the defaults, tight ones, and the widest."""

_DIGESTS = (
    *("crc32", "crc32c", "crc16_arc", "crc16_modbus", "crc16_ccitt_false", "crc16_xmodem", "adler32", "fnv1a32"),
    *("fnv1a64", "md5", "sha1", "sha256", "sha512"),
)
_LENGTHS = {
    "isbn10_digit": 9,
    "isbn10_valid": 10,
    "isbn13_digit": 12,
    "isbn13_valid": 13,
    "ean13_digit": 12,
    "ean13_valid": 13,
}
"""Characters of those functions that want a number of them."""
_NUMBERS = (
    *("luhn_digit", "luhn_valid", "verhoeff_digit", "verhoeff_valid", "damm_digit", "damm_valid", "mod97"),
    *(*_LENGTHS, "iban_digits", "iban_valid", "iban_valid"),
)
_NAMES = (*_DIGESTS, *_NUMBERS)
_ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

FRAGMENTS = (
    *(name.encode() for name in (*_NAMES, "crc8", "crc16", "CRC32", "sha3_256", "crc", "len")),
    *(b'("', b'")', b'"', b"'", b'","', b'", "', b"(", b")", b",", b'""', b"\\n", b"\\u00e9", b"\\'", b"\\/", b"\\a"),
    *(b"0", b"7", b"12", b"978", b"979", b"X", b"x", b"GB82", b" ", b"-", b"--", b"123456789", b"+", b"\\u002d"),
)
"""Tokens, right and wrong."""


def text(chance: Chance) -> str:
    """One call."""
    name = chance.pick(_DIGESTS if chance.random() < 0.4 else _NUMBERS)
    if name == "iban_digits":
        country = "".join(chance.pick(_ALPHANUMERIC[:52]) for _ in range(2)) if chance.random() < 0.9 else "G1"
        account = _account(chance, chance.size(30)) if chance.random() < 0.95 else ""
        arguments = [country, _grouped(chance, account)]
    elif name in _NUMBERS:
        arguments = [_grouped(chance, _number(chance, name))]
    else:
        arguments = [_message(chance)]
    if chance.one_in(50):
        arguments.append("1")
    if chance.one_in(60):
        name = chance.pick(("crc8", "crc16", "crc64", "Crc32", "len"))
    gap = chance.pick(("", "", "", " ", "\t", "\r\n"))
    comma = chance.pick((",", ", ", " ,"))
    return f"{name}{gap}({comma.join(literal(chance, argument) for argument in arguments)}{gap})"


def _message(chance: Chance) -> str:
    if chance.one_in(100):
        # Around the lengths at which digests begin another block.
        return "a" * chance.pick((55, 56, 63, 64, 65, 111, 112, 119, 127, 128, 500, 5550, 5553, 16_000))
    return characters(chance, chance.below(12) if chance.random() < 0.8 else chance.below(150))


def _number(chance: Chance, name: str) -> str:
    if name == "iban_valid":
        return _iban(chance)
    length = _LENGTHS.get(name, 0)
    if not length or chance.one_in(12):
        length = chance.size(40) - 1
    digits = chance.digits(length)
    if name.startswith("isbn13") and chance.random() < 0.9:
        digits = (chance.pick(("978", "979")) + digits)[:length]
    if name in _LENGTHS and name.endswith("_valid") and chance.one_in(3):
        return _with_right_digit(name, digits)
    if name.startswith("isbn10") and chance.one_in(6):
        return digits[:-1] + "X"
    return digits


def _with_right_digit(name: str, digits: str) -> str:
    """The digits with a last one that makes the weighted sum right."""
    if name.startswith("isbn10"):
        total = sum(weight * int(digit) for weight, digit in zip(range(10, 1, -1), digits, strict=False))
        return digits[:9] + "0123456789X"[-total % 11]
    weights = (1, 3) * 7
    total = sum(weight * int(digit) for weight, digit in zip(weights, digits[:12], strict=False))
    return digits[:-1] + str(-total % 10)


def _account(chance: Chance, length: int) -> str:
    if chance.random() < 0.5:
        return chance.digits(length)
    return "".join(chance.pick(_ALPHANUMERIC) for _ in range(length))


def _iban(chance: Chance) -> str:
    country = "".join(chance.pick(_ALPHANUMERIC[:52]) for _ in range(2))
    account = _account(chance, chance.between(0, 31) if chance.one_in(10) else chance.between(1, 30))
    kind = chance.random()
    if kind < 0.35:
        return f"{country}{chance.digits(2)}{account}"
    pair = _iban_pair(country, account)
    if kind > 0.9:
        # Of two pairs with the same remainder, 02 and 99 for example, one is never right.
        account = account[:28]
        endings = (f"{account}{ending:02}" for ending in range(97))
        account = next(ended for ended in endings if _iban_pair(country, ended) in (2, 97, 98))
        pair = _iban_pair(country, account)
        pair = chance.pick((pair, {2: 99, 97: 0, 98: 1}[pair]))
    return f"{country}{pair:02}{account}"


def _iban_pair(country: str, account: str) -> int:
    """The right check digits, 2 to 98."""
    return 98 - int("".join(str(int(one, 36)) for one in f"{account}{country}00")) % 97


def _grouped(chance: Chance, number: str) -> str:
    """The number in groups, sometimes with a separator too many or a foreign character."""
    if chance.random() < 0.5 or not number:
        return number
    size = chance.between(1, 5)
    groups = [number[at : at + size] for at in range(0, len(number), size)]
    grouped = chance.pick(" -").join(groups)
    if chance.one_in(6):
        at = chance.below(len(grouped) + 1)
        grouped = grouped[:at] + chance.pick((" ", "-", "x", "X", "１", "\t", "\u00a0", "+", "é", "0")) + grouped[at:]
    return grouped
