"""Structural tags are exact: every token at every reachable prefix agrees with a plain reading of the document."""

import random
from typing import Any

import pytest
from engine_support import each_engine, pytest_generate_tests  # noqa: F401  all runs with each engine
from structural_oracle import MARK, SAID, Meaning
from support import CASE_REGISTRY, SHORT_TAGS, finished, play

from evalspan.backends.scripted import EOS, ScriptedTokenizer
from evalspan.orchestrator import Evaluated, GrammarError, Injected
from evalspan.orchestrator.formats import StructuralTag
from evalspan.orchestrator.grammar import Marks
from evalspan.orchestrator.matcher import CompiledGrammar, Matcher, Vocabulary
from evalspan.policies import Registry

REGISTRY = Registry.parse(SHORT_TAGS)

PIECES = [
    *(b"<", b"</", b"<c", b"c>", b"<c>", b"</c>", b"1", b"1</c>", b"1</c>x", b"<r", b"r>", b"<r>", b"</r>"),
    *(b"a", b"x", b"xa", b"<t>", b"</t>", b"</t", b"t>a", b"<f", b"<f=", b"=a>", b"b>", b">", b",", b"a<c>1", b"<s>x"),
    *(b"</s>", b'{"a": 1', b"}", b"}</", "é".encode(), b"\xc3", b"\xa9", b"\xff"),
]

CALC = {"type": "evaluated_tag", "begin": "<c>", "end": "</c>", "evaluator": "arithmetic"}
SUM = {
    "type": "evaluated_tag",
    "name": "sum",
    "begin": "<s>",
    "content": {"type": "regex", "pattern": "x*"},
    "end": "</s>",
    "evaluator": "arithmetic",
    "result": {"begin": "<r>", "end": "</r>"},
    "error": {"begin": "<e>", "end": "</e>"},
}
SAY = {"type": "result_ref", "span": "calc"}
ANY = {"type": "any_text"}
OBJECT = {
    "type": "json_schema",
    "json_schema": {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    },
}
VALUES = tuple(f'{{"a": {number}}}' for size in range(1, 12) for number in ("1" * size, "-" + "1" * size))


def const(value: str) -> dict[str, Any]:
    return {"type": "const_string", "value": value}


def regex(pattern: str, **more: Any) -> dict[str, Any]:
    return {"type": "regex", "pattern": pattern, **more}


def tag(begin: str, content: dict[str, Any], end: Any) -> dict[str, Any]:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def sequence(*elements: Any) -> dict[str, Any]:
    return {"type": "sequence", "elements": list(elements)}


def either(*elements: Any) -> dict[str, Any]:
    return {"type": "or", "elements": list(elements)}


def triggered(triggers: list[str], *tags: Any, **more: Any) -> dict[str, Any]:
    return {"type": "triggered_tags", "triggers": triggers, "tags": list(tags), **more}


