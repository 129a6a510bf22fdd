"""The registry refuses what it cannot keep, and says where and what would be right."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalspan.policies import LinearPattern, Registry, RegistryError

BASE = """
version = 1
[policy.default]
fuel = 1000000
[[evaluator]]
name = "arithmetic"
builtin = "arithmetic/1"
[[span]]
name = "calc"
open = "<calc>"
close = "</calc>"
evaluator = "arithmetic"
"""


def problems(text: str) -> dict[str, str]:
    with pytest.raises(RegistryError) as raised:
        Registry.parse(text, source="r.toml")
    assert str(raised.value).startswith("r.toml: ")
    return dict(raised.value.problems)


def test_the_shipped_registry_loads_and_is_frozen() -> None:
    registry = Registry.load()
    assert registry.span("calc").evaluator == "arithmetic"
    with pytest.raises(ValueError, match="frozen"):
        registry.version = 2  # type: ignore[misc,assignment]


@pytest.mark.parametrize(
    ("change", "key", "says"),
    [
        (("builtin =", "buildin ="), "evaluator[0].buildin", "did you mean 'builtin'?"),
        (("fuel = 1000000", "fule = 1"), "policy.default.fule", "did you mean 'fuel'?"),
        (("[[span]]", "[[spam]]"), "spam", "did you mean 'span'?"),
        (('evaluator = "arithmetic"', 'evaluator = "arithmetik"'), "span[0].evaluator", "did you mean 'arithmetic'?"),
        (('"arithmetic/1"', '"arithmetic/2"'), "evaluator[0].builtin", "did you mean 'arithmetic/1'?"),
        (("version = 1", "version = 2"), "version", "should be 1"),
        (('open = "<calc>"', ""), "span[0].open", "required"),
        (("fuel = 1000000", "fuel = 0"), "policy.default.fuel", "greater than or equal to 1"),
        (("fuel = 1000000", "fuel = 1000000001"), "policy.default.fuel", "less than or equal to 1000000000"),
        (("fuel = 1000000", 'fuel = "x"'), "policy.default.fuel", "valid integer"),
        (('name = "calc"', 'name = "Calc!"'), "span[0].name", "match pattern"),
    ],
)
def test_an_error_names_the_key_and_what_would_be_right(change: tuple[str, str], key: str, says: str) -> None:
    found = problems(BASE.replace(*change, 1))
    assert says in found[key]


def test_an_evaluator_may_only_tighten_the_policy() -> None:
    found = problems(BASE.replace('"arithmetic/1"', '"arithmetic/1"\npolicy = { fuel = 1000001 }'))
    assert "may only tighten" in found["evaluator[0].policy.fuel"]
    tight = Registry.parse(BASE.replace('"arithmetic/1"', '"arithmetic/1"\npolicy = { fuel = 5 }'))
    assert tight.limits_for(tight.evaluator("arithmetic")).fuel == 5


def test_a_span_tightens_its_evaluator_and_never_loosens_it() -> None:
    text = BASE.replace('"arithmetic/1"', '"arithmetic/1"\npolicy = { max_depth = 4, fuel = 50 }')
    registry = Registry.parse(text + "policy = { max_depth = 8, fuel = 20 }\n")
    limits = registry.limits_for(registry.evaluator("arithmetic"), registry.span("calc"))
    assert (limits.max_depth, limits.fuel) == (4, 20)


@pytest.mark.parametrize(
    ("tags", "key"),
    [
        ('result = { open = "<calc>>", close = "</r>" }', "span[0].result.open"),  # contains an open tag
        ('result = { open = "[r]", close = ">x" }', "span[0].open"),  # "<calc>" ends as ">x" starts
        ('result = { open = "aba", close = "</r>" }', "span[0].result.open"),  # overlaps itself
        ('result = { open = "</calc>", close = "</r>" }', "span[0].close"),  # one tag, two meanings
        ('result = { open = "<\\u0001>", close = "</r>" }', "span[0].result.open"),  # not printable
        ('result = { open = "<e\\u0301>", close = "</r>" }', "span[0].result.open"),  # not NFC
    ],
)
def test_tags_that_could_be_confused_are_refused(tags: str, key: str) -> None:
    assert key in problems(BASE + tags + "\n")


def test_two_spans_may_not_share_an_open_tag() -> None:
    again = '[[span]]\nname = "two"\nopen = "<calc>"\nclose = "</two>"\nevaluator = "arithmetic"\n'
    assert "already opens" in problems(BASE + again)["span[1].open"]


def test_a_pattern_that_needs_backtracking_is_refused() -> None:
    assert "not a linear-time" in problems(BASE + "content = '(a)\\1'\n")["span[0].content"]


@pytest.mark.parametrize("text", ["", "x = [", "version = 1\nversion = 1", "[" * 100_000, "a." * 50_000 + "b = 1"])
def test_text_that_is_no_registry_is_one_clear_error(text: str) -> None:
    assert problems(text)


@given(st.text())
def test_any_text_loads_or_raises_a_registry_error(text: str) -> None:
    try:
        Registry.parse(text)
    except RegistryError as error:
        assert error.problems


@pytest.mark.parametrize(
    ("content", "says"), [(None, "cannot be read"), (b"\xff\xfe", "not UTF-8"), (b" " * 5_000_000, "the limit is")]
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None, says: str) -> None:
    path = tmp_path / "r.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RegistryError, match=says) as raised:
        Registry.load(path)
    assert str(path) in str(raised.value)


def test_the_digest_follows_meaning_and_not_layout() -> None:
    registry = Registry.parse(BASE)
    assert Registry.parse("# a comment\n" + BASE).digest == registry.digest
    assert Registry.parse(BASE.replace("1000000", "1000001")).digest != registry.digest
    json.dumps(registry.model_dump(mode="json"))


def test_the_shipped_spans_let_a_model_write_every_function_and_no_other() -> None:
    from evalspan.evaluators import Evaluators

    registry = Registry.load()
    with Evaluators(registry) as evaluators:
        for rule in registry.spans:
            assert rule.content is not None
            pattern = LinearPattern(rule.content)
            functions = evaluators.describe(rule.evaluator).functions
            assert functions
            for name in functions:
                assert pattern.matches(
                    f'{name}("a (b) c")'.encode() if rule.name in ("strop", "check") else f"{name}(1)".encode()
                )
    for name in ("strop", "check"):
        pattern = LinearPattern(registry.span(name).content or "")
        assert not pattern.matches(b'print("x")')
        assert not pattern.matches(b'len("x')


def test_a_thousand_evaluators_load() -> None:
    text = "version = 1\n" + "".join(
        f'[[evaluator]]\nname = "e{i}"\nbuiltin = "arithmetic/1"\n'
        f'[[span]]\nname = "s{i}"\nopen = "<s{i}>"\nclose = "</s{i}>"\nevaluator = "e{i}"\n'
        for i in range(1000)
    )
    assert len(Registry.parse(text).tags) == 2004
