"""strings/1 in Python: laws that hold for every input, against lists of clusters and characters."""

import hashlib
import json
import sys
import tomllib
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from evalspan.conformance.vectors import builtin_suites
from evalspan.evaluators.errors import EvaluatorUnavailable
from evalspan.evaluators.in_process import unicode_text
from evalspan.evaluators.in_process.string_functions import FUNCTIONS
from evalspan.evaluators.in_process.strings import OPTIONS, evaluate
from evalspan.evaluators.outcome import Failure, Value
from evalspan.policies.errors import ErrorCode

WIDE = {"max_input_bytes": 16384, "max_result_bytes": 16384}

# Letters with and without marks, parts of flags, of emoji and of conjuncts, Hangul, white space, controls, case.
LIVELY = (
    "ab eE\u0301\u0308\U0001f1e9\U0001f1ea\U0001f469\u200d\U0001f3fd\u0915\u094d\u1100\u1161\uac01\r\n"
    "\u00a0\u0600ΣσΑ.\u0345ßİ\"'\\"
)
texts = st.text(st.sampled_from(LIVELY) | st.characters(exclude_categories=["Cs"]), max_size=12)
needles = st.text(st.sampled_from("abe\u0301\U0001f1e9\U0001f1ea\r\n\u200d"), max_size=3)
haystacks = st.text(st.sampled_from("abe\u0301\U0001f1e9\U0001f1ea\r\n\u200d"), max_size=14)
integers = st.integers(-16, 16) | st.integers()


def clusters(text: str) -> list[str]:
    return regex.findall(r"\X", text)


def quoted(text: str) -> str:
    """A literal of `text`, with as few escapes as JSON takes."""
    plain = json.dumps(text, ensure_ascii=False)
    return "".join(f"\\u{ord(one):04x}" if unicodedata.category(one) == "Cc" else one for one in plain)


def call(name: str, *arguments: str | int) -> str:
    written = [quoted(one) if isinstance(one, str) else str(one) for one in arguments]
    return f"{name}({', '.join(written)})"


def answer(name: str, *arguments: str | int) -> str:
    """The text that a call gives, or the code of its error, which must be at the name."""
    outcome = evaluate(call(name, *arguments).encode(), WIDE)
    if isinstance(outcome, Value):
        assert outcome.exact
        return outcome.text
    assert outcome.offset == 0
    return f"error {outcome.code}"


def occurrences(parts: list[str], needle: list[str]) -> Iterator[int]:
    """Where `needle` stands in `parts`, from the left and without overlaps."""
    at = 0
    while at + len(needle) <= len(parts):
        if parts[at : at + len(needle)] == needle:
            yield at
            at += len(needle)
        else:
            at += 1


@given(texts)
def test_a_literal_is_the_text_it_spells_in_every_spelling(text: str) -> None:
    escaped = json.dumps(text)
    single = "'" + quoted(text)[1:-1].replace("'", "\\'") + "'"
    for literal in (quoted(text), escaped, single):
        assert evaluate(f"concat({literal})".encode(), WIDE) == Value(text)


@given(texts)
def test_the_three_lengths(text: str) -> None:
    assert answer("len", text) == str(len(clusters(text)))
    assert answer("codepoints", text) == str(len(text))
    assert answer("bytes", text) == str(len(text.encode()))


@given(texts, integers, integers)
def test_substr_slices_the_list_of_clusters(text: str, i: int, j: int) -> None:
    assert answer("substr", text, i, j) == "".join(clusters(text)[i:j])
    assert answer("substr", text, i) == "".join(clusters(text)[i:])


@given(texts, integers)
def test_nth_and_word_count_from_one_or_from_the_end(text: str, n: int) -> None:
    words = [word for word in regex.split(r"\p{White_Space}+", text) if word]
    for name, items in (("nth", clusters(text)), ("word", words)):
        index = n - 1 if n > 0 else n
        exists = n != 0 and -len(items) <= index < len(items)
        assert answer(name, text, n) == (items[index] if exists else "error domain")
    assert answer("words", text) == str(len(words))


@given(texts)
def test_trim_takes_white_space_characters_off_both_ends(text: str) -> None:
    assert answer("trim", text) == regex.sub(r"\A\p{White_Space}+|\p{White_Space}+\z", "", text)


@given(texts)
def test_functions_on_the_list_of_clusters(text: str) -> None:
    parts = clusters(text)
    assert answer("reverse", text) == "".join(reversed(parts))
    assert answer("sort", text) == "".join(sorted(parts, key=str.encode))
    assert answer("unique", text) == "".join(one for at, one in enumerate(parts) if one not in parts[:at])
    assert answer("is_palindrome", text) == ("true" if list(reversed(parts)) == parts else "false")


