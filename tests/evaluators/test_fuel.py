"""What evaluations cost: the bounds on the operator pages, and size checks that come before the work.

Fuel is deterministic, so that these are facts and not measurements of a machine.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from importlib.resources import files
from itertools import islice
from pathlib import Path

import pytest

from evalspan.conformance.differential import FUEL, agree, samples
from evalspan.conformance.generators import GENERATORS, Chance
from evalspan.conformance.runtimes import on_runtime
from evalspan.conformance.vectors import Evaluate, builtin_suites, comparable
from evalspan.evaluators import EvaluatorError, Outcome, Value
from evalspan.evaluators.fuel_bounds import fuel_bound
from evalspan.policies import ErrorCode, Limits

PAGES = Path(__file__).parents[2] / "docs" / "operators"
VECTORS = builtin_suites()

DEFAULT_FUEL = Limits().fuel

QUICKLY = 100_000
"""What a refusal may cost that no work precedes: issue 3's number."""

WIDEST = {"max_input_bytes": 16_384, "max_depth": 64, "max_result_bytes": 16_384}


Formula = Callable[[list[int], int, Limits], float]

FORMS: Mapping[str, tuple[str, Formula]] = {
    "arithmetic/1": (
        r"# \+ # d² \+ \(# \+ d² / #\) n",
        lambda a, n, limits: a[0] + a[1] * limits.max_digits**2 + (a[2] + limits.max_digits**2 / a[3]) * n,
    ),
    "strings/1": (
        r"# \+ \(# \+ # v\) n",
        lambda a, n, limits: a[0] + (a[1] + a[2] * max(limits.max_input_bytes, limits.max_result_bytes)) * n,
    ),
    "dates/1": (r"# \+ # n", lambda a, n, limits: a[0] + a[1] * n),
    "checksums/1": (r"# \+ # n", lambda a, n, limits: a[0] + a[1] * n),
}
"""How each page writes its bound, with `#` for a number."""


@pytest.mark.parametrize("spec", GENERATORS)
def test_the_page_states_the_bound(spec: str) -> None:
    form, formula = FORMS[spec]
    page = PAGES / f"{spec.partition('/')[0]}.md"
    pattern = rf"^`fuel ≤ {form.replace('#', '([0-9,]+)')}`$"
    (found,) = re.finditer(pattern, page.read_text(encoding="utf-8"), re.MULTILINE)
    numbers = [int(number.replace(",", "")) for number in found.groups()]
    for n in (0, 1, 512, 16_384):
        for limits in (Limits(), Limits(max_digits=7), Limits(max_input_bytes=9, max_result_bytes=40)):
            assert fuel_bound(spec, n, limits) == int(formula(numbers, n, limits))


def test_an_operator_without_a_bound_is_named() -> None:
    with pytest.raises(EvaluatorError, match="'roman/1': no fuel bound is known; those with one are arithmetic/1"):
        fuel_bound("roman/1", 1, Limits())


def bound(spec: str, data: bytes, options: Mapping[str, int]) -> int:
    limits = {name: value for name, value in options.items() if name in Limits.model_fields}
    return fuel_bound(spec, len(data), Limits(**limits))


@pytest.fixture(scope="module")
def modules() -> Iterator[Mapping[str, Evaluate]]:
    """Each module under the most fuel that a policy may allow."""
    with ExitStack() as stack:
        yield {spec: stack.enter_context(on_runtime(spec, "wasm", fuel=FUEL)) for spec in GENERATORS}


def fuel_of(outcome: Outcome) -> int:
    """The fuel; none where the host answers alone, which it does for an input that is too long."""
    if outcome.fuel is None:
        assert not isinstance(outcome, Value)
        assert outcome.code is ErrorCode.TOO_LONG
        return 0
    return outcome.fuel


ONE = "(7**1211/7**1211)"
NEVER_SORTED = 'concat(repeat("漢",{}),"🇩🇩🇩")'
"""Its clusters join anew when they are sorted, so that the result is not sorted."""


def nested(function: str, times: int, inner: str) -> str:
    return f"{function}(" * times + inner + ")" * times


