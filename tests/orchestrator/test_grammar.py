"""Masks are exact: a token is allowed if and only if some document starts with it, at every reachable prefix."""

from dataclasses import replace

import pytest
from engine_support import each_engine, pytest_generate_tests  # noqa: F401  all runs with each engine
from support import SHORT_TAGS, finished, play

from evalspan.backends.scripted import EOS, ScriptedTokenizer
from evalspan.orchestrator import DecodeError, FreeText, GrammarError, Injected, Pattern, Restate, Sentence, SpanPart
from evalspan.orchestrator.grammar import MARKS, Marks, Mode
from evalspan.orchestrator.matcher import CompiledGrammar, Vocabulary
from evalspan.orchestrator.sentences import LEAD_WORDS
from evalspan.policies import Registry

REGISTRY = Registry.parse(SHORT_TAGS)
TAGS = ("<c>", "</c>", "<r>", "</r>", "<e>", "</e>")

# Fragments, whole tags, several tags in one token, tokens that run past a close tag, split and broken UTF-8.
AWKWARD = [
    *(b"<", b"</", b"<c", b"c>", b"<c>", b"</c>", b"</c", b">", b"1", b"1+", b"1</c>", b"1</c>x", b"/c><r>", b"<r"),
    *(b"r>", b"<r>", b"</r>", b"<e>5</e>", b"x", b"x<c>1", b">.", b"><", "é".encode(), b"\xc3", b"\xa9", b"\xff"),
]


def is_prefix(text: bytes) -> bool:
    """Whether some document of the model's starts with `text`; plain searching, no automaton, no grammar."""
    try:
        plain = text.decode()
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            return False
        plain = text[: error.start].decode()
    if TAGS[0] not in plain:
        return not any(tag in plain for tag in TAGS)
    before, _, rest = plain.partition("<c>")
    if any(tag in before for tag in TAGS) or len(plain.encode()) < len(text):
        return False
    content, cut, tail = rest.partition("<")
    if cut and (not content or not "</c>".startswith(cut + tail)):
        return False
    return all(char in "0123456789+/" for char in content)


def is_document(text: bytes) -> bool:
    """Whether the output may end after `text`, no span in it being closed."""
    try:
        return is_prefix(text) and "<c>" not in text.decode()
    except UnicodeDecodeError:
        return False


def compiled(mode: Mode, grammar: FreeText | Sentence, registry: Registry = REGISTRY) -> CompiledGrammar:
    vocabulary = Vocabulary(ScriptedTokenizer(AWKWARD))
    marks = vocabulary.marks if mode == "grammar-eval" else None
    return CompiledGrammar(replace(grammar.compile(registry, marks), free_text=False), vocabulary)


def test_every_token_at_every_prefix_agrees_with_a_plain_search() -> None:
    grammar = compiled("grammar-eval", FreeText())
    pieces = ScriptedTokenizer(AWKWARD).pieces
    tokens = [pieces.index(piece) for piece in AWKWARD]
    prefixes: list[list[int]] = [[]]
    checked = 0
    for depth in range(4):
        longer = []
        for prefix in prefixes:
            matcher = grammar.matcher()
            for token in prefix:
                matcher.consume(token)
            text = b"".join(pieces[token] for token in prefix)
            closed = b"</c>" in text
            allowed = matcher.mask()
            assert matcher.result_due() == closed, text
            assert bool(allowed[EOS]) == (is_document(text) and not closed), text
            for token in tokens:
                expected = not closed and is_prefix(text + pieces[token])
                assert bool(allowed[token]) == expected, (text, pieces[token])
                checked += 1
                if expected and depth < 3:
                    longer.append([*prefix, token])
        prefixes = longer
    assert checked > 40_000


def test_after_a_close_tag_only_the_engine_can_go_on() -> None:
    matcher = compiled("grammar-eval", FreeText()).matcher()
    for byte in b"<c>1+1</c>":
        assert not matcher.result_due()
        matcher.consume(byte)
    assert matcher.result_due()
    assert not matcher.mask().any()
    matcher.inject(list(b"<r>2</r>"))
    assert not matcher.result_due()
    assert matcher.accepting()


@pytest.mark.parametrize("block", [b"2", b"<r>2</r>x<r>", b"<r><c></r>", b"<c>2</c>"])
def test_an_injection_that_is_no_result_is_refused(block: bytes) -> None:
    matcher = compiled("grammar-eval", FreeText()).matcher()
    for byte in b"<c>1+1</c>":
        matcher.consume(byte)
    with pytest.raises(DecodeError, match="does not allow this result"):
        matcher.inject(list(block))