@given(haystacks, needles, texts)
@example("e\u0301e", "e", "x")
@example("\U0001f1e9\U0001f1ea\U0001f1ea\U0001f1e9", "\U0001f1ea\U0001f1ea", "x")
def test_searching_finds_whole_clusters(text: str, needle: str, put: str) -> None:
    parts, sought = clusters(text), clusters(needle)
    if not needle:
        assert {answer("count", text, ""), answer("find", text, ""), answer("replace", text, "", put)} == {
            "error domain"
        }
        assert {answer(name, text, "") for name in ("contains", "starts_with", "ends_with")} == {"true"}
        return
    found = list(occurrences(parts, sought))
    assert answer("count", text, needle) == str(len(found))
    assert answer("find", text, needle) == str(found[0] if found else -1)
    assert answer("contains", text, needle) == str(bool(found)).lower()
    assert answer("starts_with", text, needle) == str(parts[: len(sought)] == sought).lower()
    assert answer("ends_with", text, needle) == str(parts[-len(sought) :] == sought).lower()
    for at in reversed(found):
        parts[at : at + len(sought)] = [put]
    assert answer("replace", text, needle, put) == "".join(parts)


@given(texts, texts)
def test_strings_are_equal_where_their_bytes_are(s: str, t: str) -> None:
    assert answer("equals", s, t) == str(s.encode() == t.encode()).lower()
    assert answer("equals", s, s) == "true"
    assert answer("concat", s, t, s) == s + t + s


@given(texts, integers, texts)
def test_pads_and_repeat_do_what_they_say_or_are_too_large(text: str, n: int, c: str) -> None:
    if n < 0:
        assert answer("repeat", text, n) == "error domain"
    elif len(text.encode()) * n > 16384:
        assert answer("repeat", text, n) == "error too_large"
    else:
        assert answer("repeat", text, n) == (text * n if text else "")
    missing = max(n - len(clusters(text)), 0)
    left, right = answer("pad_left", text, n, c), answer("pad_right", text, n, c)
    if n < 0 or len(clusters(c)) != 1:
        assert left == right == "error domain"
    elif len(text.encode()) + missing * len(c.encode()) > 16384:
        assert left == right == "error too_large"
    else:
        assert (left, right) == (c * missing + text, text + c * missing)


@given(texts, st.integers(2, 40), st.integers(40, 80))  # a count of clusters has two digits
def test_the_limit_of_a_string_is_the_larger_of_the_two_limits(text: str, small: int, large: int) -> None:
    data = call("concat", text).encode()
    limits = {"max_input_bytes": max(len(data), large), "max_result_bytes": small}
    inner = evaluate(b"len(" + data + b")", {**limits, "max_input_bytes": limits["max_input_bytes"] + 5})
    assert inner == Value(str(len(clusters(text)))), "a call that lengthens nothing never fails for a literal"
    outer = evaluate(data, limits)
    if len(text.encode()) <= small:
        assert outer == Value(text)
    else:
        assert isinstance(outer, Failure)
        assert (outer.code, outer.offset) == (ErrorCode.TOO_LARGE, 0)


@given(st.integers(-(10**40), 10**40))
def test_an_integer_has_its_full_value(n: int) -> None:
    assert answer("nth", "abc", n) == ({1: "a", 2: "b", 3: "c", -1: "c", -2: "b", -3: "a"}.get(n, "error domain"))
    assert answer("repeat", "", n) == ("" if n >= 0 else "error domain")


pieces = st.sampled_from(
    [*FUNCTIONS, "(", ")", ",", '"a"', "'e\u0301'", '"', "'", "\\", "\\u12", "-", "0", "17", " ", "\n", "é", "\0"]
)
broken = st.lists(pieces, max_size=12).map(lambda parts: "".join(parts).encode()) | st.binary(max_size=20)


@given(broken)
def test_any_input_has_an_answer_and_an_error_points_into_it(data: bytes) -> None:
    outcome = evaluate(data, {})
    if isinstance(outcome, Failure):
        assert 0 <= outcome.offset <= len(data)
        assert outcome.offset + outcome.piece_length <= len(data)
        assert outcome.piece_length <= 32
        data[outcome.offset : outcome.offset + outcome.piece_length].decode()
        assert 0 < len(outcome.message.encode()) <= 200


@given(texts, st.data())
def test_a_valid_input_cut_short_is_a_syntax_error_at_its_end_or_its_last_token(text: str, data: st.DataObject) -> None:
    whole = call("substr", text, -1, 3).encode()
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    outcome = evaluate(cut, WIDE)
    assert isinstance(outcome, Failure)
    assert outcome.code is ErrorCode.SYNTAX
    assert outcome.offset >= len(cut) - 6, "the longest token that can be cut is a name or an escape"


@given(st.text(st.sampled_from(" \t\r\n"), max_size=3), st.text(st.sampled_from(" \t\r\n"), max_size=3))
def test_white_space_between_tokens_changes_nothing(one: str, two: str) -> None:
    tokens = ["repeat", "(", "'ab'", ",", "len", "(", '"xyz"', ")", ")"]
    spaced = one + two.join(tokens) + one
    assert evaluate(spaced.encode(), {}) == Value("ababab")