def separated(separator: str, *tags: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tags_with_separator", "tags": list(tags), "separator": separator, **more}


def document(format: dict[str, Any]) -> StructuralTag:
    return StructuralTag.from_json({"type": "structural_tag", "format": format})


FA, FB = tag("<f=a>", regex("x*"), "</t>"), tag("<f=b>", OBJECT, "</t>")

EXACT = {
    "text": ANY,
    "text_excludes": {"type": "any_text", "excludes": ["xa", "<t>"]},
    "const": const("a<xé"),
    "regex_excludes": regex("[ax<]*", excludes=["xa"]),
    "tag_of_text": tag("<t>", ANY, "</t>"),
    "tag_of_text_excludes": tag("<t>", {"type": "any_text", "excludes": ["x", "</s"]}, ["</t>", "b>"]),
    "tag_without_end": tag("x", ANY, ""),
    "nested_tags": tag("<t>", sequence(regex("a*"), tag("<f", ANY, ">")), "</t>"),
    "alternated_tags": either(tag("<t>", ANY, "</t>"), tag("<f", regex("=?"), "b>"), const("<t>!")),
    "span": CALC,
    "span_and_result": sequence(const("a"), CALC, const("x"), SAY, const(">")),
    "text_span_text": sequence(ANY, CALC, ANY),
    "text_const_text": sequence(ANY, const("<t>"), ANY),
    "new_span": sequence(regex("a*"), SUM, ANY),
    "two_spans": sequence(ANY, CALC, {"type": "star", "content": either(SUM, CALC)}),
    "spans_triggered": triggered(["<c>"], CALC),
    "spans_mixed": triggered(["<c>", "<s>"], CALC, SUM, excludes=["xx"]),
    "spans_and_tools": triggered(["<c>", "<f"], CALC, FA, FB),
    "tools": triggered(["<f="], FA, FB),
    "tools_at_least_one": triggered(["<f="], FA, FB, at_least_one=True),
    "tools_once": triggered(["<f="], FA, FB, stop_after_first=True),
    "tools_exactly_once": triggered(["<f="], FA, FB, stop_after_first=True, at_least_one=True),
    "spans_once_in_tag": tag("<t>", triggered(["<c>"], CALC, stop_after_first=True), "</t>"),
    "spans_in_tag": tag("<t>", triggered(["<c>"], CALC), ["</t>", "b>"]),
    "spans_at_least_one": triggered(["<c>"], CALC, at_least_one=True),
    "trigger_overlaps": triggered(["aa"], tag("aax", regex("x"), "")),
    "trigger_inside_begin": triggered(["<"], CALC, FA),
    "separated": separated(",", CALC, FA, FB),
    "separated_at_least_one": separated(",", CALC, FA, at_least_one=True),
    "separated_once": separated(",", CALC, FB, stop_after_first=True),
    "json_and_text": sequence(const("x"), OBJECT, ANY),
    "json_or_span": either(OBJECT, CALC, regex("a+")),
    "optional_span": sequence(const("a"), {"type": "optional", "content": CALC}, const("x")),
    "repeated_span": {"type": "repeat", "content": sequence(CALC, const(",")), "min": 1, "max": 2},
    "plus": {"type": "plus", "content": either(const("xa"), CALC)},
    "result_in_tag": sequence(CALC, tag("<t>", SAY, "</t>")),
    "thinking": sequence(tag("<t>", ANY, "</t>"), triggered(["<c>"], CALC)),
}


class Walk:
    """Plays tokens to a grammar, the engine's parts included, and compares every mask with the meaning."""

    def __init__(self, format: dict[str, Any]) -> None:
        tokenizer = ScriptedTokenizer(PIECES)
        vocabulary = Vocabulary(tokenizer)
        grammar = document(format)
        registry = grammar.registry_for(REGISTRY)
        self.compiled = CompiledGrammar(grammar.compile(registry, vocabulary.marks), vocabulary)
        self.meaning = Meaning(format, VALUES)
        self.pieces = tokenizer.pieces
        self.tokens = [tokenizer.pieces.index(piece) for piece in PIECES]
        self.checked = 0

    def replay(self, tokens: list[int]) -> tuple[Matcher, bytes]:
        matcher, text = self.compiled.matcher(), self.engine(matcher := self.compiled.matcher(), b"")
        for token in tokens:
            matcher.consume(token)
            text = self.engine(matcher, text + self.pieces[token])
        return matcher, text

    def engine(self, matcher: Matcher, text: bytes) -> bytes:
        """Write what the engine would here."""
        while True:
            if matcher.result_due():
                assert not matcher.mask().any(), text
                matcher.inject(list(b"<r>2</r>"))
                text += MARK.encode()
            elif (directive := matcher.directive_due()) is not None:
                assert not matcher.mask().any(), text
                matcher.follow(directive, list(b"2"))
                text += SAID.encode()
            else:
                return text

    def step(self, tokens: list[int]) -> list[int]:
        """Compare the mask after these tokens; the tokens that may follow."""
        matcher, text = self.replay(tokens)
        allowed = matcher.mask()
        assert bool(allowed[EOS]) == self.meaning.is_end(text), text
        following = []
        for token in self.tokens:
            expected = self.meaning.is_prefix(text + self.pieces[token])
            assert bool(allowed[token]) == expected, (text, self.pieces[token])
            self.checked += 1
            if expected:
                following.append(token)
        return following


@pytest.mark.parametrize("name", EXACT)
def test_every_token_agrees_with_a_plain_reading(name: str) -> None:
    walk = Walk(EXACT[name])
    prefixes: list[list[int]] = [[]]
    for depth in range(3):
        longer = [[*prefix, token] for prefix in prefixes for token in walk.step(prefix)]
        prefixes = longer if depth < 1 else longer[:: max(1, len(longer) // 60)]
    source = random.Random(name)  # noqa: S311  tests repeat
    for _ in range(6):
        tokens: list[int] = []
        for _ in range(12):
            following = walk.step(tokens)
            if not following:
                break
            # Longer pieces lead somewhere more often than single letters do.
            tokens.append(source.choices(following, [len(walk.pieces[token]) for token in following])[0])
    assert walk.checked >= len(walk.tokens) * 4


def test_many_tools_are_compiled_in_a_second() -> None:
    tools = [tag(f"<f={name:02}>", OBJECT, "</t>") for name in range(40)]
    format = triggered(["<f=", "<c>"], CALC, *tools)
    matcher = Walk(format).compiled.matcher()
    for byte in b'see <f=07>{"a": 1}</t> <c>1</c>':
        matcher.consume(byte)
    assert matcher.result_due()


REFUSED = [
    ({"type": "nope"}, "format: .*'nope'"),
    ({"type": "const_string"}, "format.value: field required"),
    ({"type": "const_string", "value": 3}, "format.value: "),
    ({**const("a"), "extra": 1}, "format.extra: "),
    (sequence(), "format.elements: "),
    (sequence(const("a"), tag("<t>", ANY, 3)), r"format.elements\[1\].end: "),
    (const("a<r>5</r>"), "format.value: holds the tag '<r>'"),
    (tag("<c>", ANY, "</c>"), "format.begin: holds the tag '<c>'"),
    (tag("<t>", ANY, ["</t>", "x</e>"]), r"format.end\[1\]: holds the tag '</e>'"),
    (regex("<r>"), "format: no text without a tag"),
    (regex("("), "format.pattern: "),
    (sequence(ANY, regex("a")), r"format.elements\[0\]: this text has no end"),
    ({"type": "star", "content": ANY}, "format.content: this text has no end"),
    (tag("<t>", ANY, ["</t>", "/t"]), "holds the end '/t'"),
    (tag("<t>", {"type": "any_text", "excludes": ["t>"]}, "</t>"), "holds 't>'"),
    (sequence(regex("[0-9]+"), OBJECT, regex("x")), None),
    (sequence(regex("[0-9]+"), {"type": "json_schema", "json_schema": {"type": "integer"}}), "cannot be enforced"),
    (sequence({"type": "json_schema", "json_schema": {"type": "number"}}, const("5")), "cannot be told from"),
    (sequence({"type": "json_schema", "json_schema": {"type": "number"}}, CALC), None),
    (sequence(CALC, {"type": "json_schema", "json_schema": {"type": "number"}}, SAY), "cannot be told from"),
    (either(OBJECT, const("{}")), "both can begin with the same byte"),
    (
        either(sequence(const("ab"), CALC), sequence(const("a"), OBJECT), sequence(regex("a{1,3}"), OBJECT)),
        "can begin with",
    ),
    (either(sequence(const("a"), OBJECT), sequence(regex("a[{x]+"), OBJECT)), "the other could go on"),
    (sequence(CALC, regex("[a-z]+"), SAY), r"format.elements\[1\]: cannot be enforced exactly"),
    (sequence(CALC, either(SAY, const("x"))), "whatever the model chose"),
    (sequence(regex("a?"), SAY), r"format.elements\[1\]: there is no result yet"),
    (sequence(CALC, regex("a?"), SAY), "cannot be enforced exactly"),
    ({"type": "json_schema", "json_schema": {"not": {}}}, "format.json_schema: .*not"),
    ({"type": "json_schema", "json_schema": {"uniqueItems": True}}, "format.json_schema: .*uniqueItems"),
    ({"type": "result_ref", "span": "clac"}, "format.span: .*no span is called 'clac'"),
    (triggered(["<x"], FA), r"format.tags\[0\].begin: .* exactly one"),
    (triggered(["<f", "<f="], FA), "holds '<f'"),
    (triggered(["<f="], tag("<f=a>", ANY, "")), "this tag has no end"),
    (separated(",", tag("<f=a>", ANY, "")), "this tag has no end"),
    ({"type": "repeat", "content": CALC, "min": 2, "max": 1}, "format.max: 1 is less than min"),
    ({**CALC, "content": OBJECT}, "format.content: the content of a span must be regular"),
    ({**CALC, "content": SAY}, "format.content: there is no span in a span"),
    ({**CALC, "evaluator": "nobody"}, "another span is called|no evaluator|already opens"),
    ({**SUM, "begin": "<c>x"}, "contains the tag '<c>'"),
    ({**SUM, "begin": "s>"}, "do not fit"),
    ({**SUM, "name": "calc"}, "another span is called 'calc'"),
    ({"type": "grammar", "grammar": "root ::= ("}, "format.grammar: no GBNF"),
    (tag("<t>", {"type": "grammar", "grammar": 'root ::= "(" root ")" | "y"'}, "</t>"), "cannot be told from"),
    (sequence({"type": "json_schema", "json_schema": {"type": "object"}}, const("x")), None),
]


@pytest.mark.parametrize(("format", "message"), REFUSED)
def test_what_cannot_be_enforced_is_refused_with_its_place(format: dict[str, Any], message: str | None) -> None:
    if message is None:  # a neighbour of a refused one that is fine
        document(format).compile(REGISTRY, Marks(1000))
        return
    with pytest.raises(GrammarError, match=message):
        document(format).compile(REGISTRY, Marks(1000))


@pytest.mark.parametrize(
    "text", ["", "[", "[]", '{"type": "structural_tag"}', "[" * 5000, "NaN", '{"type":"x","format":{}}']
)
def test_what_is_no_structural_tag_is_refused(text: str) -> None:
    with pytest.raises(GrammarError):
        StructuralTag(text).compile(REGISTRY, Marks(1000))


def test_a_document_on_the_driver() -> None:
    grammar = document(sequence(const("Sum: "), CALC, const(" = "), SAY, tag(" <t>", ANY, "</t>")))
    tokens = ["Sum: ", "<c>", "40+2", "</c>", " = ", " <t>", "ok", "</t>"]
    events = play(tokens, registry=REGISTRY, grammar=grammar)
    assert finished(events).text == "Sum: <c>40+2</c><r>42</r> = 42 <t>ok</t>"
    assert [event.kind for event in events if isinstance(event, Injected)] == ["result", "restated"]


def test_a_span_of_the_documents_own_is_evaluated_and_holds_for_it_alone() -> None:
    own = {"type": "evaluated_tag", "begin": "<sum>", "end": "</sum>", "evaluator": "arithmetic", "name": "own"}
    grammar = document(sequence(ANY, own, {"type": "result_ref", "span": "own"}))
    tokens = ["so ", "<sum>", "2*3", "</sum>"]
    events = play(tokens, registry=CASE_REGISTRY, grammar=grammar)
    assert finished(events).text == "so <sum>2*3</sum><result>6</result>6"
    assert [event.span for event in events if isinstance(event, Evaluated)] == ["own"]
    assert finished(play(tokens, registry=CASE_REGISTRY)).text == "so <sum>2*3</sum>"


def test_without_evaluation_the_model_writes_what_the_engine_would() -> None:
    grammar = document(sequence(CALC, const(" "), {"type": "result_ref", "span": "calc"}))
    tokens = ["<c>", "1+1", "</c>", "<r>", "7", "</r>", " ", "8"]
    events = play(tokens, registry=REGISTRY, grammar=grammar, mode="grammar-no-eval")
    assert finished(events).text == "<c>1+1</c><r>7</r> 8"


def test_a_tool_call_beside_a_span() -> None:
    grammar = document(triggered(["<f=", "<c>"], CALC, FB))
    tokens = ["hm ", "<f=b>", '{"a": ', "1", "1", "}", "</t>", " <c>", "5*5", "</c>", "!"]
    registry = REGISTRY.model_copy(update={"spans": (REGISTRY.spans[0].model_copy(update={"content": "[0-9*]+"}),)})
    events = play(tokens, registry=registry, grammar=grammar)
    assert finished(events).text == 'hm <f=b>{"a": 11}</t> <c>5*5</c><r>25</r>!'


def test_json_in_a_document_cannot_hold_a_result_tag() -> None:
    schema = {"type": "json_schema", "json_schema": {"type": "array", "items": {"type": "string"}}}
    tokens = ['["', "x<", "r", ">", "<r>", "y", '"]']
    events = play(tokens, registry=REGISTRY, grammar=document(schema))
    assert finished(events).text.startswith('["x<r')
    assert "<r>" not in finished(events).text


def test_grammars_in_a_document_are_exact_where_they_are_regular() -> None:
    format = {"type": "grammar", "grammar": 'root ::= item (" " item)*\nitem ::= [ax]{1,2} "!"?'}
    walk = Walk(sequence(tag("<t>", format, "</t>"), CALC))
    walk.meaning = Meaning(sequence(tag("<t>", regex("([ax]{1,2}!?)( [ax]{1,2}!?)*"), "</t>"), CALC))
    prefixes: list[list[int]] = [[]]
    for _ in range(4):
        prefixes = [[*prefix, token] for prefix in prefixes[:40] for token in walk.step(prefix)]
    assert walk.checked > 1000


def test_a_recursive_grammar_may_stand_last() -> None:
    format = sequence(const("x"), {"type": "grammar", "grammar": 'root ::= "(" root ")" | "y"'})
    assert finished(play(list("x((y))a"), registry=REGISTRY, grammar=document(format))).text == "x((y))"
