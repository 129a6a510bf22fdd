"""checksums/1 in Python: the definitions of its page, and laws that hold for every input."""

import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalspan.evaluators.errors import EvaluatorUnavailable
from evalspan.evaluators.in_process.check_digits import CHECK_DIGITS, require_stdnum
from evalspan.evaluators.in_process.checksums import evaluate
from evalspan.evaluators.in_process.digests import DIGESTS, require_crccheck
from evalspan.evaluators.outcome import Failure, Value
from evalspan.policies.errors import ErrorCode

PAGE = Path(__file__).parents[2].joinpath("docs", "operators", "checksums.md").read_text(encoding="utf-8")
CRCS = re.findall(r"^\| `(crc\w+)` \| (\w+) \| (\w+) \| (yes|no) \| (\w+) \| (\w+) \|$", PAGE, re.MULTILINE)
DAMM = re.findall(r"\b[0-9]{10}\b", PAGE.split("- **Damm.**", 1)[1].split("\n- ", 1)[0])
VERHOEFF = {int(a): int(b) for a, b in re.findall("([0-9])→([0-9])", PAGE)}

WIDE = {"max_input_bytes": 16_384, "max_result_bytes": 16_384}
NEEDS_ESCAPE = re.compile(r"[\\\x00-\x1f\x7f-\x9f]")
SHORT_ESCAPES = {'"': '\\"', "'": "\\'", "\\": "\\\\", "/": "\\/"}
SHORT_ESCAPES |= {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}

require_stdnum()  # importing takes longer than hypothesis lets an example take

texts = st.text(st.characters(exclude_categories=["Cs"]))
digits = st.text("0123456789", min_size=1, max_size=40)
chances = st.randoms(use_true_random=False)


def spelt(text: str, chance: random.Random | None = None) -> str:
    """A literal of the text, each character as it is or escaped, by `chance` where both are right."""
    quote = chance.choice("\"'") if chance else '"'
    return quote + "".join(_spelt(one, quote, chance) for one in text) + quote


def _spelt(one: str, quote: str, chance: random.Random | None) -> str:
    must = one == quote or NEEDS_ESCAPE.match(one) is not None
    if not must and (chance is None or chance.random() < 0.7):
        return one
    if one in SHORT_ESCAPES and (chance is None or chance.random() < 0.5):
        return SHORT_ESCAPES[one]
    units = one.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def call(name: str, *arguments: str) -> bytes:
    return f"{name}({', '.join(map(spelt, arguments))})".encode()


def shown(name: str, *arguments: str) -> str:
    outcome = evaluate(call(name, *arguments), WIDE)
    assert isinstance(outcome, Value) and outcome.exact, outcome
    return outcome.text


def failure(name: str, *arguments: str) -> tuple[ErrorCode, int]:
    outcome = evaluate(call(name, *arguments), WIDE)
    assert isinstance(outcome, Failure), outcome
    return outcome.code, outcome.offset


def grouped(text: str, chance: random.Random) -> str:
    """The text with single separators between some of its characters."""
    return text[:1] + "".join(chance.choice([one, one, f" {one}", f"-{one}"]) for one in text[1:])


def reversed_bits(number: int, width: int) -> int:
    return int(f"{number:0{width}b}"[::-1], 2)


def remainder(data: bytes, polynomial: int, initial: int, reflected: bool, final: int, width: int) -> int:
    """A CRC by long division, one bit after the other."""
    state = initial
    for byte in data:
        state ^= (reversed_bits(byte, 8) if reflected else byte) << (width - 8)
        for _ in range(8):
            state <<= 1
            if state >> width:
                state ^= 1 << width | polynomial
    return (reversed_bits(state, width) if reflected else state) ^ final


@pytest.mark.parametrize("row", CRCS, ids=lambda row: row[0])
@given(texts)
def test_a_crc_is_the_remainder_that_the_page_defines(row: tuple[str, ...], text: str) -> None:
    name, polynomial, initial, reflected, final, check = row
    width = 4 * len(polynomial)
    numbers = int(polynomial, 16), int(initial, 16), reflected == "yes", int(final, 16), width
    assert f"{remainder(b'123456789', *numbers):0{width // 4}x}" == check == shown(name, "123456789")
    assert f"{remainder(text.encode(), *numbers):0{width // 4}x}" == shown(name, text)


@given(texts)
def test_adler32_is_two_sums_modulo_65521(text: str) -> None:
    data = text.encode()
    second = len(data) + sum((len(data) - at) * byte for at, byte in enumerate(data))
    assert shown("adler32", text) == f"{second % 65521:04x}{(1 + sum(data)) % 65521:04x}"


