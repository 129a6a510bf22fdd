"""Prompts from a file: results in order, an interrupted run goes on, nothing is half written."""

import json
from pathlib import Path
from typing import Any

import pytest

from evalspan.backends.scripted import ScriptedBackend
from evalspan.orchestrator import Driver, JsonSchema, Request, RequestError
from evalspan.orchestrator.files import PromptLine, read_prompts, run_file

SETTINGS = {"max_tokens": 50}


def driver() -> Driver:
    return Driver(ScriptedBackend.replay(["so ", "<calc>", "6*7", "</calc>", "."], slots=3, context_tokens=200))


def request(line: PromptLine) -> Request:
    return Request(line.prompt, max_tokens=50)


PROMPTS = [PromptLine(f"prompt {'x' * (i % 5)}", i) for i in range(20)]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_results_are_in_the_order_of_the_prompts(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    with driver() as opened:
        assert run_file(opened, PROMPTS, request, out, SETTINGS) == 0
    found = lines(out)
    assert [record["id"] for record in found] == list(range(20))
    assert {record["text"] for record in found} == {"so <calc>6*7</calc><result>42</result>."}
    assert [fact["event"] for fact in found[0]["injections"]] == ["evaluated", "injected"]
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]


def test_an_interrupted_run_goes_on_where_it_ended(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    counted: list[int] = []

    def interrupt(count: int) -> None:
        counted.append(count)
        if count == 7:
            raise KeyboardInterrupt

    with driver() as opened, pytest.raises(KeyboardInterrupt):
        run_file(opened, PROMPTS, request, out, SETTINGS, interrupt)
    assert not out.exists()
    partial = tmp_path / "out.jsonl.partial"
    partial.write_bytes(partial.read_bytes() + b'{"index": 19, "te')  # as if cut off in the middle of a line
    asked: list[Any] = []
    with driver() as opened:
        again = lambda line: asked.append(line.id) or request(line)  # type: ignore[func-returns-value]  # noqa: E731
        assert run_file(opened, PROMPTS, again, out, SETTINGS) == 7
    assert len(asked) == 13
    with driver() as opened:
        other = tmp_path / "other.jsonl"
        run_file(opened, PROMPTS, request, other, SETTINGS)
    strip = [{**record, "injections": []} for record in lines(out)]
    assert strip == [{**record, "injections": []} for record in lines(other)]


@pytest.mark.parametrize("change", ["settings", "prompts", "garbage", "output"])
def test_what_does_not_fit_an_earlier_run_is_refused(tmp_path: Path, change: str) -> None:
    out = tmp_path / "out.jsonl"

    def stop(count: int) -> None:
        if count == 2:
            raise KeyboardInterrupt

    with driver() as opened, pytest.raises(KeyboardInterrupt):
        run_file(opened, PROMPTS, request, out, SETTINGS, stop)
    if change == "garbage":
        (tmp_path / "out.jsonl.partial").write_text("hello\n")
    if change == "output":
        out.write_text("")
    prompts = PROMPTS[1:] if change == "prompts" else PROMPTS
    settings = {"max_tokens": 51} if change == "settings" else SETTINGS
    with driver() as opened, pytest.raises(RequestError, match=r"remove it|other prompts"):
        run_file(opened, prompts, request, out, settings)


def test_a_prompt_that_cannot_be_run_has_an_error_in_its_place(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    prompts = [PromptLine("a"), PromptLine("x" * 500), PromptLine("b")]
    with driver() as opened:
        run_file(opened, prompts, request, out, SETTINGS)
    found = lines(out)
    assert "the context holds 200" in found[1]["error"]
    assert found[1]["code"] == "prompt"
    assert [record.get("reason") for record in found] == ["eos", None, "eos"]


@pytest.mark.parametrize("line", ["{", "[]", '{"prompt": 1}', '{"text": "x"}', '{"prompt": "x", "pormpt": 1}'])
def test_a_line_that_is_no_prompt_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(f'{{"prompt": "a", "id": "first"}}\n\n{line}\n')
    with pytest.raises(RequestError, match="line 3"):
        read_prompts(path)


def test_each_request_is_prepared_once_but_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with driver() as opened:
        encoded: list[Any] = []
        encode = opened.backend.tokenizer.encode_prompt
        monkeypatch.setattr(
            opened.backend.tokenizer, "encode_prompt", lambda text: encoded.append(text) or encode(text)
        )
        run_file(opened, PROMPTS, request, tmp_path / "out.jsonl", SETTINGS)
    assert len(encoded) == len(PROMPTS) + 1


def test_settings_that_cannot_be_honoured_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    def wrong(line: PromptLine) -> Request:
        return Request(line.prompt, max_tokens=0)

    with driver() as opened, pytest.raises(RequestError, match="max_tokens"):
        run_file(opened, [PromptLine("x" * 500), *PROMPTS], wrong, tmp_path / "out.jsonl", SETTINGS)
    assert not list(tmp_path.iterdir())


def test_a_generation_that_cannot_go_on_is_a_result_with_its_code(tmp_path: Path) -> None:
    with Driver(ScriptedBackend.replay([{"a": float("nan")}], slots=2)) as opened:
        run_file(opened, PROMPTS[:3], request, tmp_path / "out.jsonl", SETTINGS)
    for record in lines(tmp_path / "out.jsonl"):
        assert (record["reason"], record["code"]) == ("decode_error", "bad_logits")
        assert "finite" in record["error"]


def test_refusals_and_broken_assertions_are_findings(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"r": {"type": "string", "x-evalspan-refusal": True}}, "required": ["r"]}
    with Driver(ScriptedBackend.replay(list('{"r": "no"}'), slots=2)) as opened:
        wanted = lambda line: Request(line.prompt, grammar=JsonSchema(schema))  # noqa: E731
        run_file(opened, PROMPTS[:2], wanted, tmp_path / "out.jsonl", SETTINGS)
    for record in lines(tmp_path / "out.jsonl"):
        assert record["findings"] == [{"event": "refused", "span": "/r", "text": "no"}]
