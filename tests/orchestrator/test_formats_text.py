"""Regular expressions, Lark and GBNF as grammars: exact where they promise it, and never with a tag of the engine's."""

from collections.abc import Callable
from itertools import product

import pytest
from engine_support import each_engine, pytest_generate_tests  # noqa: F401  all runs with each engine
from support import CASE_REGISTRY, SHORT_TAGS, finished, kinds, play

from evalspan.backends.scripted import EOS, ScriptedTokenizer
from evalspan.orchestrator import DecodeError, FreeText, Grammar, GrammarError, Injected
from evalspan.orchestrator.formats import Gbnf, LarkText, Regex
from evalspan.orchestrator.formats.probe import is_empty
from evalspan.orchestrator.grammar import Marks
from evalspan.orchestrator.guard import TagGuard
from evalspan.orchestrator.machine import SpanPlan
from evalspan.orchestrator.matcher import CompiledGrammar, Vocabulary
from evalspan.policies import Registry

REGISTRY = Registry.parse(SHORT_TAGS)
TAGS = ("<c>", "</c>", "<r>", "</r>", "<e>", "</e>")
MARKS = Marks(1000)

PIECES = [
    *(b"<", b"</", b"<c", b"c>", b"<c>", b"</c>", b">", b"1", b"1+", b"1</c>", b"1</c>x", b"/c><r>", b"<r", b"r>"),
    *(b"<r>", b"</r>", b"x", b"xx", b"x<c>1", b"y", b"xy", b">.", "é".encode(), b"\xc3", b"\xa9", b"\xff"),
]


def walk(grammar: Grammar, is_prefix: Callable[[bytes], bool], is_end: Callable[[bytes], bool], depth: int) -> int:
    """Compare every token at every reachable prefix with two plain predicates; the number of comparisons."""
    tokenizer = ScriptedTokenizer(PIECES)
    vocabulary = Vocabulary(tokenizer)
    compiled = CompiledGrammar(grammar.compile(REGISTRY, vocabulary.marks), vocabulary)
    tokens = [tokenizer.pieces.index(piece) for piece in PIECES]
    prefixes: list[list[int]] = [[]]
    checked = 0
    for level in range(depth):
        longer = []
        for prefix in prefixes:
            matcher = compiled.matcher()
            for token in prefix:
                matcher.consume(token)
            text = b"".join(tokenizer.pieces[token] for token in prefix)
            allowed = matcher.mask()
            assert bool(allowed[EOS]) == is_end(text), text
            for token in tokens:
                expected = is_prefix(text + tokenizer.pieces[token])
                assert bool(allowed[token]) == expected, (text, tokenizer.pieces[token])
                checked += 1
                if expected and level + 1 < depth:
                    longer.append([*prefix, token])
        prefixes = longer
    return checked


def language(texts: list[str]) -> tuple[Callable[[bytes], bool], Callable[[bytes], bool]]:
    """The predicates of a finite language, by enumeration."""
    whole = {text.encode() for text in texts}
    starts = {text[:size] for text in whole for size in range(len(text) + 1)}
    return starts.__contains__, whole.__contains__


def without_tags(texts: list[str]) -> list[str]:
    return [text for text in texts if not any(tag in text for tag in TAGS)]


def joined(alphabet: str | list[str], longest: int, least: int = 0) -> list[str]:
    return ["".join(parts) for size in range(least, longest + 1) for parts in product(alphabet, repeat=size)]


def test_a_regex_allows_its_texts_but_for_those_with_a_tag() -> None:
    texts = without_tags(joined(["<", "/", "c", "r", ">", "x", "1", "é"], 4))
    assert walk(Regex("[</cr>x1é]{0,4}"), *language(texts), depth=4) > 3_000


def test_a_regex_of_nothing_but_tags_is_refused() -> None:
    with pytest.raises(GrammarError, match="no text without a tag"):
        Regex("x<r>[0-9]+</r>").compile(REGISTRY, MARKS)


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", r"(a)\1", "(?=a)"])
def test_what_is_no_linear_time_regex_is_refused(pattern: str) -> None:
    with pytest.raises(GrammarError):
        Regex(pattern).compile(REGISTRY, MARKS)