@pytest.mark.parametrize(("bits", "prime"), [(32, 2**24 + 2**8 + 0x93), (64, 2**40 + 2**8 + 0xB3)])
@given(texts)
def test_fnv1a_starts_from_the_fnv0_of_its_authors_signature(bits: int, prime: int, text: str) -> None:
    state = 0
    for byte in b"chongo <Landon Curt Noll> /\\../\\":
        state = state * prime % 2**bits ^ byte
    for byte in text.encode():
        state = (state ^ byte) * prime % 2**bits
    assert shown(f"fnv1a{bits}", text) == f"{state:0{bits // 4}x}"


def test_the_page_has_these_functions_with_these_widths() -> None:
    rows = re.findall(r"^\| (`\w+\(s\)`.*?) \| .* \| ([0-9, ]+) \| .* \|$", PAGE, re.MULTILINE)
    bits = {
        name: int(width)
        for names, widths in rows
        for name, width in zip(re.findall(r"(\w+)\(s\)", names), widths.split(", "), strict=True)
    }
    assert bits == {name: 4 * digest.width for name, digest in DIGESTS.items()}
    section = PAGE.split("## Check digits", 1)[1]
    arities = {name: len(taken.split(",")) for name, taken in re.findall(r"^\| `(\w+)\((.*?)\)` ", section, re.M)}
    assert arities == {name: len(function.parameters) for name, function in CHECK_DIGITS.items()}
    assert len(CRCS) == 6


@given(texts)
def test_every_digest_has_its_full_width_in_lowercase(text: str) -> None:
    for name, digest in DIGESTS.items():
        assert re.fullmatch(f"[0-9a-f]{{{digest.width}}}", shown(name, text))


@given(texts, chances)
def test_the_spelling_of_a_literal_and_white_space_change_nothing(text: str, chance: random.Random) -> None:
    tokens = ["", "crc32", "(", spelt(text, chance), ")"]
    spaced = "".join(token + "".join(chance.choices(" \t\r\n", k=chance.randrange(3))) for token in tokens)
    assert evaluate(spaced.encode(), WIDE) == evaluate(call("crc32", text), WIDE)


def luhn(p: str) -> int:
    return -sum(sum(divmod((2 - at % 2) * int(digit), 10)) for at, digit in enumerate(reversed(p))) % 10


def product(j: int, k: int) -> int:
    """In the dihedral group of order 10, as the page has it."""
    if k < 5:
        return (j + k) % 5 if j < 5 else 5 + (j - k) % 5
    return 5 + (j + k) % 5 if j < 5 else (j - k) % 5


def verhoeff(n: str) -> int:
    """The product of all digits, the check digit included."""
    result = 0
    for at, digit in enumerate(reversed(n)):
        power = int(digit)
        for _ in range(at % 8):
            power = VERHOEFF[power]
        result = product(result, power)
    return result


def damm(p: str) -> int:
    interim = 0
    for digit in p:
        interim = int(DAMM[interim][int(digit)])
    return interim


@given(digits)
def test_luhn_verhoeff_and_damm_are_what_the_page_defines(p: str) -> None:
    assert shown("luhn_digit", p) == str(luhn(p))
    assert shown("damm_digit", p) == str(damm(p))
    assert verhoeff(p + shown("verhoeff_digit", p)) == 0


@given(st.text("0123456789", min_size=9, max_size=9), st.text("0123456789", min_size=12, max_size=12))
def test_isbn_and_ean_digits_complete_a_weighted_sum(nine: str, twelve: str) -> None:
    last = shown("isbn10_digit", nine)
    numbers = [*map(int, nine), 10 if last == "X" else int(last)]
    assert sum(weight * number for weight, number in zip(range(10, 0, -1), numbers, strict=True)) % 11 == 0
    for name, prefixes in (("ean13_digit", [twelve[:3]]), ("isbn13_digit", ["978", "979"])):
        for prefix in prefixes:
            whole = prefix + twelve[3:] + shown(name, prefix + twelve[3:])
            assert sum((1, 3)[at % 2] * int(digit) for at, digit in enumerate(whole)) % 10 == 0


PREFIXES = {
    "luhn": digits,
    "verhoeff": digits,
    "damm": digits,
    "isbn10": st.from_regex(r"\A[0-9]{9}\Z"),
    "isbn13": st.from_regex(r"\A97[89][0-9]{9}\Z"),
    "ean13": st.from_regex(r"\A[0-9]{12}\Z"),
}
prefixes = st.sampled_from(sorted(PREFIXES)).flatmap(lambda scheme: st.tuples(st.just(scheme), PREFIXES[scheme]))


@given(prefixes)
def test_one_check_digit_is_right(prefix: tuple[str, str]) -> None:
    scheme, p = prefix
    candidates = "0123456789X" if scheme == "isbn10" else "0123456789"
    right = [last for last in candidates if shown(f"{scheme}_valid", p + last) == "true"]
    assert right == [shown(f"{scheme}_digit", p)]