def filled(unit: str, joint: str, around: str = "{}") -> str:
    """The unit as often as 512 bytes hold it."""
    times = (512 - len(around) + 2 + len(joint)) // (len(unit) + len(joint))
    return around.format(joint.join([unit] * times))


def call(function: str, times: int, argument: str) -> str:
    return f"{function}({','.join([argument] * times)})"


WORST: Mapping[str, list[tuple[Mapping[str, int], str]]] = {
    "arithmetic/1": [
        ({}, filled("max(sqrt(.7^989))%.7^514%.7^550", "/")),
        ({}, filled("sqrt(.7^998)+3e999%.7^999/(3+2%.7^522)-(1%.7^500)", ",", "mean({})")),
        ({}, filled("((3-.3^999)/sqrt(7))/9e-501", "%")),
        ({}, filled("round(77^541%1.1^979,2039)/(1-.7^400)/1.1^983+sqrt(.7^999)", "+")),
        ({}, filled("15^870%.9^1008/.9^606-99^512%.9^998/.9^827", "-")),
        ({}, filled("sqrt(.9^998)%.5^1042-3^2146%.7^1009", ",", "mean({})")),
        ({}, filled("15^850*sqrt(2)/15^867", "+")),
        ({}, filled("91^520/factorial(450)//15^-850", ",", "gcd({})")),
        ({}, filled("21^769/factorial(450)*.6^-715", "-")),
        ({}, filled("sum(15^850,15^867)*.3^173/15^867", ",", "sum({})")),
        ({}, filled("9^999%.7^999", "+")),
        ({}, filled("sqrt(9^999%.7^999)", ",", "max({})")),
        ({}, filled(".9^474+10403^242/101^510", "-")),
        ({}, "((65537^212+2)/10609^252)+((65537^212+2)/(9797^255+1))"),
        ({}, "91^503/factorial(458)%.7^1016"),
        ({}, "9**1009%abs(9e999/3**2146)" + f"*{ONE}/{ONE}" * 13),
        ({}, "11**983/99**508-3/9e999"),
        ({}, call("max", 14, "7**1211/3**2146%(5**1464/11**983)")),
        ({}, call("max", 23, "sqrt(7**1210/3**2146)")),
        ({}, "round(" * 25 + "7**1211/3**2146" + "".join(f",{1022 - times})" for times in range(25))),
        ({"max_digits": 256}, "9**252%abs(9e249/3**536)" + "*(7**302/7**302)/(7**302/7**302)" * 15),
        ({"max_digits": 36}, call("max", 7, nested("sqrt", 10, "2"))),
        ({}, "7*" * 255 + "7"),
        (WIDEST, f"max({'10**1000,' * 1800}1)"),
        (WIDEST, "+".join(f"1/{term}" for term in range(1, 2300))),
        (WIDEST, "0." + str(5**3400).zfill(3400)),
        (WIDEST, "9" * 16_384),
    ],
    "strings/1": [
        ({}, call("concat", 3, nested("sort", 21, NEVER_SORTED.format(337)))),
        ({}, nested("sort", 30, NEVER_SORTED.format(337))),
        ({}, call("concat", 2, nested("upper", 20, 'repeat("éa",341)'))),
        ({}, f'len("{"a" * 500}")'),
        ({"max_input_bytes": 48, "max_result_bytes": 6}, r"sort('\u2534\u050d')"),
        ({"max_input_bytes": 49, "max_result_bytes": 6}, "concat(sort('┴ԍ'),sort('┴ԍ'),sort('┴ԍ'))"),
        (WIDEST, nested("sort", 62, NEVER_SORTED.format(5455))),
        (WIDEST, nested("lower", 60, 'repeat("Σ\u0301",4096)')),
    ],
    "dates/1": [
        ({}, "-1" + "+1" * 255),
        ({}, "today" + "+1" * 253),
        ({}, "2024-01-31T00:00:00.1+01:00" + "+P1M-P1M" * 60),
        (WIDEST, "5" + "+9" * 8191),
        (WIDEST, "2024-01-31T00:00:00.1+01:00" + "+P1M-P1M" * 2044),
        (WIDEST, "-" * 64 + "P" + "1" * 16_000 + "D"),
    ],
    "checksums/1": [
        ({}, f'sha256("{"éa" * 167}a")'),
        ({}, f'sha512("{"a" * 502}")'),
        ({}, 'sha512("")'),
        (WIDEST, f'sha256("{"éa" * 5457}a")'),
        (WIDEST, f'iban_digits("{"a" * 8190}", "{"9" * 8170}")'),
    ],
}
"""The most expensive inputs known, and plain ones of the largest size."""