def test_an_injection_that_is_not_due_is_refused() -> None:
    matcher = compiled("grammar-eval", FreeText()).matcher()
    with pytest.raises(DecodeError):
        matcher.inject(list(b"<r>2</r>"))


def test_a_token_that_the_mask_forbids_is_refused_for_good() -> None:
    matcher = compiled("grammar-eval", FreeText()).matcher()
    with pytest.raises(DecodeError):
        matcher.consume(ScriptedTokenizer(AWKWARD).pieces.index(b"<r>"))
    with pytest.raises(DecodeError, match="in error"):
        matcher.mask()


def test_a_finished_grammar_allows_only_the_end() -> None:
    matcher = compiled("grammar-eval", Sentence(("ab",))).matcher()
    for byte in b"ab":
        matcher.consume(byte)
    assert [int(token) for token in matcher.mask().nonzero()[0]] == [EOS]


def test_a_sentence_is_written_as_given() -> None:
    sentence = Sentence(("It is ", SpanPart("calc"), ", so ", Pattern("[0-9]+"), "."))
    script = [*"It is ", "<c>", "1+1", "</c>", *", so ", "2", "."]
    events = play(script, registry=REGISTRY, grammar=sentence)
    assert finished(events).text == "It is <c>1+1</c><r>2</r>, so 2."
    assert finished(events).reason == "eos"


@pytest.mark.parametrize("errors", [1, 2])
def test_after_an_error_a_sentence_allows_the_span_again(errors: int) -> None:
    wrong = ["<c>", "1/0", "</c>"]
    sentence = Sentence((SpanPart("calc"), "!"))
    events = play([*wrong * errors, "<c>", "1+1", "</c>", "!"], registry=REGISTRY, grammar=sentence)
    failure = "<c>1/0</c><e>division_by_zero: "
    assert finished(events).text.startswith(failure)
    assert finished(events).text.count(failure) == errors
    assert finished(events).text.endswith("<c>1+1</c><r>2</r>!")


def test_the_third_error_of_a_sentence_is_its_last() -> None:
    sentence = Sentence((SpanPart("calc"), "!"))
    events = play([*["<c>", "1/0", "</c>"] * 3, "<c>", "!"], registry=REGISTRY, grammar=sentence)
    assert finished(events).text.count("<c>") == 3
    assert finished(events).text.endswith("</e>!")


def test_a_required_span_keeps_the_end_out_of_reach() -> None:
    matcher = compiled("grammar-eval", FreeText(("calc",))).matcher()
    for byte in b"hello ":
        assert not matcher.mask()[EOS]
        matcher.consume(byte)
    for byte in b"<c>1</c>":
        matcher.consume(byte)
    matcher.inject(list(b"<r>1</r>"))
    assert matcher.mask()[EOS]


def test_before_a_required_span_come_few_words_and_no_digit() -> None:
    matcher = compiled("grammar-eval", FreeText(("calc",))).matcher()
    for _ in range(LEAD_WORDS):
        allowed = matcher.mask()
        assert allowed[ord("<")]
        assert not allowed[ord("7")]
        matcher.consume(ord("w"))
        assert not matcher.mask()[ord("<")]
        matcher.consume(ord(" "))
    assert not matcher.mask()[ord(" ")]


def test_a_required_span_on_the_driver() -> None:
    tokens = ["x ", {"<c>": 0.5}, "1+1", "</c>"]  # the model would rather end after one word
    assert finished(play(tokens, registry=REGISTRY)).text == "x "
    events = play(tokens, registry=REGISTRY, grammar=FreeText(("calc",)))
    assert finished(events).text == "x <c>1+1</c><r>2</r>"


def test_without_evaluation_the_model_writes_the_result() -> None:
    events = play(["<c>", "1+1", "</c>", "<r>", "7", "</r>", "."], registry=REGISTRY, mode="grammar-no-eval")
    assert finished(events).text == "<c>1+1</c><r>7</r>."
    assert [event.event for event in events if event.event in ("evaluated", "injected")] == []


@pytest.mark.parametrize(
    "grammar", [Sentence((SpanPart("clac"),)), FreeText(("clac",)), Sentence((Pattern("("),)), Sentence(())]
)
def test_what_does_not_compile_is_an_error_with_its_reason(grammar: FreeText | Sentence) -> None:
    with pytest.raises(GrammarError):
        grammar.compile(REGISTRY, Marks(1000))


@pytest.mark.parametrize("content", ["a/b", "[/]+", r"\/x", r"[\\/]", "[^<]*"])
def test_a_slash_in_a_pattern_does_not_end_it(content: str) -> None:
    registry = Registry.parse(
        'version = 1\n[[evaluator]]\nname = "a"\nbuiltin = "arithmetic/1"\n[[span]]\nname = "s"\nopen = "<c>"\n'
        f'close = "</c>"\nevaluator = "a"\ncontent = \'{content}\'\n'
    )
    compiled("grammar-eval", FreeText(), registry)


