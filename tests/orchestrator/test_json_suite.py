"""The JSON-Schema-Test-Suite, from the source distribution of the `jsonschema` package."""

import json
import subprocess
import sys
import tarfile
from typing import Any

import pytest
from engine_support import installed

from evalspan.backends.scripted import EOS, ScriptedTokenizer
from evalspan.orchestrator import GrammarError, JsonSchema
from evalspan.orchestrator.json.engine import matches
from evalspan.orchestrator.json.keywords import Formats, read_schema
from evalspan.orchestrator.matcher import CompiledGrammar, Vocabulary
from evalspan.policies import Registry

pytestmark = pytest.mark.long

VERSION = "4.26.0"
SCHEMAS = 368
COMPILED = {"annotation": 179, "assertion": 170}
"""How many compile; a change may only add some. 164 is what the grammar engine takes by itself."""
XGRAMMAR = 120
"""How many of the first kind compile for xgrammar, likewise."""

Group = dict[str, Any]


@pytest.fixture(scope="module")
def groups(tmp_path_factory: pytest.TempPathFactory) -> list[Group]:
    """Every group of the draft that is not optional: a schema, and instances with whether they are valid."""
    folder = tmp_path_factory.mktemp("suite")
    # Preparing the metadata of a source distribution needs its build requirements, which pip fetches by itself.
    options = ["--quiet", "--no-deps", "--no-binary", "jsonschema", "--dest", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "download", *options, f"jsonschema=={VERSION}"], check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    files = sorted(folder.glob("*/json/tests/draft2020-12/*.json"))
    return [group for file in files for group in json.loads(file.read_text("utf-8"))]


def compiled(group: Group, formats: Formats) -> bool:
    try:
        JsonSchema(group["schema"], formats=formats).compile(Registry.load(), None)
    except GrammarError:
        return False
    return True


def names(schema: Any) -> list[str]:
    """The names of properties, in the order in which the schema has them; those that it only requires come last."""
    if isinstance(schema, list):
        return [name for item in schema for name in names(item)]
    if not isinstance(schema, dict):
        return []
    properties, required = schema.get("properties"), schema.get("required")
    found = list(properties) if isinstance(properties, dict) else []
    for keyword, value in schema.items():
        found += list(value) if keyword == "const" and isinstance(value, dict) else []
        found += names(list(value.values()) if keyword == "properties" and isinstance(value, dict) else value)
    return found + (required if isinstance(required, list) else [])


def canonical(value: Any, order: list[str]) -> Any:
    """The instance with its names in the schema's order, and integers without a fraction."""
    if isinstance(value, dict):
        known = [name for name in order if name in value]
        return {name: canonical(value[name], order) for name in dict.fromkeys([*known, *value])}
    if isinstance(value, list):
        return [canonical(item, order) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


@pytest.mark.parametrize("formats", ["annotation", "assertion"])
def test_as_many_schemas_compile_as_ever(groups: list[Group], formats: Formats) -> None:
    assert len(groups) == SCHEMAS
    count = sum(compiled(group, formats) for group in groups)
    assert count >= COMPILED[formats] >= 164


def test_every_invalid_instance_is_rejected_and_every_valid_one_accepted(groups: list[Group]) -> None:
    wrong, checked = [], 0
    for group in groups:
        if not compiled(group, "annotation"):
            continue
        schema, _ = read_schema(group["schema"], "annotation")
        order = names(group["schema"])
        for case in group["tests"]:
            checked += 1
            text = json.dumps(canonical(case["data"], order), ensure_ascii=False)
            if matches(schema, text) != case["valid"]:
                wrong.append((group["description"], case["description"], text))
    assert wrong == []
    assert checked > 600


def test_no_invalid_instance_is_accepted_where_formats_are_assertions(groups: list[Group]) -> None:
    for group in groups:
        if compiled(group, "assertion"):
            schema, _ = read_schema(group["schema"])
            for case in group["tests"]:
                if not case["valid"]:
                    assert not matches(schema, json.dumps(case["data"], ensure_ascii=False)), case["description"]


@pytest.mark.skipif(not installed("xgrammar"), reason="xgrammar is not installed")
def test_xgrammar_accepts_what_is_valid_and_nothing_else(groups: list[Group]) -> None:
    vocabulary = Vocabulary(ScriptedTokenizer([]), "xgrammar")
    wrong, count = [], 0
    for group in groups:
        if not compiled(group, "annotation"):
            continue
        compilation = JsonSchema(group["schema"], formats="annotation").compile(Registry.load(), None)
        try:
            grammar = CompiledGrammar(compilation, vocabulary)
        except GrammarError:
            continue
        count += 1
        order = names(group["schema"])
        for case in group["tests"]:
            text = json.dumps(canonical(case["data"], order), ensure_ascii=False).encode()
            accepted = grammar.matcher()._engine.take([*text, EOS])
            if accepted != case["valid"]:
                wrong.append((group["description"], case["description"], text))
    assert wrong == []
    assert count >= XGRAMMAR
