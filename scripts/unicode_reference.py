"""Writes what the Python reference of strings/1 needs of Unicode 17.0 beyond its interpreter and `regex`.

    python scripts/unicode_reference.py    # needs node and npm

The data are those of npm's `@unicode/unicode-*`, in the versions below. Two files come out:

- `case_additions.py`: the case pairs that Unicode gained after 14.0, the version of Python 3.11's own mappings;
- `tests/evaluators/unicode_17.toml`: digests of every property that the reference relies on.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MODULE = ROOT / "evaluators_wasm/evalspan/evaluators/in_process/case_additions.py"
DIGESTS = ROOT / "tests/evaluators/unicode_17.toml"

OLDEST = "14.0.0"
"""The Unicode version of the oldest interpreter that the project supports."""
PACKAGES = {OLDEST: "2.0.7", "17.0.0": "2.1.0"}
"""Versions of the npm packages, by the version of Unicode that they hold."""

SETS = {
    **{
        f"GCB={value}": f"Grapheme_Cluster_Break/{value}"
        for value in (
            "CR", "LF", "Control", "Extend", "ZWJ", "Regional_Indicator", "Prepend", "SpacingMark",
            "L", "V", "T", "LV", "LVT",
        )
    },
    **{f"InCB={value}": f"Indic_Conjunct_Break/{value}" for value in ("Consonant", "Extend", "Linker")},
    **{
        name: f"Binary_Property/{name}"
        for name in ("Extended_Pictographic", "Cased", "Case_Ignorable", "White_Space")
    },
}  # fmt: skip
"""The properties, as `regex` spells them, with the folders of the package."""

DUMP = """
const [base, sets] = [process.argv[1], JSON.parse(process.argv[2])];
const load = async (path) => [...(await import(`${base}/${path}/code-points.mjs`)).default];
const result = {sets: {}};
for (const [name, path] of Object.entries(sets)) result.sets[name] = await load(path);
for (const side of ["Uppercase", "Lowercase"])
  result[side] = [...await load(`Simple_Case_Mapping/${side}`), ...await load(`Special_Casing/${side}`)];
process.stdout.write(JSON.stringify(result));
"""

Mapping = dict[int, list[int]]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        old = read(Path(folder), OLDEST, {})
        new = read(Path(folder), "17.0.0", SETS)
    MODULE.write_text(module_text(pairs(old, new)), encoding="utf-8")
    DIGESTS.write_text(digests_text(new), encoding="utf-8")


def read(folder: Path, unicode: str, sets: dict[str, str]) -> Any:
    """The properties `sets` and the full case mappings of a Unicode version."""
    name = f"@unicode/unicode-{unicode}"
    command = ["npm", "install", "--no-save", "--ignore-scripts", "--prefix", str(folder)]
    command.append(f"{name}@{PACKAGES[unicode]}")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    base = folder / "node_modules" / name
    node = ["node", "--input-type=module", "--eval", DUMP, "--", str(base), json.dumps(sets)]
    done = subprocess.run(node, check=True, capture_output=True)
    return json.loads(done.stdout)


def mapping(data: Any, side: str) -> Mapping:
    """The mapping of a side; an unconditional special casing, which comes later, replaces a simple one."""
    return {code: to if isinstance(to, list) else [to] for code, to in data[side]}


def pairs(old: Any, new: Any) -> list[tuple[int, int]]:
    """The pairs (upper, lower) that came after `old`. Fails where a change is more than a new pair."""
    found = {}
    for side in ("Uppercase", "Lowercase"):
        before, after = mapping(old, side), mapping(new, side)
        if changed := [code for code in before if before[code] != after.get(code)]:
            raise SystemExit(f"{side}: {changed} were mapped otherwise in Unicode {OLDEST}")
        found[side] = {(code, after[code][0]) for code in after.keys() - before.keys()}
        if any(len(after[code]) != 1 for code in after.keys() - before.keys()):
            raise SystemExit(f"{side}: a new mapping to more than one character")
    lower = sorted(found["Lowercase"])
    if {(to, code) for code, to in lower} != found["Uppercase"]:
        raise SystemExit("the new mappings are no pairs")
    return lower


def module_text(found: list[tuple[int, int]]) -> str:
    def literal(codes: list[int]) -> str:
        lines = [codes[at : at + 8] for at in range(0, len(codes), 8)]
        return "\n".join('    "' + "".join(f"\\U{code:08x}" for code in line) + '"' for line in lines)

    return (
        f'"""The case pairs that Unicode gained from {OLDEST} to 17.0.0.\n\n'
        'Written by scripts/unicode_reference.py: do not edit.\n"""\n\n'
        "from __future__ import annotations\n\n"
        '__all__ = ["LOWERCASE", "UPPERCASE"]\n\n'
        f"UPPERCASE = (\n{literal([upper for upper, _ in found])}\n)\n"
        '"""The uppercase letters."""\n\n'
        f"LOWERCASE = (\n{literal([lower for _, lower in found])}\n)\n"
        '"""The lowercase letter of each, at the same index."""\n'
    )


def digests_text(data: Any) -> str:
    lines = [
        "# SHA-256 of what the reference of strings/1 relies on in Unicode 17.0, from scripts/unicode_reference.py.",
        "# A set is hashed as its code points in ascending order, a mapping as lines of a code point, a colon and",
        "# what it becomes; numbers are hexadecimal, separated by spaces. Surrogates are left out.",
        "",
        "[sets]",
    ]
    for name, codes in data["sets"].items():
        text = " ".join(f"{code:x}" for code in sorted(codes) if not 0xD800 <= code <= 0xDFFF)
        lines.append(f'"{name}" = "{digest(text)}"')
    lines += ["", "[mappings]"]
    for side, name in (("Uppercase", "upper"), ("Lowercase", "lower")):
        rows = sorted((code, to) for code, to in mapping(data, side).items() if to != [code])
        text = "\n".join(f"{code:x}:{' '.join(f'{one:x}' for one in to)}" for code, to in rows)
        lines.append(f'{name} = "{digest(text)}"')
    return "\n".join(lines) + "\n"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


if __name__ == "__main__":
    main()
