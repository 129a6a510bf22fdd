"""The command line as a user meets it: output, one-line errors, exit codes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = [str(Path(sys.executable).parent / "evalspan")]


def run(*arguments: str, data: bytes = b"", **environment: str) -> subprocess.CompletedProcess[str]:
    result = subprocess.run(
        [*COMMAND, *arguments], input=data, capture_output=True, env={**os.environ, **environment}, timeout=600
    )
    return subprocess.CompletedProcess(result.args, result.returncode, result.stdout.decode(), result.stderr.decode())


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"tokens": ["So ", "<calc>", "17 * 23 + 91", "</calc>", "."]}))
    return str(path)


@pytest.mark.parametrize(
    ("expression", "value"), [("17 * 23 + 91", "482"), ("-2**2", "-4"), ("--3", "3"), ("1/3", "0.333333333333333")]
)
@pytest.mark.parametrize("runtime", ["wasm", "in_process"])
def test_evaluate_prints_the_value(expression: str, value: str, runtime: str) -> None:
    result = run("evaluate", "arithmetic", expression, "--runtime", runtime)
    assert (result.stdout, result.stderr, result.returncode) == (value + "\n", "", 0)


def test_evaluate_answers_json() -> None:
    answer = json.loads(run("evaluate", "arithmetic", "1/3", "--json").stdout)
    assert answer["value"] == "0.333333333333333"
    assert answer["exact"] is False
    assert answer["fuel"] > 0


def test_an_error_is_one_line_and_status_1() -> None:
    result = run("evaluate", "arithmetic", "2 + 1/0")
    assert (result.stdout, result.returncode) == ("", 1)
    assert result.stderr.startswith("evalspan: division_by_zero at byte 5: ")
    assert result.stderr.count("\n") == 1
    answer = json.loads(run("evaluate", "arithmetic", "2 + 1/0", "--json").stdout)
    assert set(answer) == {"error"}
    assert (answer["error"]["code"], answer["error"]["offset"]) == ("division_by_zero", 5)


def test_jsonl_is_answered_line_by_line_in_order(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"input": "1+1"}\n{"input": "1/0"}\n\n{"input": "\\ud800"}\n{"input": "2*3", "id": 7}\n')
    for arguments, data in ((("--jsonl", str(path)), b""), (("--jsonl", "-"), path.read_bytes())):
        result = run("evaluate", "arithmetic", *arguments, data=data)
        answers = [json.loads(line) for line in result.stdout.splitlines()]
        assert [a.get("value") or a["error"]["code"] for a in answers] == ["2", "division_by_zero", "syntax", "6"]
        assert result.returncode == 0


@pytest.mark.parametrize("line", ["{", "[1]", '{"inptu": "1"}', '{"input": 1}', "[" * 100_000])
def test_a_line_that_is_no_request_is_named_and_earlier_answers_are_kept(line: str) -> None:
    result = run("evaluate", "arithmetic", "--jsonl", "-", data=f'{{"input": "1+1"}}\n{line}\n'.encode())
    assert json.loads(result.stdout)["value"] == "2"
    assert "line 2" in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.returncode == 2


def test_run_streams_text(script: str) -> None:
    result = run("run", "How many?", "--backend", "scripted", "--model", script)
    assert result.stdout == "So <calc>17 * 23 + 91</calc><result>482</result>.\n"
    assert (result.stderr, result.returncode) == ("", 0)


def test_run_json_is_one_event_a_line_and_ends_with_finished(script: str) -> None:
    result = run("run", "How many?", "--backend", "scripted", "--model", script, "--json")
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert [event["event"] for event in events if event["event"] != "text"] == [
        "span_opened",
        "evaluated",
        "injected",
        "finished",
    ]
    assert events[-1]["reason"] == "eos"
    assert events[-1]["text"] == "So <calc>17 * 23 + 91</calc><result>482</result>."
    assert "".join(e["text"] for e in events if e["event"] in ("text", "injected")) == events[-1]["text"]


def test_run_reads_a_prompt_from_standard_input(script: str) -> None:
    result = run("run", "-", "--backend", "scripted", "--model", script, "--plain", data=b"How many?")
    assert result.returncode == 0


def test_the_token_limit_is_remarked_on_standard_error(script: str) -> None:
    result = run("run", "Hi", "--backend", "scripted", "--model", script, "--max-tokens", "2")
    assert result.stdout == "So <calc>\n"
    assert "token limit" in result.stderr
    assert result.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "says", "status"),
    [
        (("run", "x", "--model", "/no/such.gguf"), "cannot be read", 4),
        (("run", "x", "--model", __file__), "no GGUF", 4),
        (("run", "x", "--backend", "lama_cpp"), "did you mean 'llama_cpp'?", 4),
        (("run", "x", "--backend", "scripted"), "needs a script", 4),
        (("run", "x", "--registry", "/no/such.toml"), "cannot be read", 3),
        (("run", "x", "--registry", __file__), "is not TOML", 3),
        (("run", "  "), "prompt is empty", 4),
        (("run", "x", "--temperature", "-1", "--backend", "scripted"), "temperature", 2),
        (("run", "x", "--mode", "nonsense"), "nonsense", 2),
        (("run",), "either a PROMPT", 2),
        (("run", "x", "--prompts", "f", "--out", "g"), "either a PROMPT", 2),
        (("run", "--prompts", "/no/such", "--out", "g", "--backend", "scripted"), "script", 4),
        (("evaluate", "arithmetics", "1"), "did you mean 'arithmetic'?", 3),
        (("evaluate", "arithmetic"), "EXPRESSION", 2),
        (("evaluate", "arithmetic", "--jsonl", "/no/such"), "cannot be read", 2),
        (("nonsense",), "No such command", 2),
        (("demo", "--samples", "0"), "0", 2),
    ],
)
def test_wrong_use_is_one_clear_line_and_a_documented_status(
    arguments: tuple[str, ...], says: str, status: int
) -> None:
    result = run(*arguments)
    assert says in result.stderr
    assert "Traceback" not in result.stderr
    assert result.returncode == status
    if status != 2:
        assert result.stderr.count("\n") == 1


def test_a_file_of_prompts_is_answered_in_order(script: str, tmp_path: Path) -> None:
    prompts, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    prompts.write_text("".join(f'{{"prompt": "How many?", "id": {i}}}\n' for i in range(9)))
    arguments = ("run", "--prompts", str(prompts), "--out", str(out), "--backend", "scripted", "--model", script)
    result = run(*arguments, "--slots", "4")
    assert result.returncode == 0, result.stderr
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == list(range(9))
    again = run(*arguments)
    assert again.returncode == 2
    assert "exists already" in again.stderr


def test_a_prompt_longer_than_the_context_is_refused(script: str) -> None:
    result = run("run", "word " * 5000, "--backend", "scripted", "--model", script)
    assert "--context" in result.stderr
    assert result.returncode == 4


def test_a_required_span_that_is_unknown_is_refused(script: str) -> None:
    result = run("run", "x", "--backend", "scripted", "--model", script, "--require-span", "clac")
    assert "did you mean 'calc'?" in result.stderr
    assert result.returncode == 2


def test_registry_check_lists_every_problem(tmp_path: Path) -> None:
    assert run("registry", "check").returncode == 0
    path = tmp_path / "r.toml"
    path.write_text('version = 1\n[[evaluator]]\nname = "a"\nbuiltin = "arithmetik/1"\n[[evaluator]]\nname = "a"\n')
    result = run("registry", "check", str(path))
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 3
    assert all(line.startswith(f"{path}: evaluator[") for line in result.stderr.splitlines())
    answer = json.loads(run("registry", "check", str(path), "--json").stdout)
    assert not answer["ok"]
    assert len(answer["problems"]) == 3


def test_plugins_lists_the_backends() -> None:
    rows = json.loads(run("plugins", "--json").stdout)
    assert {"llama_cpp", "scripted"} <= {row["backend"] for row in rows}


def test_a_reader_that_goes_away_is_no_traceback(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"input": "1+1"}\n' * 50_000)
    with subprocess.Popen(
        [*COMMAND, "evaluate", "arithmetic", "--jsonl", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


def test_control_characters_of_a_model_do_not_reach_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"tokens": ["a\x1b[31mb", "\x07"]}))
    result = run("run", "x", "--backend", "scripted", "--model", str(path), "--mode", "no-grammar")
    assert result.stdout == "a�[31mb�\n"


@pytest.mark.model
def test_an_interrupt_ends_a_generation_with_its_text_and_status_130() -> None:
    with subprocess.Popen(
        [*COMMAND, "run", "Tell a long story.", "--plain", "--json", "--max-tokens", "4000", "--temperature", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that runs the tests in the background has them ignore SIGINT, and so would the command.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    events = [json.loads(line) for line in [first, *out.splitlines()]]
    assert events[-1]["event"] == "finished"
    assert events[-1]["reason"] == "cancelled"
    assert events[-1]["text"] == "".join(e["text"] for e in events[:-1] if e["event"] == "text")
    assert err.strip() == "evalspan: interrupted"
    assert process.returncode == 130


@pytest.mark.model
def test_the_demo_shows_the_wrong_and_the_right_number() -> None:
    result = run("demo")
    assert result.returncode == 0
    wrong, _, right = result.stdout.partition("grammar-eval:")
    assert "wrong value" in wrong
    assert "<calc>17 * 23 + 91</calc><result>482</result>" in right
    assert "<result>482</result>" not in wrong
    assert "\x1b" not in result.stdout


@pytest.mark.model
def test_the_demo_in_json_is_the_second_run() -> None:
    events = [json.loads(line) for line in run("demo", "--json").stdout.splitlines()]
    assert "<calc>17 * 23 + 91</calc><result>482</result>" in events[-1]["text"]
    assert events[-1]["event"] == "finished"


@pytest.mark.model
def test_the_experiment_counts_every_problem_in_every_mode() -> None:
    answer = json.loads(run("demo", "--samples", "2", "--seed", "1", "--json").stdout)
    assert set(answer["modes"]) == {"no-grammar", "grammar-no-eval", "grammar-eval"}
    assert all(sum(row.values()) == 2 for row in answer["modes"].values())
    assert answer["modes"]["grammar-eval"]["wrong value"] == 0
