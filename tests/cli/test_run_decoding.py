"""`evalspan run` with stop strings, limits, samples, beams, metrics, and files in which a prompt is refused."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from evalspan.orchestrator import DecodeError, RequestError
from evalspan.orchestrator.cli.run import run


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"tokens": ["So ", "<calc>", "17 * 23 + 91", "</calc>", ".", "\n\n", "More"]}))
    return str(path)


def invoke(script: str, *arguments: str) -> Result:
    return CliRunner().invoke(run, ["How many?", "--backend", "scripted", "--model", script, *arguments])


def test_a_stop_string_ends_the_text_with_a_remark(script: str) -> None:
    result = invoke(script, "--stop", "\n\n", "--stop", "never")
    assert result.stdout == "So <calc>17 * 23 + 91</calc><result>482</result>.\n"
    assert result.stderr == "evalspan: stopped at '\\n\\n' (--stop)\n"
    kept = invoke(script, "--stop", "</calc>", "--keep-stop", "--json")
    last = json.loads(kept.stdout.splitlines()[-1])
    assert (last["text"], last["reason"], last["stop_string"]) == (
        "So <calc>17 * 23 + 91</calc>",
        "stop_string",
        "</calc>",
    )


def test_a_time_limit_is_taken(script: str) -> None:
    assert invoke(script, "--time-limit", "60").exit_code == 0
    result = invoke(script, "--time-limit", "0")
    assert isinstance(result.exception, RequestError)
    assert "time_limit" in str(result.exception)
    tiny = invoke(script, "--time-limit", "1e-9")
    assert (tiny.stdout, tiny.stderr) == ("\n", "evalspan: stopped: the time is used up (--time-limit)\n")


def test_samples_are_shown_one_after_the_other_with_their_seeds(script: str) -> None:
    result = invoke(script, "--n", "3", "--temperature", "0.001", "--seed", "5")
    assert result.stdout == 3 * "So <calc>17 * 23 + 91</calc><result>482</result>.\n\nMore\n"
    assert result.stderr.splitlines() == [f"evalspan: sample {i} of 3, seed {4 + i}" for i in (1, 2, 3)]


def test_samples_in_json_carry_their_number_and_seed(script: str) -> None:
    result = invoke(script, "--n", "2", "--temperature", "0.001", "--seed", "5", "--json")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert {(line["sample"], line["seed"]) for line in lines} == {(0, 5), (1, 6)}
    assert sum(line["event"] == "finished" for line in lines) == 2


def test_beams_are_ranked(script: str) -> None:
    result = invoke(script, "--beams", "2", "--require-span", "calc", "--stop", "\n\n")
    assert result.stdout.startswith("So <calc>17 * 23 + 91</calc><result>482</result>.\n")
    assert result.stderr.startswith("evalspan: beam 1 of 2, score -")
    lines = [json.loads(line) for line in invoke(script, "--beams", "2", "--json").stdout.splitlines()]
    assert [line["rank"] for line in lines] == [1, 2]
    for line in lines:
        assert line["score"] == pytest.approx(line["log_probability"] / line["length"])
        assert line["events"][-1]["text"] == line["text"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--n", "2", "--beams", "2"), "either --n or --beams"),
        (("--length-penalty", "0.5"), "give --beams"),
        (("--keep-stop",), "give that too"),
        (("--metrics", "/no/such/folder/metrics"), "no folder"),
        (("--n", "0"), "0 is not"),
    ],
)
def test_options_that_do_not_go_together_are_refused(script: str, arguments: tuple[str, ...], says: str) -> None:
    result = invoke(script, *arguments)
    assert result.exit_code == 2
    assert says in result.stderr


def test_metrics_are_written_whole_also_after_an_error(script: str, tmp_path: Path) -> None:
    metrics = tmp_path / "metrics.prom"
    assert invoke(script, "--metrics", str(metrics)).exit_code == 0
    lines = metrics.read_text().splitlines()
    assert 'evalspan_generations_total{reason="eos"} 1' in lines
    assert 'evalspan_injections_total{kind="result"} 1' in lines
    assert [path.name for path in tmp_path.glob("metrics*")] == ["metrics.prom"]
    # A grammar that asks for a tag of the engine's: the guard leaves nothing of its mask.
    grammar = tmp_path / "grammar.lark"
    grammar.write_text('start: A B C\nA: "<"\nB: "result"\nC: ">"\n')
    failed = invoke(script, "--grammar", str(grammar), "--metrics", str(metrics))
    assert isinstance(failed.exception, DecodeError)
    assert 'evalspan_decode_errors_total{code="empty_mask"} 1' in metrics.read_text().splitlines()


def test_metrics_that_cannot_be_written_are_an_error_and_leave_no_part(script: str, tmp_path: Path) -> None:
    folder = tmp_path / "metrics"
    folder.mkdir()
    result = invoke(script, "--metrics", str(folder))
    assert isinstance(result.exception, RequestError)
    assert "cannot be written" in str(result.exception)
    assert [path.name for path in tmp_path.glob("metrics*")] == ["metrics"]


def test_a_file_has_a_typed_error_in_the_place_of_a_prompt_that_is_refused(script: str, tmp_path: Path) -> None:
    prompts, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    prompts.write_text("".join(json.dumps({"prompt": prompt}) + "\n" for prompt in ("a", "b" * 9000, "c")))
    arguments = [
        "--backend",
        "scripted",
        "--model",
        script,
        "--prompts",
        str(prompts),
        "--out",
        str(out),
        "--stop",
        ".",
    ]
    result = CliRunner().invoke(run, [*arguments, "--metrics", str(tmp_path / "metrics")])
    assert result.exit_code == 0, result.stderr
    first, refused, last = (json.loads(line) for line in out.read_text().splitlines())
    assert refused["code"] == "prompt"
    assert "the context holds 4096" in refused["error"]
    assert first["stop_string"] == last["stop_string"] == "."
    assert 'evalspan_refused_requests_total{code="prompt"} 1' in (tmp_path / "metrics").read_text().splitlines()
