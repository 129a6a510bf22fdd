"""The generators: a sample is a function of seed and index, and together they reach what they are there to reach."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from random import Random

import pytest

from evalspan.conformance.differential import samples
from evalspan.conformance.generators import GENERATORS, Chance
from evalspan.conformance.generators.literals import literal
from evalspan.conformance.generators.mutation import mutated, noise
from evalspan.conformance.generators.texts import characters
from evalspan.conformance.vectors import builtin_suites
from evalspan.evaluators import Value
from evalspan.evaluators.in_process import SPECS, load_reference


class Fixed(Random):
    """A source of one number."""

    def __init__(self, number: float) -> None:
        super().__init__()
        self.number = number

    def random(self) -> float:
        return self.number


NEARLY_ONE = 1 - 2**-53
"""The largest number that `Random.random` gives."""


def chances(seed: int, count: int) -> Iterator[Chance]:
    chance = Chance()
    for index in range(count):
        chance.restart(seed, index)
        yield chance


def test_every_specification_has_a_generator() -> None:
    assert sorted(GENERATORS) == sorted(SPECS)


def test_choices_are_the_same_in_every_version_of_python() -> None:
    chance = Chance()
    chance.restart(3, 14)
    assert [chance.below(1000) for _ in range(6)] == [47, 52, 568, 673, 242, 488]
    assert chance.digits(20) == "26829439096476765003"


@pytest.mark.parametrize("number", [0.0, NEARLY_ONE])
def test_choices_stay_inside_their_bounds(number: float) -> None:
    chance = Chance(Fixed(number))
    for bound in (1, 2, 3, 1000, 10**15):
        assert chance.below(bound) == (0 if number == 0 else bound - 1)
        assert chance.between(-bound, bound) == (-bound if number == 0 else bound)
        assert 1 <= chance.size(bound) <= bound
    assert chance.pick("abc") == ("a" if number == 0 else "c")
    assert chance.one_in(1000) is (number != 0)
    assert chance.digits(17) == ("0" if number == 0 else "9") * 17


@pytest.mark.parametrize("spec", GENERATORS)
def test_a_sample_is_a_function_of_seed_and_index(spec: str) -> None:
    first = list(islice(samples(spec, 0, 0), 60))
    assert list(islice(samples(spec, 0, 40), 20)) == first[40:]
    assert list(islice(samples(spec, 1, 0), 60)) != first
    assert len({(sample.data, *sample.options) for sample in first}) > 50


@pytest.mark.parametrize("spec", GENERATORS)
def test_samples_reach_every_function_and_every_error(spec: str) -> None:
    suite, evaluate = builtin_suites()[spec], load_reference(spec).evaluate
    kinds: Counter[str] = Counter()
    functions: set[str] = set()
    for sample in islice(samples(spec, 0, 0), 4000):
        outcome = evaluate(sample.data, sample.options)
        kinds["value" if isinstance(outcome, Value) else outcome.code] += 1
        if isinstance(outcome, Value):
            functions |= {name for name in suite.functions if f"{name}(".encode() in sample.data}
    assert sorted(functions) == sorted(suite.functions)
    assert set(kinds) == {"value", *suite.errors}
    assert kinds["value"] > 1400, "more than a third have a value"


@pytest.mark.parametrize("spec", GENERATORS)
def test_what_only_the_smallest_or_largest_numbers_choose_is_a_sample_too(spec: str) -> None:
    for number in (0.0, NEARLY_ONE):
        sample = GENERATORS[spec].draw(Chance(Fixed(number)))
        assert sample.options in GENERATORS[spec].options


def test_a_literal_means_the_text_that_it_was_made_of() -> None:
    evaluate = load_reference("strings/1").evaluate
    wide = {"max_input_bytes": 16_384, "max_result_bytes": 16_384}
    quotes = Counter[str]()
    for chance in chances(5, 500):
        text = characters(chance, chance.below(30))
        written = literal(chance, text)
        quotes[written[0]] += 1
        assert evaluate(f"concat({written})".encode(), wide) == Value(text)
    assert set(quotes) == {'"', "'"}


def test_a_mutation_changes_most_inputs_but_not_much() -> None:
    data = b"max(1, 2) * 3"
    mutants = [mutated(data, chance, [b"+", b"("]) for chance in chances(1, 300)]
    assert sum(mutant != data for mutant in mutants) > 250
    assert len(set(mutants)) > 200
    assert any(mutant.startswith(data[:6]) for mutant in mutants)


def test_noise_is_of_tokens_and_of_bytes_of_any_kind() -> None:
    made = [noise(chance, [b"max", b"("]) for chance in chances(2, 1500)]
    assert any(set(one) <= set(b"max(") for one in made)
    assert len({byte for one in made for byte in one}) == 256
