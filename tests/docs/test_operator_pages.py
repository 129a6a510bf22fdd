"""The operator pages say what the references do: their examples are executed, their tables compared."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalspan.conformance.vectors import builtin_suites
from evalspan.evaluators.in_process import SPECS, load_reference
from evalspan.evaluators.outcome import Outcome, Value

FOLDER = Path(__file__).parents[2] / "docs" / "operators"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")


def spec_of(page: Path) -> str:
    """The specification that the page's first heading names."""
    return page.read_text(encoding="utf-8").split("\n", 1)[0].removeprefix("# ").split(":")[0]


def examples(page: Path) -> Iterator[tuple[str, str]]:
    """The input and the answer of each line in the blocks fenced as `examples`."""
    inside = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            inside = line == "```examples"
        elif inside:
            mark = max(line.rfind(" => "), line.rfind(" ~> "))
            assert mark >= 0, f"{page.name}: no answer in {line!r}"
            yield line[:mark], line[mark + 1 :]


def written(outcome: Outcome) -> str:
    """An answer as the pages write it."""
    if isinstance(outcome, Value):
        return f"{'=>' if outcome.exact else '~>'} {outcome.text}"
    return f"=> error {outcome.code.value} @{outcome.offset}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_page_has_a_reference_that_gives_its_examples(page: Path) -> None:
    assert spec_of(page) in SPECS
    evaluate = load_reference(spec_of(page)).evaluate
    lines = list(examples(page))
    assert len(lines) >= 20, "a page shows its functions and its errors"
    wrong = [f"{text} {answer}" for text, answer in lines if written(evaluate(text.encode(), {})) != answer]
    assert not wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_options_of_a_page_are_those_of_its_reference(page: Path) -> None:
    section = page.read_text(encoding="utf-8").split("## Options", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (\d+) to (\d+) \|", section, re.MULTILINE)
    options = load_reference(spec_of(page)).OPTIONS
    assert {name: tuple(map(int, numbers)) for name, *numbers in rows} == {
        name: (option.default, option.minimum, option.maximum) for name, option in options.items()
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_function_of_the_vectors_stands_on_the_page(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    suite = builtin_suites()[spec_of(page)]
    assert [name for name in suite.functions if f"`{name}(" not in text] == []


def test_the_index_lists_every_page() -> None:
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[(\S+)\]\((\S+)\) \| `(\S+)`", index, re.MULTILINE)
    assert sorted(listed) == [(page.name, page.name, spec_of(page)) for page in PAGES]