@given(prefixes, st.data())
def test_one_wrong_digit_is_always_found(prefix: tuple[str, str], data: st.DataObject) -> None:
    scheme, p = prefix
    n = p + shown(f"{scheme}_digit", p)
    at = data.draw(st.integers(0, len(p) - 1))
    digit = data.draw(st.sampled_from("0123456789").filter(lambda digit: digit != n[at]))
    assert shown(f"{scheme}_valid", n[:at] + digit + n[at + 1 :]) == "false"


@given(prefixes.filter(lambda prefix: prefix[0] in ("verhoeff", "damm", "isbn10")), st.data())
def test_two_neighbours_that_change_places_are_found(prefix: tuple[str, str], data: st.DataObject) -> None:
    scheme, p = prefix
    n = p + shown(f"{scheme}_digit", p)
    at = data.draw(st.integers(0, len(p) - 1))
    swapped = n[:at] + n[at + 1] + n[at] + n[at + 2 :]
    assert shown(f"{scheme}_valid", swapped) == ("true" if swapped == n else "false")


@given(prefixes, chances)
def test_separators_between_groups_count_for_nothing(prefix: tuple[str, str], chance: random.Random) -> None:
    scheme, p = prefix
    digit = shown(f"{scheme}_digit", p)
    assert shown(f"{scheme}_digit", grouped(p, chance)) == digit
    assert shown(f"{scheme}_valid", grouped(p + digit, chance)) == "true"


IN_ORDER = {name: ("GB", "1") if name == "iban_digits" else ("11",) for name in CHECK_DIGITS}
alphabets = {
    "isbn10_valid": "0123456789X",
    "iban_valid": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "iban_digits": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
}


@pytest.mark.parametrize("name", CHECK_DIGITS)
@given(st.data())
def test_what_is_no_group_of_the_alphabet_is_domain_at_its_literal(name: str, data: st.DataObject) -> None:
    alphabet = alphabets.get(name, "0123456789")
    good = data.draw(st.text(alphabet, min_size=1, max_size=20))
    close = st.sampled_from("xX/:@[`{１٣²ſı\t\u00a0\u2010\u2212+.,_\0").filter(lambda one: one not in alphabet)
    foreign = close | st.characters(exclude_categories=["Cs"], exclude_characters=alphabet + " -")
    at = data.draw(st.integers(0, len(good)))
    bad = data.draw(
        st.sampled_from(["", " ", "-", f" {good}", f"-{good}", f"{good} ", f"{good}-", f"{good}  {good}"])
        | st.sampled_from([f"{good}--{good}", f"{good} -{good}", f"{good}- {good}"])
        | foreign.map(lambda one: good[:at] + one + good[at:])
    )
    assert failure(name, bad, *IN_ORDER[name][1:]) == (ErrorCode.DOMAIN, len(name) + 1)
    if name == "iban_digits":
        assert failure(name, "GB", "  ") == (ErrorCode.DOMAIN, len('iban_digits("GB", '))


@given(st.sampled_from(["isbn10", "isbn13", "ean13"]), st.text("0123456789", min_size=1, max_size=20))
def test_a_wrong_length_is_false_or_domain(scheme: str, n: str) -> None:
    right = int(scheme[-2:])
    if len(n) != right:
        assert shown(f"{scheme}_valid", n) == "false"
    if len(n) != right - 1:
        assert failure(f"{scheme}_digit", n) == (ErrorCode.DOMAIN, len(f"{scheme}_digit("))


@pytest.mark.parametrize("scheme", ["luhn", "verhoeff", "damm"])
def test_one_digit_alone_has_none_to_check(scheme: str) -> None:
    assert {shown(f"{scheme}_valid", digit) for digit in "0123456789"} == {"false"}


@given(st.text("ABCXYZ", min_size=2, max_size=2), st.from_regex(r"\A[0-9A-Z]{1,30}\Z"), chances)
def test_an_iban_has_one_pair_of_check_digits(country: str, account: str, chance: random.Random) -> None:
    pair = shown("iban_digits", country, account)
    pairs = [f"{number:02}" for number in range(100)]
    assert [two for two in pairs if shown("iban_valid", country + two + account) == "true"] == [pair]
    assert 2 <= int(pair) <= 98
    number = "".join(chance.choice([one, one.lower()]) for one in country + pair + account)
    assert shown("iban_valid", grouped(number, chance)) == "true"
    assert shown("iban_digits", country.lower(), grouped(account.lower(), chance)) == pair


@given(st.from_regex(r"\A[0-9A-Z]{1,30}\Z"), st.data())
def test_an_iban_with_one_wrong_digit_is_false(account: str, data: st.DataObject) -> None:
    n = "GB" + shown("iban_digits", "GB", account) + account
    at = data.draw(st.sampled_from([at for at, one in enumerate(n) if one.isdigit()]))
    digit = data.draw(st.sampled_from("0123456789").filter(lambda digit: digit != n[at]))
    assert shown("iban_valid", n[:at] + digit + n[at + 1 :]) == "false"


