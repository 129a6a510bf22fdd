"""strings/1 in Python against implementations of Unicode that it does not use.

| oracle | what is compared | where from |
|---|---|---|
| ICU 78 (Unicode 17.0), by `icu4py` | grapheme clusters | `pip install --group oracles` |
| ICU in node (`process.versions.unicode` 17.0) | uppercase and lowercase | node |
| Unicode's GraphemeBreakTest.txt, of the version that is there | grapheme clusters | Debian's `unicode-data` |

An oracle that is missing, or is of another version of Unicode, skips its tests with the reason. It fails them with
the environment variable EVALSPAN_ORACLES=required, and in continuous integration unless it is node, of which no
package of Debian is new enough.
"""

import json
import random
import re
import shutil
import subprocess

import pytest
import regex
from evaluators.oracles import BREAK_TEST, break_test_rows, icu_clusters, unavailable
from hypothesis import given
from hypothesis import strategies as st

from evalspan.evaluators.in_process.unicode_text import clusters, lower, upper

CLASSES = [
    *(rf"\p{{GCB={name}}}" for name in ("Control", "Extend", "Regional_Indicator", "Prepend", "SpacingMark")),
    *(rf"\p{{GCB={name}}}" for name in ("L", "V", "T", "LV", "LVT")),
    *(rf"\p{{InCB={name}}}" for name in ("Consonant", "Extend", "Linker")),
    r"\p{Extended_Pictographic}",
    r"\u200d",
    r"[\r\n]",
    r"\p{Ll}",
    r"\p{Cn}",
]
"""Every class of characters that the rules of UAX #29 tell apart, and two that they do not."""


def scalars() -> str:
    return "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF)


@pytest.fixture(scope="module")
def members() -> dict[str, list[str]]:
    """The characters of each class."""
    everything = scalars()
    return {name: regex.findall(name, everything) for name in CLASSES}


def test_every_character_breaks_in_icu_as_it_does_here() -> None:
    """Each character between neighbours that bring out its class: letters, jamo, pictographs, conjuncts, flags."""
    contexts = [
        "a{}a",
        "\u1100{}\u11a8",
        "\u00a9{}\u200d\u00a9",
        "\u00a9\u200d{}",
        "\u0915\u094d{}",
        "\u0915{}\u0937",
        "{}\u094d\u0937",
    ]
    everything = scalars()
    for context in contexts:
        before, after = context.split("{}")
        for start in range(0, len(everything), 4096):  # a line feed keeps the contexts of one text apart
            text = "\n".join(before + one + after for one in everything[start : start + 4096])
            assert list(clusters(text)) == icu_clusters(text)


def test_texts_of_all_classes_break_in_icu_as_they_do_here(members: dict[str, list[str]]) -> None:
    """20,000 texts of up to ten characters, each of a random class."""
    chance = random.Random(29)  # noqa: S311 - a fixed sample
    for _ in range(20_000):
        text = "".join(chance.choice(members[chance.choice(CLASSES)]) for _ in range(chance.randint(1, 10)))
        assert list(clusters(text)) == icu_clusters(text)


@given(
    st.text(
        st.sampled_from("a\r\n\u0301\u200d\u0600\u0915\u094d\u093c\u200c\u1100\uac00\u11a8\U0001f1e9\U0001f469\u00ad"),
        max_size=10,
    )
)
def test_texts_of_one_character_of_each_class_break_in_icu_as_they_do_here(text: str) -> None:
    assert list(clusters(text)) == icu_clusters(text)


def test_unicodes_break_test_holds_where_its_version_and_17_agree() -> None:
    """Rows of an earlier version disagree with 17.0 for two reasons, and a row that disagrees must have one of them.

    U+2701 is Extended_Pictographic up to 16.0 and is not in 17.0; a conjunct (GB9c) is one cluster from 15.1 on.
    Rows of 17.0 itself may not disagree at all.
    """
    rows = list(break_test_rows())
    version = re.search(r"GraphemeBreakTest-(\d+\.\d+)", BREAK_TEST.read_text(encoding="utf-8"))
    assert version is not None
    assert len(rows) >= 600, "the file has at least 600 rows in every version from 12.0 on"
    known = regex.compile(r"\u2701\u200d\u2701|\p{InCB=Consonant}[\p{InCB=Extend}\p{InCB=Linker}]+\p{InCB=Consonant}")
    differing = [row for row in rows if list(clusters("".join(row))) != row]
    unexplained = [row for row in differing if not known.search("".join(row))]
    assert unexplained == []
    assert len(differing) <= (0 if version[1] == "17.0" else 20), "most rows are compared"


CASE_OF_ICU = """
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
const answers = texts.map((text) => [text.toUpperCase(), text.toLowerCase()]);
process.stdout.write(JSON.stringify([process.versions.unicode || "none", answers]));
"""


def icu_case(texts: list[str]) -> list[list[str]]:
    """The uppercase and the lowercase of each text, in one run of node."""
    node = shutil.which("node")
    if node is None:
        unavailable("node is missing: its ICU is the oracle of case", installable=False)
    run = subprocess.run(
        [node, "--eval", CASE_OF_ICU],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    version, answers = json.loads(run.stdout)
    if version != "17.0":
        unavailable(f"node has Unicode {version}, not 17.0", installable=False)
    return list(answers)


def test_every_character_has_the_case_that_icu_gives_it() -> None:
    texts = list(scalars())
    for text, (uppercase, lowercase) in zip(texts, icu_case(texts), strict=True):
        assert (upper(text), lower(text)) == (uppercase, lowercase), f"U+{ord(text):04X}"


def test_sigmas_in_texts_have_the_case_that_icu_gives_them() -> None:
    """20,000 texts of sigmas among characters that are cased, case-ignorable, both or neither, old and new."""
    everything = scalars()
    kinds = [
        regex.findall(pattern, everything)
        for pattern in (
            r"[\p{Cased}--\p{Case_Ignorable}]",
            r"[\p{Case_Ignorable}--\p{Cased}]",
            r"[\p{Cased}&&\p{Case_Ignorable}]",
            r"[\p{L}--\p{Cased}--\p{Case_Ignorable}]",
            r"[ 1Σ]",
            "Σ",
        )
        for pattern in [f"(?V1){pattern}"]
    ]
    chance = random.Random(3)  # noqa: S311 - a fixed sample
    texts = ["".join(chance.choice(chance.choice(kinds)) for _ in range(chance.randint(1, 8))) for _ in range(20_000)]
    assert sum(lower(text).count("ς") for text in texts) > 1000
    for text, (uppercase, lowercase) in zip(texts, icu_case(texts), strict=True):
        assert (upper(text), lower(text)) == (uppercase, lowercase)
