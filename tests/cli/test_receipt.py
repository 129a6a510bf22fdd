"""`evalspan run --receipt`, `evalspan demo --receipt` and `evalspan receipt`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from receipt_support import rehashed

from evalspan.orchestrator import ReceiptError, RequestError
from evalspan.orchestrator.cli.demo import demo
from evalspan.orchestrator.cli.main import cli
from evalspan.orchestrator.receipts import read_receipt

SCRIPT = {"tokens": ["So ", "<calc>", "17 * 23 + 91", "</calc>", "."]}


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "script.json"
    path.write_text(json.dumps(SCRIPT))
    return str(path)


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], standalone_mode=False)


def run(script: str, *arguments: str | Path) -> Result:
    return invoke("run", "How many?", "--plain", "--backend", "scripted", "--model", script, *arguments)


def verify(script: str, *arguments: str | Path) -> Result:
    return invoke("receipt", "verify", "--backend", "scripted", "--model", script, *arguments)


@pytest.mark.parametrize("name", ["r.json", "r.csv"])
def test_what_a_run_writes_is_verified(script: str, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert run(script, "--receipt", path).stdout == "So <calc>17 * 23 + 91</calc><result>482</result>.\n"
    result = verify(script, path)
    assert result.return_value == 0
    assert result.stdout.startswith(f"{path}: equal (6 sampled and 20 forced tokens, 1 evaluations; the model gives")
    replayed = verify(script, path, "--no-logits", "--json")
    assert json.loads(replayed.stdout) == {
        "file": str(path),
        "equal": True,
        "problems": [],
        "model": "consistent",
        "largest_difference": 0.0,
    }


def test_json_events_are_as_they_are_without_a_receipt(script: str, tmp_path: Path) -> None:
    with_receipt = run(script, "--json", "--receipt", tmp_path / "r.json")
    kinds = [json.loads(line)["event"] for line in with_receipt.stdout.splitlines()]
    assert kinds == [json.loads(line)["event"] for line in run(script, "--json").stdout.splitlines()]


def test_a_forged_value_is_told_with_its_place_and_exit_status_1(script: str, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    run(script, "--receipt", path)
    value = json.loads(path.read_text())
    value["output"]["events"][1]["value"] = "483"
    path.write_text(json.dumps(rehashed(value)))
    result = verify(script, path)
    assert result.return_value == 1
    assert result.stdout == f'{path}: output.events[1].value: "483" is recorded and "482" rebuilt\n'


def test_another_model_and_another_registry_are_told(script: str, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    run(script, "--receipt", path)
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"tokens": ["x"], "vocabulary": ["yz"]}))
    assert "identity.tokenizer: " in verify(str(other), path).stdout
    registry = tmp_path / "r.toml"
    registry.write_text('version = 1\n[[evaluator]]\nname = "a"\nbuiltin = "arithmetic/1"\n')
    result = verify(script, path, "--registry", registry)
    assert result.return_value == 1 and "identity.registry.evaluator[0].name: " in result.stdout


def test_every_prompt_of_a_file_has_its_receipt(script: str, tmp_path: Path) -> None:
    prompts, folder = tmp_path / "prompts.jsonl", tmp_path / "receipts"
    prompts.write_text('{"prompt": "one"}\n{"prompt": ""}\n{"prompt": "three"}\n')
    where = ("--plain", "--backend", "scripted", "--model", script, "--slots", "2")
    many = ("run", *where, "--prompts", prompts, "--receipt", folder, "--out")
    assert invoke(*many, tmp_path / "out.jsonl").exit_code == 0
    assert sorted(path.name for path in folder.iterdir()) == ["000000.json", "000002.json"]
    assert read_receipt(folder / "000002.json").request.prompt[-1].content == "three"  # type: ignore[union-attr]
    result = verify(script, *sorted(folder.iterdir()))
    assert result.return_value == 0 and len(result.stdout.splitlines()) == 2
    again = invoke(*many, tmp_path / "other.jsonl")
    assert isinstance(again.exception, RequestError) and "not empty" in str(again.exception)


def test_a_receipt_is_shown_to_people_without_control_characters(script: str, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    run(script, "--receipt", path)
    shown = invoke("receipt", "show", path).stdout
    assert "So <calc>17 * 23 + 91</calc>⟦<result>482</result>⟧." in shown
    for part in ("user: How many?", "arithmetic (arithmetic/1)", "llguidance", "unverified (nothing confirms it)"):
        assert part in shown
    value = json.loads(path.read_text())
    value["output"]["text"] = value["request"]["prompt"][0]["content"] = "\x1b[31mred"
    path.write_text(json.dumps(value))
    assert "\x1b" not in invoke("receipt", "show", path).stdout
    assert json.loads(invoke("receipt", "show", "--json", path).stdout) == value


def test_what_cannot_have_a_receipt_is_said_before_anything_runs(script: str, tmp_path: Path) -> None:
    for arguments, message in (
        (("--receipt", "r.txt"), "*.json or *.csv"),
        (("--receipt", tmp_path / "none" / "r.json"), "there is no folder for it"),
        (("--receipt", "r.json", "--n", "2", "--temperature", "1"), "one output"),
        (("--receipt", "r.json", "--beams", "2"), "one output"),
    ):
        assert message in str(run(script, *arguments).exception)
    assert "one output" in str(CliRunner().invoke(demo, ["--samples", "2", "--receipt", "r.json"]).stderr)
    result = run(script, "--receipt", tmp_path / "r.json", "--runtime", "in_process")
    assert isinstance(result.exception, RequestError)


def test_a_file_that_is_no_receipt_is_one_line(script: str, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text("{}")
    assert isinstance(verify(script, path).exception, ReceiptError)


@pytest.mark.model
def test_the_demo_writes_a_receipt_that_the_model_confirms(tmp_path: Path) -> None:
    path = tmp_path / "demo.csv"
    assert CliRunner().invoke(demo, ["--json", "--receipt", str(path)]).exit_code == 0
    assert read_receipt(path).output.text.endswith("<result>482</result>. The box holds 482 items.")
    confirmed = invoke("receipt", "verify", path)
    assert confirmed.return_value == 0 and "the model gives these logits" in confirmed.stdout
    replayed = invoke("receipt", "verify", "--no-logits", path)
    assert replayed.return_value == 0 and "the model did not run" in replayed.stdout
