"""What the vllm backend is asked for, as far as it is checked without vLLM."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalspan.backends.in_engine.asking import keys_for, parse_sentence, sentence_text
from evalspan.backends.in_engine.options import read_options
from evalspan.backends.vllm_settings import read_settings
from evalspan.orchestrator import (
    BackendError,
    BackendOptions,
    FreeText,
    Gbnf,
    GrammarError,
    JsonSchema,
    LarkText,
    ModelError,
    Pattern,
    PluginError,
    Regex,
    RequestError,
    Restate,
    Sentence,
    SpanPart,
    StructuralTag,
    Window,
    Windows,
)
from evalspan.orchestrator.backend import check_engine_options
from evalspan.orchestrator.plugins import backend_class

SENTENCE = Sentence(("It is ", SpanPart("calc"), ", so ", Restate("calc", "[0-9]+"), Pattern("[a-z]{1,5}"), "."))
SCHEMA = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^[a-z]+$"}}, "required": ["a"]}


def folder(tmp_path: Path, **config: Any) -> str:
    (tmp_path / "config.json").write_text(json.dumps(config))
    return str(tmp_path)


def options(model: str | None, **engine: str) -> BackendOptions:
    return BackendOptions(model=model, engine=engine)


def test_a_folder_is_taken_as_it_is_with_a_context_that_its_model_knows(tmp_path: Path) -> None:
    settings = read_settings(options(folder(tmp_path, max_position_embeddings=2048)))
    assert (settings.folder, settings.path, settings.context_tokens) == (tmp_path, "in-engine", 2048)
    nested = read_settings(options(folder(tmp_path, text_config={"max_position_embeddings": 100_000})))
    assert nested.context_tokens == 4096
    assert read_settings(options(folder(tmp_path))).context_tokens == 4096


def test_engine_options_are_read(tmp_path: Path) -> None:
    given = {"path": "sessions", "dtype": "float32", "eager": "0", "tensor_parallel": "2", "gpu_memory": "0.5"}
    settings = read_settings(BackendOptions(folder(tmp_path), 128, slots=5, engine=given))
    assert (settings.path, settings.dtype, settings.eager) == ("sessions", "float32", False)
    assert (settings.tensor_parallel, settings.gpu_memory, settings.slots) == (2, 0.5, 5)
    assert read_settings(options(folder(tmp_path))).eager is None


@pytest.mark.parametrize(
    ("engine", "message"),
    [
        ({"path": "session"}, "path must be one of in-engine, sessions, resume, got 'session'"),
        ({"dtype": "int4"}, "dtype must be one of auto"),
        ({"eager": "yes"}, "eager must be 0 or 1"),
        ({"tensor_parallel": "0"}, "tensor_parallel must be 1 or more, got '0'"),
        ({"tensor_parallel": "two"}, "tensor_parallel must be 1 or more, got 'two'"),
        ({"gpu_memory": "nan"}, "gpu_memory must be above 0"),
    ],
)
def test_an_engine_option_out_of_its_range_is_refused(tmp_path: Path, engine: dict[str, str], message: str) -> None:
    with pytest.raises(BackendError, match=message):
        read_settings(options(folder(tmp_path), **engine))


def test_what_cannot_be_had_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = folder(tmp_path, max_position_embeddings=64)
    with pytest.raises(BackendError, match="the 64 tokens of the model, got 65"):
        read_settings(BackendOptions(model, 65))
    with pytest.raises(BackendError, match="VLLM_CPU_OMP_THREADS_BIND"):
        read_settings(BackendOptions(model, threads=2))
    with pytest.raises(ModelError, match="download a model from a hub first"):
        read_settings(options("some/name"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match=r"has no config\.json"):
        read_settings(options(str(tmp_path / "empty")))
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ModelError, match="cannot be read"):
        read_settings(options(model))


def test_where_evalspan_is_kept_out_of_the_engine_the_last_resort_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = folder(tmp_path)
    monkeypatch.setenv("EVALSPAN_VLLM", "off")
    assert read_settings(options(model)).path == "resume"
    with pytest.raises(BackendError, match="EVALSPAN_VLLM=off keeps evalspan out of the engine"):
        read_settings(options(model, path="sessions"))


def test_an_engine_option_of_another_backend_is_refused() -> None:
    with pytest.raises(BackendError, match="'llama_cpp' has no engine option 'path': it takes none"):
        check_engine_options(backend_class("llama_cpp"), {"path": "sessions"})
    with pytest.raises(BackendError, match="'vllm' has no engine option 'paht': it takes path, dtype"):
        check_engine_options(backend_class("vllm"), {"paht": "sessions"})
    with pytest.raises(PluginError):
        backend_class("vlm")


def test_without_vllm_the_backend_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(BackendError, match=r"pip install 'evalspan\[vllm\]'"):
        backend_class("vllm")(BackendOptions())


@pytest.mark.parametrize(
    "grammar",
    [
        FreeText(),
        FreeText(("calc", "date")),
        SENTENCE,
        LarkText("start: @calc"),
        Gbnf('root ::= "a"'),
        Regex("[a-z]+"),
        JsonSchema(SCHEMA),
        StructuralTag('{"type": "structural_tag"}'),
    ],
)
def test_a_grammar_comes_out_as_it_was_asked_for(grammar: Any) -> None:
    keys = keys_for("default", "grammar-eval", grammar)
    read = read_options(keys)
    assert read is not None
    assert read.grammar() == grammar
    assert (read.registry, read.mode) == ("default", "grammar-eval")


def test_what_has_no_key_is_refused() -> None:
    for mode, grammar, message in (
        ("no-grammar", FreeText(), "does not run inside an engine"),
        ("grammar-eval", Windows((Window("</think>"), FreeText())), "Windows does not run inside an engine"),
        ("grammar-eval", JsonSchema(SCHEMA, formats="annotation"), "whose formats are assertions"),
    ):
        with pytest.raises(RequestError, match=message):
            keys_for("default", mode, grammar)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "is no JSON"),
        ("{}", "is a JSON list"),
        ('["a", 1]', "part 1 of the sentence"),
        ('[{"restate": "calc"}]', "part 0 of the sentence"),
        ('[{"span": 1}]', "part 0 of the sentence"),
        ('[{"span": "calc", "x": "y"}]', "part 0 of the sentence"),
    ],
)
def test_what_is_no_sentence_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        parse_sentence(text)


def test_a_sentence_survives_its_text() -> None:
    assert parse_sentence(sentence_text(SENTENCE)) == SENTENCE
