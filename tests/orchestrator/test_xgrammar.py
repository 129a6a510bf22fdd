"""What is xgrammar's own: refusals, characters, how it is loaded. Most of it is tested with llguidance's tests."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from engine_support import installed
from support import SHORT_TAGS, finished

from evalspan.backends.scripted import EOS, ScriptedBackend, ScriptedTokenizer
from evalspan.orchestrator import (
    Driver,
    FreeText,
    Gbnf,
    Grammar,
    GrammarError,
    JsonSchema,
    LarkText,
    Regex,
    Sentence,
    StructuralTag,
)
from evalspan.orchestrator.cli.run import run
from evalspan.orchestrator.engines import base
from evalspan.orchestrator.matcher import CompiledGrammar, Vocabulary
from evalspan.policies import Registry

pytestmark = pytest.mark.skipif(not installed("xgrammar"), reason="xgrammar is not installed: make setup")

REGISTRY = Registry.parse(SHORT_TAGS)


def compiled(grammar: Grammar, registry: Registry = REGISTRY) -> CompiledGrammar:
    vocabulary = Vocabulary(ScriptedTokenizer([]), "xgrammar")
    return CompiledGrammar(grammar.compile(registry, vocabulary.marks), vocabulary)


@pytest.mark.parametrize(
    ("grammar", "says"),
    [
        (LarkText('start: "a"\n%ignore " "'), "cannot follow '%ignore"),
        (LarkText("start: A\n%import common.INT -> A"), "cannot follow '%import common.INT"),
        (LarkText("start: /a/i"), "use llguidance"),
        (LarkText('start: "a"i'), "use llguidance"),
        (LarkText("start: start"), "allows no text"),
        (LarkText("start: /(?i:a)/"), "'(?i:a)' has a group with flags"),
        (Regex(r"\ba"), r"\\b"),
    ],
)
def test_what_cannot_be_followed_is_refused(grammar: Grammar, says: str) -> None:
    with pytest.raises(GrammarError) as error:
        compiled(grammar)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


NESTED = {"type": "object", "properties": {"a/b": {"items": {"KEYWORD": "VALUE"}}}}


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        ({"allOf": [{"type": "string"}]}, "/allOf"),
        ({"oneOf": [{"type": "string"}]}, "/oneOf"),
        ({"items": {"patternProperties": {"^a": {}}}}, "/items/patternProperties"),
        ({"properties": {"a/b": {"multipleOf": 3}}}, "/properties/a~1b/multipleOf"),
        ({"anyOf": [{"type": "null"}, {"maxProperties": 1}]}, "/anyOf/1/maxProperties"),
        ({"format": "date"}, "/format"),
        ({"type": "number", "minimum": 0}, "/minimum"),
        ({"minProperties": 1}, "/minProperties"),
        ({"required": ["a"]}, "/required"),
        ({"anyOf": [{}], "type": "string"}, "/type"),
        ({"enum": ["a"], "maxLength": 3}, "/maxLength"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"oneOf": [{}]}}}, "/$defs/a/oneOf"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {}}, "type": "string"}, "/type"),
        ({"pattern": "(a|b$)|(^c)"}, "/pattern"),
        ({"pattern": "a", "maxLength": 100_000}, "/maxLength"),
    ],
)
def test_a_keyword_that_it_cannot_enforce_is_refused_with_its_place(schema: dict[str, object], where: str) -> None:
    with pytest.raises(GrammarError, match="by the grammar engine xgrammar: use llguidance") as error:
        compiled(JsonSchema(schema))
    assert str(error.value).startswith(f"schema at {where}: {where.rpartition('/')[2]} cannot be enforced")


def test_a_keyword_beside_bound_fields_and_in_a_structural_tag_is_refused_with_its_place() -> None:
    bound = {"type": "integer", "x-evalspan": {"evaluator": "arithmetic", "input": "/x"}}
    fields = {"x": {"type": "integer"}, "y": {"allOf": [{"type": "null"}]}, "z": bound}
    schema = {"type": "object", "properties": fields, "required": ["x", "y", "z"]}
    with pytest.raises(GrammarError, match="schema at /properties/y/allOf: allOf cannot be enforced"):
        compiled(JsonSchema(schema), Registry.load())
    fields["y"] = {"$ref": "#/$defs/d"}
    with pytest.raises(GrammarError, match=r"schema at /\$defs/d/allOf: allOf cannot be enforced"):
        compiled(JsonSchema(schema | {"$defs": {"d": {"anyOf": [{"allOf": [{}]}]} | {"allOf": [{}]}}}), Registry.load())
    document = {"type": "json_schema", "json_schema": {"items": {"oneOf": [{"type": "null"}]}}}
    tag = StructuralTag.from_json({"type": "structural_tag", "format": document})
    with pytest.raises(GrammarError, match=r"schema at format\.json_schema: /items/oneOf: oneOf cannot be enforced"):
        compiled(tag)


def test_free_text_is_utf8_in_every_byte() -> None:
    """Its own negated classes hold surrogates."""
    characters = [chr(code).encode() for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    begun = {character[:size] for character in characters for size in range(1, len(character) + 1)}
    matcher = compiled(FreeText()).matcher()
    checked = 0
    waiting = [(b"", matcher)]
    while waiting:
        before, matcher = waiting.pop()
        allowed = matcher.mask()
        for byte in range(256):
            text = before + bytes([byte])
            assert bool(allowed[byte]) == (text in begun), text
            checked += 1
            if allowed[byte] and byte >= 0x80 and len(text) < 3 and text not in characters[:0x800]:
                waiting.append((text, matcher.fork()))
                waiting[-1][1].consume(byte)
    assert checked > 200_000


@pytest.mark.parametrize("text", ['\0"\\^-]\n\t', "é\U0001f600\ue000", "[^a]{2}|\u2028"])
def test_every_character_of_a_literal_is_written_as_it_is(text: str) -> None:
    """NUL ends one of its own strings."""
    matcher = compiled(Sentence((text,))).matcher()
    for byte in text.encode():
        assert np.flatnonzero(matcher.mask()).tolist() == [byte]
        matcher.consume(byte)
    assert np.flatnonzero(matcher.mask()).tolist() == [EOS]


def test_a_control_token_is_never_allowed_and_refused_in_silence(capfd: pytest.CaptureFixture[str]) -> None:
    grammar = compiled(FreeText())
    state = grammar.matcher()._engine
    for token in (grammar.vocabulary.marks.end, 10**6, -1):
        assert not state.allows([token])
    assert state.take([97, EOS])
    assert not state.take([97])
    assert capfd.readouterr() == ("", "")


def test_where_llguidance_takes_the_longest_lexeme_every_reading_is_followed() -> None:
    grammar = compiled(LarkText('start: /a+/ "ab"'))
    matcher = grammar.matcher()
    for byte in b"aaab":
        assert matcher.mask()[byte]
        matcher.consume(byte)
    assert matcher.accepting()


@pytest.mark.parametrize("text", ['root ::= "(" root ")" | "x"', 'root ::= [a-c]+ ("," [a-c]+){0,3}'])
def test_a_gbnf_grammar_is_followed(text: str) -> None:
    matcher = compiled(Gbnf(text)).matcher()
    for byte in b"((x))" if "(" in text[:12] else b"ab,c":
        assert matcher.mask()[byte]
        matcher.consume(byte)
    assert matcher.accepting()


def test_a_grammar_that_is_too_large_is_refused() -> None:
    with pytest.raises(GrammarError, match="too large for the grammar engine xgrammar"):
        compiled(Regex("(a|b)*a(a|b){18}"))


def test_the_driver_says_which_engine_it_has_and_uses_it() -> None:
    backend = ScriptedBackend.replay(["<c>", "40+2", "</c>"])
    with Driver(backend, REGISTRY, grammar_engine="xgrammar") as driver:
        assert driver.grammar_engine == "xgrammar 0.2.9"
        events = list(driver.stream("go"))
    assert finished(events).text == "<c>40+2</c><r>42</r>"
    with Driver(ScriptedBackend.replay([]), REGISTRY) as driver:
        assert driver.grammar_engine.startswith("llguidance 1.")


def test_the_command_line_takes_it(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"tokens": ["The sum: ", "<calc>", "40+2", "</calc>"]}))
    options = ["--backend", "scripted", "--model", str(script), "--plain", "--json", "--grammar-engine", "xgrammar"]
    result = CliRunner().invoke(run, ["go", *options, "--regex", "The s[um]+: "])
    assert json.loads(result.stdout.splitlines()[-1])["text"] == "The sum: ", result.output  # no span in a pattern
    result = CliRunner().invoke(run, ["go", *options, "--schema", str(Path(__file__).parents[2] / "README.md")])
    assert isinstance(result.exception, GrammarError)


def test_loading_it_needs_neither_torch_nor_its_package() -> None:
    code = (
        "import sys; from evalspan.orchestrator.matcher import Vocabulary; "
        "from evalspan.backends.scripted import ScriptedTokenizer; Vocabulary(ScriptedTokenizer([]), 'xgrammar'); "
        "print([name for name in ('torch', 'transformers', 'xgrammar') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("missing", [True, False])
def test_an_engine_that_is_not_there_is_an_error_of_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, missing: bool
) -> None:
    if missing:
        monkeypatch.setattr(base, "find_spec", lambda name: None)
    else:
        monkeypatch.setattr(base, "version", lambda name: "0.2.8")
    result = CliRunner().invoke(run, ["hello", "--grammar-engine", "xgrammar", "--model", str(tmp_path / "no")])
    state = "not installed" if missing else "0.2.8 here, and 0.2.9 is needed"
    assert isinstance(result.exception, GrammarError)
    says = f"the grammar engine xgrammar is {state}: pip install --no-deps xgrammar==0.2.9 apache-tvm-ffi"
    assert str(result.exception).startswith(says)


def test_an_unknown_engine_is_an_error() -> None:
    with pytest.raises(GrammarError, match="there is no grammar engine 'outlines'; there are llguidance, xgrammar"):
        Driver(ScriptedBackend.replay([]), REGISTRY, grammar_engine="outlines")  # type: ignore[arg-type]