def test_a_regex_is_the_whole_output() -> None:
    events = play(["ab", "9", "1", "2", "z"], registry=REGISTRY, grammar=Regex("[a-z]{2}[0-9]{2}"))
    assert finished(events).text == "ab91"
    assert finished(events).reason == "eos"


def test_lark_text_and_spans_are_as_exact_as_free_text() -> None:
    tokenizer = ScriptedTokenizer(PIECES)
    vocabulary = Vocabulary(tokenizer)
    ours = CompiledGrammar(FreeText().compile(REGISTRY, vocabulary.marks), vocabulary)
    users = CompiledGrammar(LarkText("start: (@text @calc)* @text").compile(REGISTRY, vocabulary.marks), vocabulary)
    tokens = [EOS, *(tokenizer.pieces.index(piece) for piece in PIECES)]
    prefixes: list[list[int]] = [[]]
    for _ in range(3):
        longer = []
        for prefix in prefixes:
            one, other = ours.matcher(), users.matcher()
            for token in prefix:
                one.consume(token)
                other.consume(token)
            assert [one.mask()[t] for t in tokens] == [other.mask()[t] for t in tokens], prefix
            assert one.result_due() == other.result_due()
            longer += [[*prefix, token] for token in tokens[1:] if one.mask()[token]]
        prefixes = longer
    assert len(prefixes) > 1000


def is_opened_after_x(text: bytes) -> bool:
    """Whether some `x…x<c>digits</c>` starts with the text."""
    rest = text.lstrip(b"x")
    opening, rest = rest[:3], rest[3:]
    content = rest.rstrip(b"</c>") if rest.endswith((b"<", b"</", b"</c", b"</c>")) else rest
    return (
        b"<c>".startswith(opening)
        and all(byte in b"0123456789+/" for byte in content)
        and b"</c>".startswith(rest[len(content) :])
        and (content != b"" or rest == b"")
    )


@pytest.mark.parametrize("source", ["start: WORD @calc\nWORD: /x*/", "start: /x*/ @calc"])
def test_what_stands_before_a_span_is_fused_with_its_open_tag(source: str) -> None:
    assert walk(LarkText(source), is_opened_after_x, lambda text: False, depth=3) > 100


def test_a_lark_grammar_with_a_span_and_its_result_said_again() -> None:
    source = 'start: "Sum: " @calc " so " @calc.result UNIT "."  // a sentence\nUNIT: " m" | " km"\n'
    events = play([*"Sum: ", "<c>", "40+2", "</c>", *" so ", " km", "."], registry=REGISTRY, grammar=LarkText(source))
    assert finished(events).text == "Sum: <c>40+2</c><r>42</r> so 42 km."
    assert [event.kind for event in events if isinstance(event, Injected)] == ["result", "restated"]


def test_without_evaluation_the_model_writes_result_and_restatement() -> None:
    tokens = ["<c>", "1+1", "</c>", "<r>", "7", "</r>", " ", "8"]
    grammar = LarkText('start: @calc " " @calc.result')
    assert finished(play(tokens, registry=REGISTRY, grammar=grammar, mode="grammar-no-eval")).text.endswith("</r> 8")


def test_spans_may_repeat_and_alternate() -> None:
    grammar = LarkText('start: (@calc | item)+\nitem: "- " /[a-z]+/ "\\n"\n')
    tokens = ["- ", "ab", "\n", "<c>", "1+1", "</c>", "<c>", "2+2", "</c>", "- ", "c", "\n"]
    events = play(tokens, registry=REGISTRY, grammar=grammar)
    assert finished(events).text == "- ab\n<c>1+1</c><r>2</r><c>2+2</c><r>4</r>- c\n"


