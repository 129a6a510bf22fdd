"""Where inputs come from: grammars, dictionaries, mutation, and what is kept."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalspan.conformance.fuzz.pool import Pool
from evalspan.conformance.fuzz.source import Source
from evalspan.conformance.fuzz.vocabulary import builtin_vocabulary
from evalspan.conformance.generators import Chance, Sample
from evalspan.conformance.generators.derivation import Derivation
from evalspan.conformance.generators.library import GRAMMARS, MAX_INPUT_BYTES, dictionary, fitted, grammar
from evalspan.conformance.generators.mutation import spliced, stretched
from evalspan.conformance.generators.notation import GrammarNotationError, parse
from evalspan.conformance.generators.tokens import tokens
from evalspan.evaluators.in_process import load_reference
from evalspan.policies import ErrorCode

SMALL = r"""
// sums
start: term (("+" | "-") term)*
term: digit+ | "(" start ")" | /[x-z\]]/?
digit: /[0-9]/
"""


def chance(seed: int = 1) -> Chance:
    made = Chance()
    made.restart(seed, 0)
    return made


def test_a_grammar_derives_its_language_and_nothing_else() -> None:
    derivation, source = Derivation(parse(SMALL, "small")), chance()
    sentences = {derivation.sentence(source) for _ in range(2000)}
    assert len(sentences) > 500
    assert set(b"".join(sentences).decode()) <= set("0123456789+-()xyz]")
    assert all(sentence.count(b"(") == sentence.count(b")") for sentence in sentences)


def test_every_production_is_derived_and_counted() -> None:
    for name in GRAMMARS:
        derivation, source = Derivation(grammar(name)), chance()
        for _ in range(1500):
            derivation.sentence(source)
        unused = [derivation.grammar.productions[at] for at, count in enumerate(derivation.counts) if not count]
        assert (name, unused) == (name, [])
        assert derivation.covered == len(derivation.counts)


@pytest.mark.parametrize("operator", ["arithmetic", "strings", "dates", "checksums"])
def test_no_sentence_of_an_operator_has_an_unknown_form(operator: str) -> None:
    """A grammar of an operator and its reference agree: what is derived is hardly ever a syntax error."""
    derivation, source, evaluate = Derivation(grammar(operator)), chance(), load_reference(f"{operator}/1").evaluate
    options = {"max_input_bytes": MAX_INPUT_BYTES, "max_depth": 64}
    wrong = [
        sentence
        for sentence in (derivation.sentence(source) for _ in range(1500))
        if getattr(evaluate(sentence, options), "code", None) is ErrorCode.SYNTAX
    ]
    assert len(wrong) < 30, wrong[:5]


def test_derivations_reach_the_depth_limit_of_every_operator() -> None:
    derivation, source = Derivation(grammar("arithmetic")), chance()
    deepest = max((derivation.sentence(source) for _ in range(3000)), key=lambda sentence: sentence.count(b"("))
    assert deepest.count(b"(") >= 8


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "there is no rule start"),
        ("start: a", "there is no rule a"),
        ('start: "a" start', "never ends"),
        ('start: "a\nb', "is no token"),
        ('start: ("a"', "no closing parenthesis"),
        ("start: *", "repeats nothing"),
        ('start: "a"\nstart: "b"', "there twice"),
        ("start: /[z-a]/", "is empty"),
        (r'start: "\x41"', "has an escape"),
        ('"a" start', "expected `name:`"),
    ],
)
def test_a_wrong_grammar_says_where_and_why(text: str, says: str) -> None:
    with pytest.raises(GrammarNotationError, match=r"mine\.grammar, line") as caught:
        parse(text, "mine.grammar")
    assert says in str(caught.value)


def test_the_dictionaries_have_the_known_bombs() -> None:
    for name, bomb in [("arithmetic", "9**9**9"), ("strings", 'repeat("x", 10000000000)'), ("dates", "2021-W53-1")]:
        assert bomb in dictionary(name)
        assert "１２" in dictionary(name), "a look-alike of every syntax"
    assert dictionary(None) == dictionary("unknown") == dictionary("arithmetic")[: len(dictionary(None))]


def test_a_bomb_is_cut_down_evenly_to_the_bytes_there_are() -> None:
    assert fitted([("(", 5000), ("1", 1), (")", 5000)], 101) == b"(" * 50 + b"1" + b")" * 50
    assert fitted([("ab", 2)], 512) == b"abab"
    for entry in dictionary("strings"):
        assert len(fitted(entry, MAX_INPUT_BYTES)) <= MAX_INPUT_BYTES + 8


@given(st.binary(max_size=80))
def test_tokens_are_the_input_in_pieces(data: bytes) -> None:
    assert b"".join(tokens(data)) == data


@given(st.binary(max_size=40), st.binary(max_size=40), st.integers(0, 2**32))
def test_spliced_and_stretched_inputs_are_made_of_tokens_of_theirs(data: bytes, other: bytes, seed: int) -> None:
    source = chance(seed)
    assert set(spliced(data, other, source)) <= set(data + other)
    longer = stretched(data, source, 512)
    assert set(longer) <= set(data) | set(b")]}")
    assert len(data) <= len(longer) <= max(len(data), 512 + 8)


def test_the_same_seed_gives_the_same_inputs_and_another_gives_others() -> None:
    def first(seed: int) -> list[Sample]:
        source = Source(builtin_vocabulary("arithmetic"), Pool(), seed)
        return [source.draw() for _ in range(300)]

    assert first(3) == first(3)
    assert first(3) != first(4)


def test_a_pool_keeps_what_is_new_and_nothing_else() -> None:
    pool, options = Pool(), {}

    def judge(data: bytes, kind: str, cost: int, new_production: bool = False) -> str | None:
        return pool.judge(Sample(data, options), kind, cost, new_production=new_production)

    assert judge(b"1" * 20, "value", 1000) == "answer"
    assert judge(b"2" * 20, "value", 1000) is None
    assert judge(b"3" * 20, "syntax a", 1000) == "answer"
    assert judge(b"4" * 20, "syntax b", 1000) == "answer", "another message is another place in the evaluator"
    assert judge(b"5" * 20, "value", 8000) == "cost"
    assert judge(b"6" * 20, "value", 8100) is None, "the same bucket, and less than 2% more per byte"
    assert judge(b"7" * 20, "value", 8190) == "rate"
    assert judge(b"8" * 20, "value", 1000, new_production=True) == "production"
    assert [entry.sample.data[:1] for entry in pool.take_fresh()] == [b"1", b"3", b"4", b"5", b"7", b"8"]
    assert pool.take_fresh() == []
    assert pool.worst_rate == 8190 / 20
    assert pool.worst is not None
    assert pool.worst.data == b"7" * 20


def test_numbers_in_a_message_are_no_new_kind() -> None:
    pool = Pool()
    kinds = [
        pool.judge(Sample(b"x" * n, {}), f"too_long the input has {n} bytes", 0, new_production=False)
        for n in range(60, 99)
    ]
    assert kinds.count("answer") == 1


def test_short_inputs_are_left_out_of_the_worst_cost_per_byte() -> None:
    pool = Pool()
    pool.judge(Sample(b"1", {}), "value", 10_000, new_production=False)
    assert (pool.worst_rate, pool.worst) == (0.0, None)


def test_work_that_grows_with_the_input_leads_the_search_to_long_inputs() -> None:
    """The guide alone, with a cost that is the square of one letter's number, makes inputs full of that letter."""
    pool = Pool()
    source = Source(builtin_vocabulary(None), pool, 1)
    worst = 0
    for _ in range(4000):
        sample = source.draw()
        cost = sample.data.count(b"x") ** 2
        worst = max(worst, cost)
        pool.judge(sample, "value", cost, new_production=False)
    assert worst > 400**2


def test_options_that_only_say_too_long_are_taken_seldom() -> None:
    options: list[Mapping[str, int]] = [{}, {"max_input_bytes": 8}, {"max_input_bytes": MAX_INPUT_BYTES}]
    source = Source(builtin_vocabulary("arithmetic", options=options), Pool(), 1)
    drawn = [source.draw() for _ in range(1000)]
    too_long = [sample for sample in drawn if len(sample.data) > sample.options.get("max_input_bytes", 512)]
    assert 0 < len(too_long) < 150
