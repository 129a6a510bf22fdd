"""checksums/1 against others: crccheck, zlib, hashlib and python-stdnum. The module and the reference alike."""

import hashlib
import zlib
from collections.abc import Callable, Iterator

import pytest
from crccheck import crc
from hypothesis import given, settings
from hypothesis import strategies as st
from stdnum import damm, ean, iban, isbn, luhn, verhoeff
from stdnum.iso7064 import mod_97_10

from evalspan.evaluators import Evaluators, Outcome, Value
from evalspan.evaluators.in_process.checksums import evaluate
from evalspan.policies import ErrorCode, Registry

Answer = Callable[[str], Outcome]

REGISTRY = """
version = 1
[policy.default]
max_input_bytes = 16384
[[evaluator]]
name = "checksums"
builtin = "checksums/1"
"""

CRCS = {
    "crc16_arc": crc.Crc16Arc,
    "crc16_ccitt_false": crc.Crc16Ibm3740,
    "crc16_modbus": crc.Crc16Modbus,
    "crc16_xmodem": crc.Crc16Xmodem,
    "crc32": crc.Crc32IsoHdlc,
    "crc32c": crc.Crc32Iscsi,
}


@pytest.fixture(scope="module", params=["module", "reference"])
def answer(request: pytest.FixtureRequest) -> Iterator[Answer]:
    """What answers: the wasm module, or the reference in Python."""
    if request.param == "reference":
        yield lambda text: evaluate(text.encode(), {"max_input_bytes": 16_384})
        return
    with Evaluators(Registry.parse(REGISTRY)) as evaluators:
        yield lambda text: evaluators.evaluate("checksums", text.encode())


def value(outcome: Outcome) -> str:
    assert isinstance(outcome, Value) and outcome.exact, outcome
    return outcome.text


def escaped(text: str) -> str:
    """The characters as a literal of nothing but escapes."""
    units = text.encode("utf-16-be").hex()
    return '"' + "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)) + '"'


laws = settings(deadline=None)  # the first example compiles the module
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
digits = st.text("0123456789", min_size=1, max_size=60)
ten, thirteen = (st.text("0123456789", min_size=length, max_size=length) for length in (10, 13))


@pytest.mark.parametrize("name", CRCS)
def test_crccheck_has_these_check_values(answer: Answer, name: str) -> None:
    algorithm = CRCS[name]
    text = bytes(algorithm.check_data()).decode()
    assert value(answer(f'{name}("{text}")')) == f"{algorithm.check_result():0{algorithm.width() // 4}x}"


@given(texts)
@laws
def test_crccheck_has_the_same_crcs(answer: Answer, text: str) -> None:
    literal, data = escaped(text), text.encode()
    for name, algorithm in CRCS.items():
        assert value(answer(f"{name}({literal})")) == algorithm.calchex(data)


@given(texts)
@laws
def test_the_standard_library_has_the_same_digests(answer: Answer, text: str) -> None:
    literal, data = escaped(text), text.encode()
    for name in ("md5", "sha1", "sha256", "sha512"):
        assert value(answer(f"{name}({literal})")) == hashlib.new(name, data, usedforsecurity=False).hexdigest()
    assert int(value(answer(f"crc32({literal})")), 16) == zlib.crc32(data)
    assert int(value(answer(f"adler32({literal})")), 16) == zlib.adler32(data)


@pytest.mark.parametrize("length", range(130))
def test_hashlib_pads_messages_of_every_length_alike(answer: Answer, length: int) -> None:
    text = "".join(chr(0x21 + (7 * at) % 2) for at in range(length))  # `!` and `"`: the second is escaped
    for name in ("md5", "sha1", "sha256", "sha512"):
        wanted = hashlib.new(name, text.encode(), usedforsecurity=False).hexdigest()
        assert value(answer(f"{name}({escaped(text)})")) == wanted


@given(digits)
@laws
def test_stdnum_has_the_same_luhn_verhoeff_and_damm_digits(answer: Answer, p: str) -> None:
    for name, algorithm in (("luhn", luhn), ("verhoeff", verhoeff), ("damm", damm)):
        digit = algorithm.calc_check_digit(p)
        assert value(answer(f'{name}_digit("{p}")')) == digit
        assert value(answer(f'{name}_valid("{p}{digit}")')) == "true"
        if len(p) > 1:
            assert value(answer(f'{name}_valid("{p}")')) == str(algorithm.is_valid(p)).lower()


