"""Outside data for the tests, and what happens where it is missing."""

from __future__ import annotations

import os
import re
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import NoReturn

import pytest

__all__ = ["BREAK_TEST", "DecimalCase", "break_test_rows", "decimal_cases", "icu_clusters", "unavailable"]

BREAK_TEST = Path("/usr/share/unicode/auxiliary/GraphemeBreakTest.txt")
"""Unicode's own test of grapheme clusters, where Debian's unicode-data has it."""


def unavailable(reason: str, *, installable: bool = True) -> NoReturn:
    """Skips the test with the reason, or fails it where the oracle must be there.

    That is wherever EVALSPAN_ORACLES=required says so and, if a package of Debian or PyPI has it (`installable`), in
    continuous integration.
    """
    required = os.environ.get("EVALSPAN_ORACLES") == "required" or (installable and os.environ.get("CI"))
    (pytest.fail if required else pytest.skip)(reason)


def break_test_rows() -> Iterator[list[str]]:
    """The clusters of each row of BREAK_TEST."""
    if not BREAK_TEST.exists():
        unavailable(f"{BREAK_TEST} is missing: Debian's package unicode-data has it")
    for line in BREAK_TEST.read_text(encoding="utf-8").splitlines():
        row = line.split("#")[0].strip()
        if row:
            parts = row.strip("÷ ").split("÷")
            yield ["".join(chr(int(code, 16)) for code in part.replace("×", " ").split()) for part in parts]


def icu_clusters(text: str) -> list[str]:
    """The clusters of a text by ICU 78, which has Unicode 17.0."""
    try:
        import icu4py
        from icu4py.breakers import CharacterBreaker
    except ImportError:
        unavailable("icu4py is not installed: pip install --group oracles")
    if not icu4py.icu_version.startswith("78."):
        unavailable(f"icu4py has ICU {icu4py.icu_version}; ICU 78 has Unicode 17.0")
    return list(CharacterBreaker(text, "root"))


@dataclass(frozen=True, slots=True)
class DecimalCase:
    """A case of a `.decTest` file whose operands are numbers and whose result, a number too, is exact."""

    id: str
    operands: tuple[Decimal, ...]
    result: Decimal | None
    """None where there is none because of a division by 0."""


_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def decimal_cases(operation: str) -> list[DecimalCase]:
    """The exact cases of an operation in CPython's copy of the General Decimal Arithmetic test cases.

    An arithmetic without limits has the same answers: a case that was rounded, overflowed or has operands that are
    no numbers is left out, and so are the files for the subset arithmetic, which rounds its operands.
    """
    files = sorted(_decimal_test_folder().glob("*.decTest"))
    return [case for path in files for case in _exact_cases(path, operation)]


def _decimal_test_folder() -> Path:
    # Debian splits the tests off, into libpython3.x-testsuite, for its own Python only.
    for stdlib in (Path(sysconfig.get_path("stdlib")), *sorted(Path("/usr/lib").glob("python3.*"))):
        folder = stdlib / "test" / "decimaltestdata"
        if (folder / "add.decTest").exists():
            return folder
    unavailable("this Python has no test/decimaltestdata: Debian's package libpython3.x-testsuite has it")


def _exact_cases(path: Path, operation: str) -> Iterator[DecimalCase]:
    extended = True
    for line in path.read_text(encoding="latin-1").splitlines():
        words = line.split("--")[0].replace("'", "").replace('"', "").split()
        if words[:1] and words[0].lower() == "extended:":
            extended = words[1] == "1"
        if "->" not in words or words[1].lower() != operation or not extended:
            continue
        arrow = words.index("->")
        operands, result, conditions = words[2:arrow], words[arrow + 1], {word.lower() for word in words[arrow + 2 :]}
        if not all(map(_NUMBER.fullmatch, operands)):
            continue
        by_zero = conditions & {"division_by_zero", "division_undefined"}
        if by_zero or (not conditions & {"inexact", "invalid_operation"} and _NUMBER.fullmatch(result)):
            try:
                numbers = tuple(map(Decimal, operands))
                yield DecimalCase(words[0], numbers, None if by_zero else Decimal(result))
            except InvalidOperation:  # an exponent that Decimal itself cannot hold
                continue