LEAST_SHARE = {"arithmetic/1": 0.45, "checksums/1": 0.75, "dates/1": 0.75, "strings/1": 0.7}
"""What the dearest of them take of the bound: that of arithmetic is twice what a search found."""


@pytest.mark.parametrize("spec", GENERATORS)
def test_the_most_expensive_inputs_known_keep_the_bound(spec: str, modules: Mapping[str, Evaluate]) -> None:
    shares = []
    for options, text in WORST[spec]:
        data = text.encode()
        outcome = modules[spec](data, options)
        assert len(data) <= options.get("max_input_bytes", 512)
        if not isinstance(outcome, Value):
            assert not outcome.code.from_host_only, (text[:80], outcome)
        shares.append(fuel_of(outcome) / bound(spec, data, options))
        assert shares[-1] <= 1, (text[:80], outcome.fuel)
    assert max(shares) > LEAST_SHARE[spec], "the bound says more than it has to"


@pytest.mark.parametrize("spec", GENERATORS)
def test_random_inputs_keep_the_bound(spec: str, modules: Mapping[str, Evaluate]) -> None:
    for sample in islice(samples(spec, 4, 0), 2000):
        fuel = fuel_of(modules[spec](sample.data, sample.options))
        assert fuel <= bound(spec, sample.data, sample.options), sample


LONG = (
    *("9^999", "7^1211", "15^867", "10403^254", "65537^211", "4294967291^106", "factorial(450)", "9e999", "3e-999"),
    *(".7^999", ".9^998", ".6^-715", "(3^1000+1)", "(2^3360-1)", "(2^3392-2^1700)", "(7^600+2)", "(9^300/7^200)"),
    *("sqrt(.7^998)", "sqrt(7^1211)", "(3^300/(3^300+1))", "(1+.3^900)", "(1-.3^900)", "(2^1600+1)", "101^255"),
)
"""Numbers of about a thousand digits: with factors that the module knows, and without."""

UNITS = (
    *(
        "{0}+{1}",
        "{0}-{1}",
        "{0}*{1}",
        "{0}/{1}",
        "{0}%{1}",
        "{0}//{1}",
        "{0}%{1}/{2}",
        "{0}*{1}/{2}",
        "{0}/{1}+{2}/{1}",
    ),
    *("{0}/{1}-{2}/{0}", "({0}/{1}*({1}/{0}))^10^30", "{0}%{1}-{2}%{1}", "max({0}/{1},{1}/{2})", "{0}-{1}+{2}"),
    *("gcd(floor({0}),ceil({1}))", "lcm(trunc({0}/{1}),floor({2}))", "round({0}/{1},999)", "round_even({0}%{1},700)"),
    *("sqrt({0}/{1}*{0}*{1})", "sqrt(({0}/{1})^2)", "mean({0},{1},{2})", "({0}/{1})^3", "{0}//{1}*{1}+{0}%{1}-{0}"),
)


def test_operations_on_long_numbers_keep_the_bound_and_are_right(modules: Mapping[str, Evaluate]) -> None:
    chance, values = Chance(), 0
    with on_runtime("arithmetic/1", "in_process") as reference:
        for index in range(1500):
            chance.restart(0, index)
            unit = chance.pick(UNITS).format(chance.pick(LONG), chance.pick(LONG), chance.pick(LONG))
            text = unit if chance.random() < 0.8 else filled(unit, chance.pick(("+", "-", "%", "/")))
            data = chance.pick(("{}", "{}", "({})*1e-600", "({})*7e500", "1/({})")).format(text)[:512].encode()
            outcome = modules["arithmetic/1"](data, {})
            assert agree(outcome, reference(data, {})), data
            assert fuel_of(outcome) <= bound("arithmetic/1", data, {}), data
            values += isinstance(outcome, Value)
    assert values > 500


