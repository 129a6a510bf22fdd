"""Expressions and their automata agree with Python's regular expressions and with plain searching."""

import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalspan.orchestrator.engines.automata import Automaton, TooLarge, automaton
from evalspan.orchestrator.engines.integers import integers
from evalspan.orchestrator.engines.regex_reader import read_pattern, read_regex
from evalspan.orchestrator.engines.regular import (
    ALL,
    ANY_TEXT,
    Both,
    Complement,
    Repeat,
    Respelt,
    Without,
    inverted,
)
from evalspan.policies import LinearPattern


def accepts(states: Automaton, text: str) -> bool:
    at = 0
    for char in text:
        found = [to for ranges, to in states.edges[at] if any(low <= ord(char) <= high for low, high in ranges)]
        if not found:
            return False
        (at,) = found  # deterministic
    return at in states.accepting


def texts(alphabet: str, longest: int) -> list[str]:
    return ["".join(chars) for size in range(longest + 1) for chars in product(alphabet, repeat=size)]


PATTERNS = [
    *(
        "a*b|c{2,3}",
        "(?:ab)*",
        "(a|b)*abb",
        ".[^ab]?",
        "(?s:.)*x",
        "[a-]{0,2}",
        "a{2}b?|",
        "(a?b?)*c",
        "[]a]+",
        "[^]a]",
    ),
    *("a+?b*?", r"\x61\x{62}|\u0063", r"[\x61-b]\-?", "((a|)b){2,}"),
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_and_its_complement_are_those_of_python(pattern: str) -> None:
    states, others = automaton(read_regex(pattern)), automaton(Complement(read_regex(pattern)))
    pythons = re.compile(pattern.replace(r"\x{62}", "b"))
    for text in texts("abc\nx-]", 4):
        assert accepts(states, text) == bool(pythons.fullmatch(text)), text
        assert accepts(others, text) != accepts(states, text), text


@pytest.mark.parametrize("strings", [("<a>", "<b>"), ("aab", "ab"), ("a",), ("abc", "bca", "c"), ("aba", "b")])
@pytest.mark.parametrize("at_end", [False, True])
def test_a_text_without_strings_holds_none_of_them(strings: tuple[str, ...], at_end: bool) -> None:
    states = automaton(Without(strings, at_end))
    narrowed = automaton(Both((Without(strings, at_end), read_regex("[ab<]*c?"))))
    for text in texts("abc<>", 5):
        free = not any(string in (text[:-1] if at_end else text) for string in strings)
        assert accepts(states, text) == free, text
        assert accepts(narrowed, text) == (free and bool(re.fullmatch("[ab<]*c?", text))), text


@pytest.mark.parametrize(
    "pattern", [r"\d", r"\w", r"[^\s]", r"\p{N}", "[[:alpha:]é]", "[a-z&&[^x]]", r"\PL", r"[\d.-]"]
)
@settings(deadline=None)
@given(char=st.characters(codec="utf-8"))
def test_a_class_has_the_characters_that_llguidance_gives_it(pattern: str, char: str) -> None:
    assert accepts(automaton(read_regex(pattern)), char) == LinearPattern(pattern).matches(char.encode())


@pytest.mark.parametrize("pattern", ["^a[bc]+$", "ab", "^a|b$", "^(?:a|b)", "(^a)", "b", "^$", "a.c", "^ab|^ba|c"])
def test_a_pattern_of_a_schema_is_looked_for_anywhere(pattern: str) -> None:
    states = automaton(read_pattern(pattern))
    for text in texts("abc", 5):
        assert accepts(states, text) == bool(re.search(pattern, text)), text


@pytest.mark.parametrize(
    "pattern", ["a^b", "(a$)b", "(?i:a)", "(?P<n>a)", "(?=a)", r"\b", "a{2,1}", "a{9999999}", "(", "*"]
)
def test_what_is_not_known_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(pattern))):
        read_pattern(pattern)


@settings(deadline=None)
@given(st.integers(-130, 130), st.integers(0, 130))
def test_integers_are_those_of_the_range(low: int, size: int) -> None:
    states = automaton(integers(low, low + size))
    least, most = automaton(integers(low, None)), automaton(integers(None, low))
    for number in range(-300, 301):
        assert accepts(states, str(number)) == (low <= number <= low + size)
        assert accepts(least, str(number)) == (number >= low)
        assert accepts(most, str(number)) == (number <= low)
        assert not accepts(states, f"0{number}")


def test_a_respelt_text_has_the_spelling_and_no_other() -> None:
    states = automaton(Respelt(read_regex("a[^b]*"), inverted(((10, 10), (92, 92))), (("\n", "\\n"), ("\\", "\\\\"))))
    for text, expected in (
        ("a", True),
        ("a\\n", True),
        ("a\n", False),
        ("a\\\\n", True),
        ("a\\", False),
        ("ab", False),
    ):
        assert accepts(states, text) == expected, text


def test_no_state_is_a_dead_end_and_surrogates_are_no_characters() -> None:
    states = automaton(Both((read_regex("a(b|c)*d|x"), Without(("bb",)))))
    assert all(edges or state in states.accepting for state, edges in enumerate(states.edges))
    assert automaton(Both((read_regex("a"), read_regex("b")))).is_empty
    assert all(high < 0xD800 or low > 0xDFFF for low, high in ALL.ranges)


def test_an_automaton_has_a_size_that_it_cannot_go_beyond() -> None:
    with pytest.raises(TooLarge):
        automaton(Both((read_regex("(a|b)*a(a|b){18}"), ANY_TEXT)))
    with pytest.raises(TooLarge):
        automaton(Repeat(Repeat(ALL, 0, 1000), 0, 1000))
