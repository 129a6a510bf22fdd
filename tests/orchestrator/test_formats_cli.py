"""The grammar options of `evalspan run`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from evalspan.orchestrator import GrammarError
from evalspan.orchestrator.cli.run import run

SCRIPT = ["Sum: ", "<calc>", "40+2", "</calc>", " so ", "."]
DOCUMENT = {
    "type": "structural_tag",
    "format": {
        "type": "sequence",
        "elements": [
            {"type": "const_string", "value": "Sum: "},
            {"type": "evaluated_tag", "begin": "<calc>", "end": "</calc>", "evaluator": "arithmetic"},
            {"type": "const_string", "value": " so "},
            {"type": "result_ref", "span": "calc"},
        ],
    },
}


def invoke(tmp_path: Path, *options: str, tokens: list[str] = SCRIPT) -> Result:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"tokens": tokens}))
    command = ["go", "--backend", "scripted", "--model", str(script), "--json", "--plain", *options]
    return CliRunner().invoke(run, command)


def text(result: Result) -> str:
    assert result.exit_code == 0, result.output
    last: str = json.loads(result.output.splitlines()[-1])["text"]
    return last


def test_lark(tmp_path: Path) -> None:
    (tmp_path / "a.lark").write_text('start: "Sum: " @calc " so " @calc.result "."\n')
    found = text(invoke(tmp_path, "--grammar", str(tmp_path / "a.lark")))
    assert found == "Sum: <calc>40+2</calc><result>42</result> so 42."


def test_a_structural_tag(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(DOCUMENT))
    found = text(invoke(tmp_path, "--structural-tag", str(tmp_path / "a.json")))
    assert found == "Sum: <calc>40+2</calc><result>42</result> so 42"


def test_a_regex(tmp_path: Path) -> None:
    assert text(invoke(tmp_path, "--regex", "[a-c]{2}", tokens=["ab", "x"])) == "ab"


def test_gbnf(tmp_path: Path) -> None:
    (tmp_path / "a.gbnf").write_text('root ::= "x" ("y" | "z")')
    assert text(invoke(tmp_path, "--gbnf", str(tmp_path / "a.gbnf"), tokens=["x", "z", "z"])) == "xz"


@pytest.mark.parametrize(
    "options",
    [
        ("--regex", "a", "--gbnf", "x"),
        ("--regex", "a", "--require-span", "calc"),
        ("--grammar", "a", "--structural-tag", "b"),
    ],
)
def test_grammars_exclude_each_other(tmp_path: Path, options: tuple[str, ...]) -> None:
    result = invoke(tmp_path, *options)
    assert result.exit_code == 2
    assert "exclude each other" in result.output


@pytest.mark.parametrize("option", ["--grammar", "--gbnf", "--structural-tag"])
def test_a_file_that_cannot_be_read_is_wrong_usage(tmp_path: Path, option: str) -> None:
    (tmp_path / "latin1").write_bytes(b"start: \xe9")
    for file, message in (("missing", "cannot be read"), ("latin1", "is not UTF-8 at byte 7")):
        result = invoke(tmp_path, option, str(tmp_path / file))
        assert result.exit_code == 2
        assert message in result.output.replace("\n", " ").replace("  ", " ")


def test_a_grammar_that_does_not_compile_is_an_error_of_its_own(tmp_path: Path) -> None:
    assert isinstance(invoke(tmp_path, "--regex", "(").exception, GrammarError)
