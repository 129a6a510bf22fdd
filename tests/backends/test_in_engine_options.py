"""A request that opts in is checked where no model is: what is wrong is refused with what would be right."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import CASE_REGISTRY

from evalspan.backends.in_engine import registries
from evalspan.backends.in_engine.options import KEYS, Options, OptionsError, read_options
from evalspan.backends.in_engine.registries import REGISTRIES, check_options, load_registries
from evalspan.orchestrator import FreeText, JsonSchema
from evalspan.policies import RegistryError


def refusal(given: dict[str, Any]) -> str:
    with pytest.raises(OptionsError) as refused:
        options = read_options(given)
        assert options is not None
        check_options(options)
    assert isinstance(refused.value, ValueError), "anything else is answered as a fault of the server"
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("given", [None, {}, {"kv_transfer_params": {"a": 1}}, {"watermark": "x"}])
def test_a_request_without_our_keys_does_not_opt_in(given: dict[str, Any] | None) -> None:
    assert read_options(given) is None


def test_everything_that_a_request_can_say_is_read() -> None:
    options = read_options(
        {
            "evalspan": "default",
            "evalspan_mode": "grammar-no-eval",
            "evalspan_required": "calc, date",
            "evalspan_session": 1,
            "evalspan_history": [5, 6],
            "evalspan_label": "a",
        }
    )
    assert options == Options(
        "default", "grammar-no-eval", required=("calc", "date"), session=True, history=(5, 6), label="a"
    )
    assert options.grammar() == FreeText(("calc", "date"))
    check_options(options)


def test_a_schema_arrives_as_a_string() -> None:
    options = read_options({"evalspan": "default", "evalspan_schema": '{"type": "integer"}'})
    assert options is not None
    assert options.grammar() == JsonSchema({"type": "integer"})
    check_options(options)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"evalspan": "nobody"}, "no registry 'nobody'; this server has default"),
        ({"evalspan": 1}, "evalspan must be the name of a registry"),
        ({"evalspan": ""}, "evalspan must be the name of a registry"),
        ({"evalspan": "default", "evalspan_shema": "{}"}, "did you mean 'evalspan_schema'?"),
        ({"evalspan": "default", "evalspan_x": "{}"}, "The keys are evalspan, evalspan_mode"),
        ({"evalspam": "default"}, "did you mean 'evalspan'?"),
        ({"evalspan_schema": "{}"}, 'opt in with "evalspan": "default"'),
        ({"evalspan": "default", "evalspan_schema": {"type": "integer"}}, "is sent as a string"),
        ({"evalspan": "default", "evalspan_schema": "{"}, "evalspan_schema: the schema is no JSON"),
        ({"evalspan": "default", "evalspan_regex": "(a|"}, "evalspan_regex: '(a|' is not a linear-time"),
        ({"evalspan": "default", "evalspan_regex": "a" * 300_000}, "300000 characters, the limit is 262144"),
        ({"evalspan": "default", "evalspan_gbnf": "root ::= nothing"}, "evalspan_gbnf: "),
        ({"evalspan": "default", "evalspan_grammar": "start: @nothing"}, "evalspan_grammar: "),
        ({"evalspan": "default", "evalspan_structural_tag": "{}"}, "evalspan_structural_tag: "),
        ({"evalspan": "default", "evalspan_regex": "a", "evalspan_schema": "{}"}, "exclude each other"),
        ({"evalspan": "default", "evalspan_regex": "a", "evalspan_required": "calc"}, "exclude each other"),
        ({"evalspan": "default", "evalspan_required": "calk"}, "calk"),
        ({"evalspan": "default", "evalspan_mode": "no-grammar"}, "use grammar-eval"),
        ({"evalspan": "default", "evalspan_mode": "on"}, "must be grammar-eval or grammar-no-eval"),
        ({"evalspan": "default", "evalspan_session": 2}, "must be 0 or 1"),
        ({"evalspan": "default", "evalspan_history": [-1]}, "must be a list of token ids"),
        ({"evalspan": "default", "evalspan_history": "1,2"}, "must be a list of token ids"),
        ({"evalspan": "default", "evalspan_label": "x" * 201}, "the limit is 200"),
    ],
)
def test_what_is_wrong_is_refused_with_what_would_be_right(given: dict[str, Any], said: str) -> None:
    assert said in refusal(given)


def test_every_key_is_said_to_who_misspells_one() -> None:
    said = refusal({"evalspan": "default", "evalspan_": 1})
    assert all(key in said for key in KEYS)


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """What a server remembers is forgotten before and after."""
    caches = (registries._load, registries._problem, registries._checker)
    for cached in caches:
        cached.cache_clear()
    yield monkeypatch
    for cached in caches:
        cached.cache_clear()


def test_registries_come_from_a_folder_by_the_names_of_their_files(fresh: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "cases.toml").write_text(CASE_REGISTRY)
    (tmp_path / "notes.txt").write_text("no registry")
    fresh.setenv(REGISTRIES, str(tmp_path))
    assert list(load_registries()) == ["default", "cases"]
    check_options(Options("cases"))
    assert "this server has default, cases" in refusal({"evalspan": "case"})
    (tmp_path / "default.toml").write_text(CASE_REGISTRY)
    registries._load.cache_clear()
    assert len(load_registries()["default"].spans) == 1


def test_one_file_is_the_default_registry_too(fresh: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "cases.toml"
    file.write_text(CASE_REGISTRY)
    fresh.setenv(REGISTRIES, str(file))
    assert load_registries()["default"] is load_registries()["cases"]


@pytest.mark.parametrize(("content", "said"), [(None, "cannot be read"), ("", "without a .toml file")])
def test_a_path_without_registries_is_an_error_that_names_it(
    fresh: pytest.MonkeyPatch, tmp_path: Path, content: str | None, said: str
) -> None:
    folder = tmp_path / "registries"
    if content is not None:
        folder.mkdir()
    fresh.setenv(REGISTRIES, str(folder))
    with pytest.raises(RegistryError, match=said):
        load_registries()


def test_checking_a_request_loads_no_model_library() -> None:
    code = (
        "import sys; from evalspan.backends.in_engine.registries import check_options, Options;"
        "check_options(Options('default'));"
        "print([name for name in ('torch', 'transformers', 'vllm') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