@given(ten, st.sampled_from("0123456789X"))
@laws
def test_stdnum_finds_the_same_isbn_10s_valid(answer: Answer, number: str, last: str) -> None:
    nine = number[:9]
    assert value(answer(f'isbn10_valid("{nine}{last}")')) == str(isbn.is_valid(nine + last)).lower()
    digit = value(answer(f'isbn10_digit("{nine}")'))
    assert isbn.isbn_type(nine + digit) == "ISBN10"
    longer = isbn.to_isbn13(nine + digit)
    assert value(answer(f'isbn13_digit("{longer[:12]}")')) == longer[12]
    assert isbn.to_isbn10(longer) == nine + digit


@given(thirteen, st.sampled_from(["", "978", "979"]))
@laws
def test_stdnum_finds_the_same_ean_13s_and_isbn_13s_valid(answer: Answer, number: str, prefix: str) -> None:
    number = (prefix + number)[:13]
    for n in (number, number[:12] + ean.calc_check_digit(number[:12])):
        assert value(answer(f'ean13_valid("{n}")')) == str(ean.is_valid(n)).lower()
        assert value(answer(f'isbn13_valid("{n}")')) == str(isbn.is_valid(n)).lower()
    assert value(answer(f'ean13_digit("{number[:12]}")')) == ean.calc_check_digit(number[:12])


@given(st.from_regex(r"\A[A-Z]{2}\Z"), st.from_regex(r"\A[0-9]{2}\Z"), st.from_regex(r"\A[0-9A-Z]{1,30}\Z"))
@laws
def test_stdnum_has_the_same_check_digits_of_ibans(answer: Answer, country: str, pair: str, account: str) -> None:
    digits = iban.calc_check_digits(f"{country}00{account}")
    assert value(answer(f'iban_digits("{country}", "{account}")')) == digits
    for two in (pair, digits):
        right = mod_97_10.is_valid(account + country + two) and two not in ("00", "01", "99")
        assert value(answer(f'iban_valid("{country}{two}{account}")')) == str(right).lower()


# Examples of the IBAN registry, of 15 to 31 characters. stdnum knows the account numbers of some countries too, and
# would refuse the Belgian one, whose bank does not exist.
IBANS = """
    NO93 8601 1117 947, BE68 5390 0754 7034, DK50 0040 0440 1162 43, NL91 ABNA 0417 1643 00, AT61 1904 3002 3457 3201,
    CH93 0076 2011 6238 5295 7, DE89 3704 0044 0532 0130 00, GB29 NWBK 6016 1331 9268 19, ES91 2100 0418 4502 0005 1332,
    PT50 0002 0123 1234 5678 9015 4, IS14 0159 2600 7654 5510 7303 39, FR14 2004 1010 0505 0001 3M02 606,
    PL61 1090 1014 0000 0712 1981 2874, BR97 0036 0305 0000 1000 9795 493P 1, MT84 MALT 0110 0001 2345 MTLC AST0 01S
"""


@pytest.mark.parametrize("number", [number.strip() for number in IBANS.split(",")])
def test_stdnum_finds_the_same_ibans_of_the_registry_valid(answer: Answer, number: str) -> None:
    assert iban.is_valid(number, check_country=False)
    assert value(answer(f'iban_valid("{number}")')) == "true"
    assert value(answer(f'iban_digits("{number[:2]}", "{number[5:]}")')) == number[2:4]


@given(digits)
@laws
def test_integers_have_the_same_remainder(answer: Answer, d: str) -> None:
    assert value(answer(f'mod97("{d}")')) == str(int(d) % 97)


@pytest.mark.parametrize("name", ["crc8", "crc16"])
def test_crccheck_has_many_crcs_of_the_families_that_have_no_answer(answer: Answer, name: str) -> None:
    values = {algorithm.check_result() for algorithm in crc.find(width=int(name[3:]))}
    assert len(values) > 5
    outcome = answer(f'{name}("123456789")')
    assert not isinstance(outcome, Value) and outcome.code is ErrorCode.UNSUPPORTED