@given(st.lists(st.sampled_from("AΑ1 .\u0301\u0345\u02b0\u05d0\u1acf\U00016ea0ΣΣ"), max_size=8).map("".join))
def test_a_sigma_is_final_where_the_nearest_cased_character_stands_before_it_only(text: str) -> None:
    def cased(characters: str) -> bool:
        rest = regex.sub(r"\A\p{Case_Ignorable}+", "", characters)
        return bool(regex.match(r"\p{Cased}", rest))

    lowered = answer("lower", text)
    assert len(lowered) == len(text), "nothing here changes its length"
    for at, one in enumerate(text):
        if one == "Σ":
            final = cased(text[:at][::-1]) and not cased(text[at + 1 :])
            assert lowered[at] == ("ς" if final else "σ")


def scalars() -> Iterator[str]:
    return (chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF)


UNICODE = tomllib.loads((Path(__file__).parent / "unicode_17.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", UNICODE["sets"])
def test_a_property_of_regex_is_that_of_unicode_17(name: str) -> None:
    members = regex.findall(rf"\p{{{name}}}", "".join(scalars()))
    text = " ".join(f"{ord(one):x}" for one in members)
    assert hashlib.sha256(text.encode()).hexdigest() == UNICODE["sets"][name]


@pytest.mark.parametrize("name", UNICODE["mappings"])
def test_a_case_mapping_is_that_of_unicode_17_on_this_interpreter(name: str) -> None:
    function = getattr(unicode_text, name)
    changed = ((one, function(one)) for one in scalars())
    rows = [f"{ord(one):x}:{' '.join(f'{ord(c):x}' for c in to)}" for one, to in changed if to != one]
    assert hashlib.sha256("\n".join(rows).encode()).hexdigest() == UNICODE["mappings"][name]


def test_the_white_space_of_trim_and_words_is_the_property() -> None:
    candidates = [one for one in scalars() if unicodedata.category(one)[0] in "ZC" and one < "\ue000"]
    for one in candidates:
        white = regex.match(r"\p{White_Space}", one) is not None
        assert (unicode_text.trim(one) == "") == white
        assert (unicode_text.words(one) == []) == white


def test_the_vectors_have_every_function() -> None:
    assert set(builtin_suites()["strings/1"].functions) == set(FUNCTIONS)


@pytest.fixture
def fresh() -> Iterator[None]:
    """Libraries are looked for again, in the test and after it."""
    unicode_text.require_unicode.cache_clear()
    unicode_text._patterns.cache_clear()
    yield
    unicode_text.require_unicode.cache_clear()
    unicode_text._patterns.cache_clear()


@pytest.mark.usefixtures("fresh")
def test_without_regex_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "regex", None)
    with pytest.raises(EvaluatorUnavailable, match=r"evalspan\[reference\]"):
        evaluate(b'len("plain text too")', {})


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("unassigned", [r"[\u1acf\u0558]", r"[^\u1acf\u0558]"], ids=["too old", "too new"])
def test_a_regex_of_another_unicode_version_is_refused(monkeypatch: pytest.MonkeyPatch, unassigned: str) -> None:
    other = SimpleNamespace(__version__="0", compile=lambda pattern: regex.compile(unassigned))
    monkeypatch.setitem(sys.modules, "regex", other)
    with pytest.raises(EvaluatorUnavailable, match=r"not of Unicode 17\.0"):
        evaluate(b'len("a")', {})


@pytest.mark.usefixtures("fresh")
def test_an_interpreter_of_a_later_unicode_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unicodedata, "unidata_version", "18.0.0")
    with pytest.raises(EvaluatorUnavailable, match=r"18\.0\.0"):
        evaluate(b'len("a")', {})


LONGEST = 16384


@pytest.mark.parametrize(
    "data",
    [
        call("count", "e\u0301" * 2700 + "e", "e\u0301" * 2600 + "e"),
        call("replace", "a" * 8000, "a" * 4000 + "b", ""),
        call("sort", "".join(map(chr, range(0x4E00, 0x4E00 + 5000)))),
        call("unique", "".join(map(chr, range(0x4E00, 0x4E00 + 5000)))),
        call("lower", "ΑΣ" + ".Σ" * 5000),
        call("lower", "Σ" + "\u0301" * 4000 + "Σ" * 4000),
        call("len", "\u0915" + "\u094d\u0937" * 2700),
        call("len", "\u0915" + "\u094d" * 5400),
        call("len", "\U0001f469" + "\u200d" * 5000),
        call("len", "\U0001f1e9" * 4000),
        "len('" + "\\" * 16300,
        "concat(" + "'a'," * 4000,
        "repeat('', " + "9" * 16000 + ")",
        "a" * LONGEST,
        "(" * LONGEST,
        " " * LONGEST,
    ],
    ids=lambda data: data[:24],
)
def test_the_longest_inputs_take_no_time(data: str) -> None:
    encoded = data.encode()
    assert len(encoded) <= LONGEST
    began = perf_counter()
    evaluate(encoded, {name: option.maximum for name, option in OPTIONS.items()})
    assert perf_counter() - began < 1  # quadratic work takes longer; the slowest here takes about 10 ms