@pytest.mark.llguidance("xgrammar has no terminals to import")
def test_imported_terminals_hold_no_tag() -> None:
    compilation = LarkText("%import common.ESCAPED_STRING\nstart: ESCAPED_STRING").compile(REGISTRY, MARKS)
    assert "U_ESCAPED_STRING: (IMPORTED_ESCAPED_STRING) & ~" in compilation.lark
    events = play(
        ['"', "a", "<", "r", ">", "b", '"'],
        registry=REGISTRY,
        grammar=LarkText("%import common.ESCAPED_STRING -> QUOTED\nstart: QUOTED"),
    )
    assert "<r>" not in finished(events).text


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('start: "a"\nb: "<r>5</r>"', "line 2: .* holds the tag '<r>'"),
        ('start: A\nA: "x\\u003cr>"', "line 2: .* holds the tag '<r>'"),
        ("start: @clac", "line 1: .*no span is called 'clac'"),
        ("start: A\nA: @calc", "line 2: '@calc' cannot stand in a terminal"),
        ("start: @calc.value", "a span has no 'value'"),
        ("start: <[1000]>", "cannot be used here"),
        ("start: <|im_end|>", "cannot be used here"),
        ('start: "a"\n%lark { x }', "line 2: %lark cannot be used here"),
        ('%llguidance { "no_forcing": false }\nstart: "a"', "%llguidance cannot be used here"),
        ('start[max_tokens=3]: "a"', "attributes"),
        ('start.2: "a"', "priorities"),
        ('a: "a"', "no rule `start`"),
        ('start: "a" é', "line 1: 'é'"),
        ("start: %json {}", "cannot be used here"),
        ("", "no rule `start`"),
    ],
)
def test_what_a_lark_grammar_may_not_hold_is_refused_with_its_line(source: str, message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        LarkText(source).compile(REGISTRY, MARKS)


def test_an_undefined_name_is_an_error_of_the_grammar() -> None:
    with pytest.raises(GrammarError, match=r"does not compile|cannot follow.*nothing"):
        play(["a"], registry=REGISTRY, grammar=LarkText("start: nothing"))


ADJACENT = [
    'start: A B\nA: "<"\nB: "r>5"',
    'start: A B C\nA: "<"\nB: "r"\nC: ">5"',
    'start: /[a-z<]+/ ">" /x+/',
    'start: "<" "r" ">"',
    'start: a\na: "<" b?\nb: "r" ">"',
]


@pytest.mark.parametrize("source", ADJACENT)
@pytest.mark.parametrize("pieces", [["<", "r", ">", "5"], ["<r", ">5"], ["<", "r>", "5"], ["<r>5"], ["<r>x"], ["x<r>"]])
def test_terminals_side_by_side_cannot_spell_a_result_tag(source: str, pieces: list[str]) -> None:
    try:
        text = finished(play(pieces, registry=REGISTRY, grammar=LarkText(source))).text
    except DecodeError as error:
        text = error.tail.decode()
    assert "<r>" not in text


@pytest.mark.parametrize("tag", ["<c>", "</c>", "<r>", "</e>"])
def test_a_grammar_without_spans_cannot_write_any_tag(tag: str) -> None:
    grammar = LarkText(f'start: A B C\nA: "<"\nB: "{tag[1:-1]}"\nC: ">"')
    with pytest.raises(DecodeError, match="allows no token"):
        play(list(tag), registry=REGISTRY, grammar=grammar)


def test_a_restated_text_cannot_complete_a_tag() -> None:
    registry = Registry.parse(
        CASE_REGISTRY.replace("arithmetic", "strings").replace('name = "calc"', 'name = "calc"\n')
    )
    tokens = ["<calc>", 'concat("ult",">")', "</calc>", "<res"]
    with pytest.raises(DecodeError, match="would complete a tag"):
        play(tokens, registry=registry, grammar=LarkText('start: @calc "<res" @calc.result "5"'))


def test_text_that_may_begin_a_tag_is_not_lost_before_a_restated_text() -> None:
    tokens = ["<c>", "1+1", "</c>", "<", "."]
    events = play(tokens, registry=REGISTRY, grammar=LarkText('start: @calc "<" @calc.result "."'))
    assert finished(events).text == "<c>1+1</c><r>2</r><2."


def test_the_guard_forbids_exactly_the_tokens_that_complete_a_tag() -> None:
    plan = SpanPlan(REGISTRY)
    tags = sorted(plan.results)
    pieces = ScriptedTokenizer([*PIECES, b"r>x", b"/r>", b"x</r>y", b"e>1<", b"<r><r>"]).pieces
    guard = TagGuard(plan.automaton, plan.results, pieces)
    for state, read in enumerate(plan.automaton.prefixes):
        if read in plan.automaton.tags:
            continue  # after a tag the automaton is at its root
        allowed = guard.allowed(state)
        for token, piece in enumerate(pieces):
            assert bool(allowed[token]) == (not any(tag in read + piece for tag in tags)), (read, piece)


def test_two_registries_in_one_process_give_two_masks() -> None:
    other = Registry.parse(CASE_REGISTRY)
    grammar = LarkText("start: @text @calc")
    for registry, text in ((REGISTRY, "<c>1</c><r>1</r>"), (other, "<calc>1</calc><result>1</result>")):
        opening = text.partition("1")[0]
        events = play([opening, "1", opening.replace("<", "</")], registry=registry, grammar=grammar)
        assert finished(events).text == text


def test_one_regex_and_two_tokenizers_give_two_masks() -> None:
    for tokens in (["ab", "ab"], ["a", "b", "a", "b"]):
        events = play(tokens, registry=REGISTRY, grammar=Regex("(ab)+"))
        assert finished(events).text == "abab"
        assert finished(events).sampled_tokens == len(tokens) + 1


GBNF = r"""
# a list of sums
root ::= item+ end?
item ::= "- " num (op num)* "\n"
num  ::= [0-9]{1,2}
op   ::= " " [-+] " "
end  ::= "\u00e9nd" | .
"""


def test_a_gbnf_grammar() -> None:
    tokens = ["- ", "1", "2", " + ", "3", "\n", "- ", "4", "\n", "é", "nd", "x"]
    assert finished(play(tokens, registry=REGISTRY, grammar=Gbnf(GBNF))).text == "- 12 + 3\n- 4\nénd"


def test_a_gbnf_grammar_is_exact_against_an_enumeration() -> None:
    grammar = Gbnf('root ::= "x" inner | "<" [a-f]? "."\ninner ::= "(" inner ")" | [xy]{0,2}\n')
    texts = [f"x{'(' * n}{body}{')' * n}" for n in range(6) for body in joined("xy", 2)]
    texts += ["<.", *(f"<{letter}." for letter in "abcdef")]
    assert walk(grammar, *language(texts), depth=3) > 100


def test_a_dot_of_gbnf_is_any_character() -> None:
    assert finished(play(["\n"], registry=REGISTRY, grammar=Gbnf("root ::= ."))).text == "\n"


@pytest.mark.parametrize(
    "source",
    [
        "",
        "root = x",
        "root ::= nothing",
        'other ::= "x"',
        'root ::= "x',
        "root ::= [a",
        r'root ::= "\q"',
        "root ::= \\",
        r'root ::= "\ud800"',
        'root ::= "<r>"',
        'root ::= ("a"',
    ],
)
def test_what_is_no_gbnf_is_refused(source: str) -> None:
    with pytest.raises(GrammarError):
        Gbnf(source).compile(REGISTRY, MARKS)


def test_emptiness_is_decided_by_the_engine() -> None:
    assert is_empty('"a" & "b"')
    assert is_empty('(/[a-z]+/ "{" /(?s:.+)/) & (/[a-z]+/ "{")')
    assert not is_empty('(/[a-z]+/ "b" /(?s:.+)/) & (/[a-z]+/ "b")')
    with pytest.raises(GrammarError):
        is_empty("(")


def test_events_of_a_grammar_without_spans_are_text() -> None:
    assert kinds(play(["ab"], registry=REGISTRY, grammar=Regex("ab"))) == ["finished"]
