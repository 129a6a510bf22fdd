"""The options of `evalspan run` that let a model reason first."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support import SHORT_TAGS

from evalspan.orchestrator import GrammarError
from evalspan.orchestrator.cli.run import run


def invoke(tmp_path: Path, *options: str, tokens: list[str]) -> Result:
    (tmp_path / "script.json").write_text(json.dumps({"tokens": tokens}))
    command = ["go", "--backend", "scripted", "--model", str(tmp_path / "script.json"), "--json", "--plain"]
    return CliRunner().invoke(run, [*command, *options])


def answered(result: Result) -> str:
    assert result.exit_code == 0, result.output
    last: str = json.loads(result.output.splitlines()[-1])["text"]
    return last


def test_reasoning_before_a_regex_on_the_command_line(tmp_path: Path) -> None:
    tokens = ["<think>", "hm", "</think>", "ab"]
    assert answered(invoke(tmp_path, "--reasoning", "--regex", "ab", tokens=tokens)) == "<think>hm</think>ab"


def test_reasoning_is_the_registrys_channel_where_there_is_one(tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(
        SHORT_TAGS + '[[channel]]\nname = "reasoning"\nopen = "<t>"\nclose = "</t>"\nspans = true\n'
    )
    options = ("--reasoning", "--registry", str(tmp_path / "r.toml"))
    tokens = ["<t>", "<c>", "1+1", "</c>", "</t>", " so ", "2"]
    assert answered(invoke(tmp_path, *options, tokens=tokens)) == "<t><c>1+1</c><r>2</r></t> so 2"
    quiet = invoke(tmp_path, *options, "--no-reasoning-spans", tokens=tokens)
    assert answered(quiet) == "<t><c>1+1</c></t> so 2"


def test_a_marker_and_a_limit_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"type": "boolean"}')
    options = ("--reasoning-close", "Answer:", "--reasoning-tokens", "2", "--schema", str(tmp_path / "s.json"))
    assert answered(invoke(tmp_path, *options, tokens=["a", "b", "true"])) == "abAnswer:true"


def test_reasoning_that_the_prompt_has_opened_on_the_command_line(tmp_path: Path) -> None:
    tokens = ["hm", "</think>", "ab"]
    options = ("--reasoning", "--reasoning-opened", "--regex", "ab")
    assert answered(invoke(tmp_path, *options, tokens=tokens)) == "hm</think>ab"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--reasoning-open", "<t>"), "--reasoning-open needs --reasoning-close"),
        (("--reasoning-close", "</t>", "--reasoning-open", "<t>", "--reasoning-opened"), "exclude each other"),
        (("--reasoning-tokens", "5"), "--reasoning-tokens needs --reasoning"),
        (("--reasoning-close", "x"), "2 to 64 characters"),
        (("--reasoning-close", "<calc>"), "is the tag of a span"),
    ],
)
def test_wrong_usage_of_reasoning_is_one_line(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    result = invoke(tmp_path, *options, tokens=["a"])
    assert result.exit_code
    assert message in (str(result.exception) if isinstance(result.exception, GrammarError) else result.output)