@pytest.mark.parametrize("spec", GENERATORS)
def test_at_the_default_limits_every_input_has_the_fuel_it_may_take(spec: str) -> None:
    assert fuel_bound(spec, Limits().max_input_bytes, Limits()) <= DEFAULT_FUEL


@pytest.mark.parametrize("spec", GENERATORS)
def test_every_vector_ends_within_the_default_fuel_and_the_bound(spec: str) -> None:
    with on_runtime(spec, "wasm") as evaluate:
        for case in VECTORS[spec].cases:
            outcome = evaluate(case.data, case.options)
            assert comparable(outcome) == comparable(case.expected), case.id
            assert fuel_of(outcome) <= min(bound(spec, case.data, case.options), DEFAULT_FUEL), case.id


@pytest.mark.parametrize("spec", GENERATORS)
def test_vectors_of_refused_sizes_are_refused_before_the_work(spec: str, modules: Mapping[str, Evaluate]) -> None:
    """In arithmetic, operands come first, and a result just over the limit costs as much as one just below."""
    one_operation = 1_000_000  # what these vectors' operations on numbers of 1,024 digits take, their making included
    seen = set()
    for case in VECTORS[spec].cases:
        outcome = modules[spec](case.data, case.options)
        if isinstance(outcome, Value) or not outcome.code.startswith("too_"):
            continue
        seen.add(outcome.code)
        large = spec == "arithmetic/1" and outcome.code is ErrorCode.TOO_LARGE
        assert fuel_of(outcome) <= (one_operation if large else QUICKLY), case.id
    assert {ErrorCode.TOO_LONG, ErrorCode.TOO_LARGE} <= seen


FAR_TOO_LARGE = [
    ("arithmetic/1", "9**9**9", 1),
    ("arithmetic/1", "factorial(999999)", 0),
    ("arithmetic/1", "factorial(10**300)", 0),
    ("arithmetic/1", "10**10**9", 2),
    ("arithmetic/1", "10**-10**9", 2),
    ("arithmetic/1", "1.5**10**9", 3),
    ("arithmetic/1", "(1/3)**99999999", 5),
    ("arithmetic/1", "(-2)**10**300", 4),
    ("arithmetic/1", "2 + 1e99999999999999999999", 4),
    ("arithmetic/1", "2 + 1e-99999999999999999999", 4),
    ("arithmetic/1", "round(1/3, 10**9)", 0),
    ("arithmetic/1", "round(1/3, 10**300)", 0),
    ("arithmetic/1", "round_even(1/7, 99999)", 0),
    ("arithmetic/1", "sqrt(2)**10**9", 7),
    ("strings/1", 'repeat("x",10000000000)', 0),
    ("strings/1", 'repeat("x",99999999999999999999)', 0),
    ("strings/1", 'len(repeat("\\ud83d\\ude00",4611686018427387905))', 4),
    ("strings/1", 'pad_left("a",10000000000)', 0),
    ("strings/1", 'pad_right("a",18446744073709551617,"é")', 0),
    ("strings/1", f'replace("{"a" * 200}","a","{"b" * 200}")', 0),
    ("dates/1", "2024-01-01 + 99999999999999999999 days", 13),
    ("dates/1", "999999999999999999 years", 0),
    ("dates/1", "999999999999999999 months + 999999999999999999 months", 26),
]
"""Inputs whose value would be far over every limit, and where they are refused."""


@pytest.mark.parametrize(("spec", "text", "offset"), FAR_TOO_LARGE)
def test_what_is_far_too_large_is_refused_before_the_work(
    spec: str, text: str, offset: int, modules: Mapping[str, Evaluate]
) -> None:
    outcome = modules[spec](text.encode(), {})
    assert not isinstance(outcome, Value)
    assert (outcome.code, outcome.offset) == (ErrorCode.TOO_LARGE, offset)
    assert fuel_of(outcome) <= QUICKLY


