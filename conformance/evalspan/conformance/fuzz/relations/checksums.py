"""Relations of checksums/1: check digits check, and cyclic redundancy checks are linear."""

from __future__ import annotations

from evalspan.conformance.fuzz.oracles.trial import Objection, Trial
from evalspan.evaluators import Value

__all__ = ["check_digit", "linear", "one_wrong_digit", "remainder"]

_CRCS = ("crc32", "crc32c", "crc16_arc", "crc16_modbus", "crc16_ccitt_false", "crc16_xmodem")
_SIXTEEN = "@ABCDEFGHIJKLMNO"
"""Their exclusive or has no bit above the lowest four, so that a character stays in its row of sixteen."""


def check_digit(trial: Trial) -> Objection | None:
    """What `…_digit` gives, written behind its argument, is right for `…_valid`, and so with an IBAN's digits."""
    call = _call(trial)
    if call is None or not isinstance(trial.outcome, Value):
        return None
    name, arguments = call
    digit = trial.outcome.text
    if name == "iban_digits" and len(arguments) == 2:
        expression = f'iban_valid("{arguments[0]}{digit}{arguments[1]}")'
    elif name.endswith("_digit") and len(arguments) == 1:
        expression = f'{name.removesuffix("_digit")}_valid("{arguments[0]}{digit}")'
    else:
        return None
    value = trial.value(expression)
    if value is None or value.text == "true":
        return None
    return Objection(name, f"{expression} is {value.text}")


def one_wrong_digit(trial: Trial) -> Objection | None:
    """A number that is right is wrong with one digit changed: every scheme here finds that."""
    call = _call(trial)
    if call is None or not isinstance(trial.outcome, Value) or trial.outcome.text != "true":
        return None
    name, arguments = call
    number = arguments[0]
    places = [at for at, one in enumerate(number) if one in "0123456789"]
    if len(arguments) != 1 or not places:
        return None
    at = trial.chance.pick(places)
    wrong = str((int(number[at]) + trial.chance.between(1, 9)) % 10)
    expression = f'{name}("{number[:at]}{wrong}{number[at + 1 :]}")'
    value = trial.value(expression)
    if value is None or value.text == "false":
        return None
    return Objection(name, f"{expression} is {value.text}")


def linear(trial: Trial) -> Objection | None:
    """The CRC of a ^ b ^ c is the exclusive or of their CRCs, for texts of one length; a is the argument."""
    call = _call(trial)
    if call is None or call[0] not in _CRCS or not isinstance(trial.outcome, Value):
        return None
    name, text = call[0], call[1][0]
    b, c = ("".join(trial.chance.pick(_SIXTEEN) for _ in text) for _ in range(2))
    mixed = "".join(chr(ord(one) ^ ord(two) ^ ord(three)) for one, two, three in zip(text, b, c, strict=True))
    if not mixed.isprintable() or any(sign in mixed for sign in "\"'\\"):
        return None
    values = [trial.value(f'{name}("{each}")') for each in (text, b, c, mixed)]
    total = 0
    for value in values:
        if value is None:
            return None  # the options leave no room for the call or its result
        total ^= int(value.text, 16)
    return Objection(name, f"{name} is not linear for {text!r}, {b!r} and {c!r}") if total else None


def remainder(trial: Trial) -> Objection | None:
    """`mod97` is the remainder, and the same in every grouping."""
    call = _call(trial)
    if call is None or call[0] != "mod97" or not isinstance(trial.outcome, Value):
        return None
    digits = call[1][0].replace(" ", "").replace("-", "")
    rest = 0
    for digit in digits:
        rest = (rest * 10 + int(digit)) % 97
    if trial.outcome.text == str(rest):
        return None
    return Objection("mod97", f"mod97 of {digits[:80]} is {trial.outcome.text}, not {rest}")


def _call(trial: Trial) -> tuple[str, list[str]] | None:
    """Name and arguments of a call whose literals are plain; None where there is an escape or nothing of the sort."""
    text = trial.data.decode("utf-8", "replace").strip(" \t\r\n")
    name, bracket, rest = text.partition("(")
    if not bracket or "\\" in text or not rest.endswith(")"):
        return None
    arguments = []
    for part in rest[:-1].split(","):
        literal = part.strip(" \t\r\n")
        if len(literal) < 2 or literal[0] != literal[-1] or literal[0] not in "\"'" or literal[0] in literal[1:-1]:
            return None
        if '"' in literal[1:-1] or not literal.isascii():
            return None
        arguments.append(literal[1:-1])
    return name.strip(" \t\r\n"), arguments
