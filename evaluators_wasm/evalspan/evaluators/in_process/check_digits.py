"""The check digits of checksums/1: what an argument may be made of, which form it has, and what comes of it.

Luhn, Verhoeff, Damm, the digit of an EAN-13 and the remainder of an IBAN are those of python-stdnum.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from operator import mul
from types import MappingProxyType
from typing import Any, NamedTuple

from evalspan.evaluators.errors import EvaluatorUnavailable
from evalspan.evaluators.in_process.faults import Fault
from evalspan.policies.errors import ErrorCode

__all__ = ["CHECK_DIGITS", "CheckDigits", "Parameter", "WrongForm", "require_stdnum"]


class _Algorithms(NamedTuple):
    luhn: Any
    verhoeff: Any
    damm: Any
    ean: Any
    mod_97_10: Any


@cache
def require_stdnum() -> _Algorithms:
    """The modules of python-stdnum. Raises EvaluatorUnavailable where it is missing."""
    try:
        return _Algorithms(
            luhn=import_module("stdnum.luhn"),
            verhoeff=import_module("stdnum.verhoeff"),
            damm=import_module("stdnum.damm"),
            ean=import_module("stdnum.ean"),
            mod_97_10=import_module("stdnum.iso7064.mod_97_10"),
        )
    except ImportError as error:
        reason = "the library python-stdnum is missing: pip install 'evalspan[reference]'"
        raise EvaluatorUnavailable("checksums", reason) from error


class WrongForm(Fault):
    """The characters of an argument are in order, but not their number, or which of them stands where."""


class Parameter:
    """What an argument must be: groups of characters of an alphabet, which together have a form."""

    __slots__ = ("_characters", "_form", "_groups", "_wanted")

    def __init__(self, alphabet: str, form: str, characters: str, wanted: str) -> None:
        """`alphabet` matches one character, `form` all of them, without separators and in capitals.

        `characters` and `wanted` say the same in messages.
        """
        # No step is taken back: quantifiers are possessive, and a separator is none of the alphabet.
        self._groups = re.compile(f"{alphabet}++(?:[ -]{alphabet}++)*+")
        self._form = re.compile(form)
        self._characters = characters
        self._wanted = wanted

    def read(self, text: str) -> str:
        """The characters of the argument `text`, without separators and in capitals.

        Raises:
            Fault: `domain`: there is none, one is foreign, or a separator is out of place.
            WrongForm: `domain` too, but a test is false then.
        """
        if self._groups.fullmatch(text) is None:
            if not text:
                raise Fault(ErrorCode.DOMAIN, f"the argument is empty: {self._wanted} expected")
            message = f"the argument takes {self._characters} and single spaces or hyphens between groups of them"
            raise Fault(ErrorCode.DOMAIN, message)
        characters = text.replace(" ", "").replace("-", "").upper()
        if self._form.fullmatch(characters) is None:
            raise WrongForm(ErrorCode.DOMAIN, f"{self._wanted} expected")
        return characters


class CheckDigits(NamedTuple):
    """A function: `compute` gets what its parameters read. A test gives a bool, any other function text."""

    parameters: tuple[Parameter, ...]
    compute: Callable[..., str | bool]
    is_test: bool = False


def _isbn10_digit(p: str) -> str:
    remainder = -sum(map(mul, range(10, 1, -1), map(int, p))) % 11
    return "X" if remainder == 10 else str(remainder)


def _isbn10_valid(n: str) -> bool:
    return _isbn10_digit(n[:9]) == n[9]


def _ean13_digit(p: str) -> str:
    return str(require_stdnum().ean.calc_check_digit(p))


def _ean13_valid(n: str) -> bool:
    return _ean13_digit(n[:12]) == n[12]


def _iban_digits(c: str, b: str) -> str:
    return str(require_stdnum().mod_97_10.calc_check_digits(b + c))


_NEVER_IBAN_DIGITS = ("00", "01", "99")  # they have the remainders of 97, 98 and 02, which a computation gives


def _iban_valid(n: str) -> bool:
    head, account = n[:4], n[4:]
    return head[2:] not in _NEVER_IBAN_DIGITS and bool(require_stdnum().mod_97_10.checksum(account + head) == 1)


_EXACT_DIGITS = 640  # what every setting of the interpreter's limit on integer conversion allows
_STEP = _EXACT_DIGITS - 2  # a remainder has two digits


def _mod97(d: str) -> str:
    remainder = 0
    for start in range(0, len(d), _STEP):
        remainder = int(f"{remainder}{d[start : start + _STEP]}") % 97
    return str(remainder)


def _digits(form: str, wanted: str) -> Parameter:
    return Parameter("[0-9]", form, "the digits 0 to 9", wanted)


def _letters_and_digits(form: str, wanted: str) -> Parameter:
    return Parameter("[0-9A-Za-z]", form, "digits, the letters A to Z in either case,", wanted)


_NUMBER = _digits("[0-9]+", "one digit or more is")
_NUMBER_AND_DIGIT = _digits("[0-9]{2,}", "two digits or more are")

CHECK_DIGITS: Mapping[str, CheckDigits] = MappingProxyType(
    {
        "damm_digit": CheckDigits((_NUMBER,), lambda p: str(require_stdnum().damm.calc_check_digit(p))),
        "damm_valid": CheckDigits(
            (_NUMBER_AND_DIGIT,), lambda n: bool(require_stdnum().damm.checksum(n) == 0), is_test=True
        ),
        "ean13_digit": CheckDigits((_digits("[0-9]{12}", "12 digits are"),), _ean13_digit),
        "ean13_valid": CheckDigits((_digits("[0-9]{13}", "13 digits are"),), _ean13_valid, is_test=True),
        "iban_digits": CheckDigits(
            (
                Parameter("[A-Za-z]", "[A-Z]{2}", "the letters A to Z, in either case,", "a country of two letters is"),
                _letters_and_digits("[0-9A-Z]{1,30}", "an account of 1 to 30 letters and digits is"),
            ),
            _iban_digits,
        ),
        "iban_valid": CheckDigits(
            (_letters_and_digits("[A-Z]{2}[0-9]{2}[0-9A-Z]{1,30}", "an IBAN of 5 to 34 letters and digits is"),),
            _iban_valid,
            is_test=True,
        ),
        "isbn10_digit": CheckDigits((_digits("[0-9]{9}", "9 digits are"),), _isbn10_digit),
        "isbn10_valid": CheckDigits(
            (Parameter("[0-9X]", "[0-9]{9}[0-9X]", "the digits 0 to 9, a capital X", "10 characters are"),),
            _isbn10_valid,
            is_test=True,
        ),
        "isbn13_digit": CheckDigits((_digits("97[89][0-9]{9}", "12 digits from 978 or 979 on are"),), _ean13_digit),
        "isbn13_valid": CheckDigits(
            (_digits("97[89][0-9]{10}", "13 digits from 978 or 979 on are"),), _ean13_valid, is_test=True
        ),
        "luhn_digit": CheckDigits((_NUMBER,), lambda p: str(require_stdnum().luhn.calc_check_digit(p))),
        "luhn_valid": CheckDigits(
            (_NUMBER_AND_DIGIT,), lambda n: bool(require_stdnum().luhn.checksum(n) == 0), is_test=True
        ),
        "mod97": CheckDigits((_NUMBER,), _mod97),
        "verhoeff_digit": CheckDigits((_NUMBER,), lambda p: str(require_stdnum().verhoeff.calc_check_digit(p))),
        "verhoeff_valid": CheckDigits(
            (_NUMBER_AND_DIGIT,), lambda n: bool(require_stdnum().verhoeff.checksum(n) == 0), is_test=True
        ),
    }
)
"""The functions by name."""