@pytest.mark.llguidance("xgrammar takes tokens of any length")
def test_a_vocabulary_that_the_grammar_engine_cannot_hold_is_an_error() -> None:
    with pytest.raises(GrammarError, match="2000 bytes"):
        Vocabulary(ScriptedTokenizer([b"x" * 2000]))


SAID_AGAIN = Sentence((SpanPart("calc"), " so ", Restate("calc", "[0-9]+"), Restate("calc", "[0-9]+"), "."))


def test_a_result_is_restated_by_the_engine() -> None:
    events = play(["<c>", "40+2", "</c>", *" so ", "."], registry=REGISTRY, grammar=SAID_AGAIN)
    assert finished(events).text == "<c>40+2</c><r>42</r> so 4242."
    assert [(e.kind, e.text) for e in events if isinstance(e, Injected)] == [
        ("result", "<r>42</r>"),
        ("restated", "42"),
        ("restated", "42"),
    ]


def test_a_result_that_follows_at_once_is_forced_in_the_same_step() -> None:
    sentence = Sentence((SpanPart("calc"), Restate("calc", "[0-9]+"), "."))
    events = play(["<c>", "40+2", "</c>", "."], registry=REGISTRY, grammar=sentence)
    assert finished(events).text == "<c>40+2</c><r>42</r>42."


def test_the_model_cannot_write_a_restated_number_itself() -> None:
    events = play(["<c>", "40+2", "</c>", *" so ", "9", "."], registry=REGISTRY, grammar=SAID_AGAIN)
    assert finished(events).text == "<c>40+2</c><r>42</r> so 4242."


def test_without_evaluation_the_model_restates() -> None:
    tokens = ["<c>", "40+2", "</c>", "<r>", "5", "</r>", *" so ", "6", "7", "."]
    events = play(tokens, registry=REGISTRY, grammar=SAID_AGAIN, mode="grammar-no-eval")
    assert finished(events).text == "<c>40+2</c><r>5</r> so 67."


def test_a_restated_result_that_never_was_ends_the_generation() -> None:
    events = play([*["<c>", "1/0", "</c>"] * 3, *" so "], registry=REGISTRY, grammar=SAID_AGAIN)
    assert finished(events).reason == "evaluation_error"
    assert finished(events).text.endswith("</e> so ")


def test_a_restated_result_counts_towards_the_token_limit() -> None:
    spent = len("<r>42</r>") + 3 + len(" so ")
    for limit, text in ((spent + 3, " so 42"), (spent + 4, " so 4242")):
        events = play(["<c>", "40+2", "</c>", *" so ", "."], registry=REGISTRY, grammar=SAID_AGAIN, max_tokens=limit)
        assert finished(events).text.endswith(text)
        assert finished(events).reason == "length"


def test_more_directives_than_marks_are_refused() -> None:
    parts = [Restate("calc", f"[0-9]{{{n}}}") for n in range(1, MARKS)]
    with pytest.raises(GrammarError, match="at most 62"):
        Sentence((SpanPart("calc"), *parts)).compile(REGISTRY, Marks(1000))


def many_spans(count: int) -> Registry:
    spans = "".join(
        f'[[span]]\nname = "s{i}"\nopen = "<s{i}>"\nclose = "</s{i}>"\ncontent = "[0-9+]+"\nevaluator = "a"\n'
        for i in range(count)
    )
    return Registry.parse(f'version = 1\n[[evaluator]]\nname = "a"\nbuiltin = "arithmetic/1"\n{spans}')


@pytest.mark.parametrize("count", [300, pytest.param(1000, marks=pytest.mark.long)])
def test_hundreds_of_spans_compile_and_answer(count: int) -> None:
    last = count - 1
    events = play([f"x <s{last}>", "20+3", f"</s{last}>", "."], registry=many_spans(count))
    assert finished(events).text == f"x <s{last}>20+3</s{last}><result>23</result>."


@pytest.mark.parametrize("span", ["calc", "strop", "date", "check"])
def test_each_shipped_span_can_be_required(span: str) -> None:
    rule = Registry.load().span(span)
    writing = {"calc": "1+1", "strop": 'len("a")', "date": "2024-01-31 + 1 month", "check": 'crc32("a")'}
    events = play(["So ", rule.open, writing[span], rule.close], grammar=FreeText((span,)))
    assert finished(events).text.startswith(f"So {rule.open}{writing[span]}{rule.close}<result>")