@given(digits)
def test_mod97_is_the_remainder_of_the_number(d: str) -> None:
    assert shown("mod97", d) == str(int(d) % 97)


@pytest.fixture
def shortest_integers() -> Iterator[None]:
    """The least that the interpreter's limit on integer conversion can be."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(sys.int_info.str_digits_check_threshold)
    yield
    sys.set_int_max_str_digits(before)


@pytest.mark.parametrize("length", [637, 638, 639, 640, 641, 1276, 1277, 4300, 4301, 16_000])
def test_mod97_takes_more_digits_than_python_reads_at_once(length: int, shortest_integers: None) -> None:
    ones = (pow(10, length, 9 * 97) - 1) // 9 % 97  # 111…1 is (10**length - 1) / 9
    assert shown("mod97", "1" * length) == str(ones)
    nines = (pow(10, length, 97) - 1) % 97
    assert shown("mod97", "9" * length) == str(nines)


CALLS = [(name, "abc") for name in DIGESTS] + [("luhn_valid", "18"), ("luhn_valid", "19"), ("mod97", "96")]


@pytest.mark.parametrize("asked", CALLS, ids=" ".join)
def test_a_result_over_its_limit_is_too_large_and_one_at_it_is_not(asked: tuple[str, ...]) -> None:
    length = len(shown(*asked))
    assert isinstance(evaluate(call(*asked), {"max_result_bytes": length}), Value)
    over = evaluate(call(*asked), {"max_result_bytes": length - 1})
    assert isinstance(over, Failure) and (over.code, over.offset) == (ErrorCode.TOO_LARGE, 0)


@pytest.mark.parametrize("name", ["crc8", "crc16"])
def test_a_family_names_the_functions_that_have_an_answer(name: str) -> None:
    outcome = evaluate(call(name, "a"), {})
    assert isinstance(outcome, Failure)
    assert (outcome.code, outcome.offset, outcome.piece_length) == (ErrorCode.UNSUPPORTED, 0, len(name))
    assert {row[0] for row in CRCS} == {word for word in re.findall(r"\w+", outcome.message) if word in DIGESTS}


FRAGMENTS = [*DIGESTS, *CHECK_DIGITS, "crc16", "(", ")", ",", '"', "'", "\\", "\\u", "\\ud83d", "\\ude00", "12", " "]
ENCODED = [*(fragment.encode() for fragment in FRAGMENTS), b'("12")', b'("GB", "12")', b"\xff", b"\xe2\x82", b"\0"]
inputs = st.lists(st.sampled_from(ENCODED), max_size=12).map(b"".join) | st.binary(max_size=40)


@given(inputs | texts.map(lambda text: call("luhn_digit", text)))
def test_a_failure_is_typed_inside_the_input_and_never_quotes_it(data: bytes) -> None:
    outcome = evaluate(data, {})
    if isinstance(outcome, Failure):
        assert not outcome.code.from_host_only
        assert 0 <= outcome.offset <= len(data)
        assert outcome.piece_length <= 32
        assert outcome.offset + outcome.piece_length <= len(data)
        assert outcome.message.isprintable() and len(outcome.message.encode()) <= 200
        echo = evaluate(data.replace(b"1", b"<"), {})
        assert isinstance(echo, Value) or "<" not in echo.message


def test_a_long_literal_is_cut_on_a_character_boundary() -> None:
    outcome = evaluate(call("luhn_valid", "é" * 40), {})
    assert isinstance(outcome, Failure)
    assert (outcome.offset, outcome.piece_length) == (11, 31)  # the quote and 15 characters of two bytes


@pytest.mark.parametrize("name", [*DIGESTS, *CHECK_DIGITS])
def test_the_longest_input_is_answered_in_bounded_time(name: str) -> None:
    start = perf_counter()
    for unit in ("7", "7 ", "\\u0037"):
        evaluate(f'{name}("{unit * (16_350 // len(unit))}7")'.encode(), WIDE)
    assert perf_counter() - start < 1  # a few milliseconds in fact


@pytest.mark.parametrize(
    ("module", "distribution"), [("crccheck.crc", "crccheck"), ("stdnum.iso7064.mod_97_10", "python-stdnum")]
)
def test_a_missing_library_is_named(module: str, distribution: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    require_crccheck.cache_clear()
    require_stdnum.cache_clear()
    try:
        with pytest.raises(EvaluatorUnavailable, match=rf"{distribution} is missing: .*evalspan\[reference\]"):
            evaluate(call("md5", "a"), {})
    finally:
        require_crccheck.cache_clear()
        require_stdnum.cache_clear()