@pytest.mark.parametrize(
    ("spec", "text", "code"),
    [
        ("dates/1", "2024-01-01 + 11574074074073 days", ErrorCode.RANGE),
        ("dates/1", "add_workdays(2024-01-01, 999999999999999999)", ErrorCode.RANGE),
        ("dates/1", "add_workdays(2024-01-01, -999999999999999999)", ErrorCode.RANGE),
        ("dates/1", "from_unix(999999999999999999)", ErrorCode.RANGE),
        ("strings/1", 'nth("abc",99999999999999999999)', ErrorCode.DOMAIN),
        ("strings/1", 'repeat("",10000000000)', None),
        ("arithmetic/1", "(-1)**10**300", None),
        ("arithmetic/1", "round(1.5, 10**300)", None),
        ("arithmetic/1", "round(5, -10**300)", None),
        ("dates/1", "workdays_between(0001-01-01, 9999-12-31)", None),
        ("dates/1", "months_between(0001-01-01T00:00:00.1-23:59, 9999-12-31T23:59+23:59)", None),
    ],
)
def test_numbers_of_any_size_are_never_stepped_through(
    spec: str, text: str, code: ErrorCode | None, modules: Mapping[str, Evaluate]
) -> None:
    outcome = modules[spec](text.encode(), {})
    assert (None if isinstance(outcome, Value) else outcome.code) == code
    assert fuel_of(outcome) <= QUICKLY


OPENINGS = [
    ("arithmetic/1", "("),
    ("arithmetic/1", "-"),
    ("arithmetic/1", "2**"),
    ("arithmetic/1", "max("),
    ("strings/1", "upper("),
    ("dates/1", "("),
    ("dates/1", "-"),
]


@pytest.mark.parametrize(("spec", "opening"), OPENINGS)
def test_what_is_too_deep_is_refused_before_the_work(spec: str, opening: str, modules: Mapping[str, Evaluate]) -> None:
    for options in ({}, WIDEST):
        most = options.get("max_input_bytes", 512)
        data = (opening * most)[:most].encode()
        outcome = modules[spec](data, options)
        assert not isinstance(outcome, Value)
        depth = options.get("max_depth", 32)
        place = opening.index("*") if "*" in opening else 0
        assert (outcome.code, outcome.offset) == (ErrorCode.TOO_DEEP, depth * len(opening) + place)
        assert fuel_of(outcome) <= QUICKLY


@pytest.mark.parametrize("spec", GENERATORS)
def test_an_input_that_is_too_long_costs_nothing(spec: str, modules: Mapping[str, Evaluate]) -> None:
    outcome = modules[spec](b"1" * 16_385, WIDEST)
    assert not isinstance(outcome, Value)
    assert (outcome.code, outcome.offset, outcome.fuel) == (ErrorCode.TOO_LONG, 16_384, None)


@pytest.mark.parametrize("spec", GENERATORS)
def test_the_pages_examples_of_fuel_are_right(spec: str, modules: Mapping[str, Evaluate]) -> None:
    """A page says `input` takes so much, rounded up to hundreds at most."""
    page = (PAGES / f"{spec.partition('/')[0]}.md").read_text(encoding="utf-8").split("## Cost", 1)[1]
    stated = re.findall(r"`([^`\n]+)` takes ([0-9,]+)", page)
    assert stated
    for text, number in stated:
        fuel = fuel_of(modules[spec](text.encode(), {}))
        assert fuel <= int(number.replace(",", "")) * 1.05, text
        assert fuel >= int(number.replace(",", "")) * 0.75, text


@pytest.mark.parametrize("spec", GENERATORS)
def test_a_module_is_small(spec: str) -> None:
    most = 250_000 if spec == "strings/1" else 120_000  # strings has the tables of Unicode
    module = files("evalspan.evaluators").joinpath("modules", f"{spec.partition('/')[0]}.wasm")
    assert len(module.read_bytes()) < most
