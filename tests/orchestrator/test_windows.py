"""Windows: any text, and constrained parts, in one generation."""

import json
from typing import Any

import pytest
from json_support import bind, fields
from support import SHORT_TAGS, finished, play

from evalspan.backends.scripted import EOS, ScriptedTokenizer
from evalspan.evaluators import Outcome, Value
from evalspan.orchestrator import (
    DecodeError,
    Driver,
    FreeText,
    Gbnf,
    Grammar,
    GrammarError,
    Injected,
    JsonSchema,
    LarkText,
    Message,
    Pattern,
    Regex,
    RequestError,
    Restate,
    Sentence,
    StructuralTag,
    UnclosedSpan,
    Window,
    Windows,
)
from evalspan.orchestrator.machine import Force, SpanMachine
from evalspan.orchestrator.preparation import Preparation
from evalspan.policies import Registry, SpanRule

REGISTRY = Registry.parse(SHORT_TAGS)
THINK = Window("</t>", "<t>")
LOUD = Window("</t>", "<t>", spans=True)
TOTAL = JsonSchema(
    fields(expression={"type": "string"}, answer={"type": "integer", "x-evalspan": bind(input="/expression")})
)
SAID = Sentence(("It is ", Restate("calc", "[0-9]+"), "."))


def text(tokens: list[Any], grammar: Grammar, **options: Any) -> str:
    last = finished(play(tokens, registry=options.pop("registry", REGISTRY), grammar=grammar, **options))
    return last.text


def structural(*elements: Any) -> StructuralTag:
    return StructuralTag.from_json(
        {"type": "structural_tag", "format": {"type": "sequence", "elements": list(elements)}}
    )


def test_reasoning_comes_before_a_bound_value() -> None:
    tokens = ["<t>", "so <c>1</c> it", " is", "</t>", "\n\n", '{"expression": "', "2*3", '", "answer":', "}"]
    events = play(tokens, registry=REGISTRY, grammar=Windows((THINK, TOTAL)))
    assert finished(events).text == '<t>so <c>1</c> it is</t>\n\n{"expression": "2*3", "answer": 6}'
    assert finished(events).reason == "eos"
    assert [(e.kind, e.text) for e in events if isinstance(e, Injected)] == [("bound", " 6")]


AFTER = [
    (Regex("[a-c]{2}"), ["ab"]),
    (Gbnf('root ::= "x" ("y" | "z")'), ["x", "z"]),
    (LarkText('start: "n " @calc "."'), ["n ", "<c>", "2+2", "</c>", "<r>4</r>", "."]),
    (structural({"type": "const_string", "value": "end"}), ["end"]),
    (Sentence(("a", Pattern("[0-9]"))), ["a", "7"]),
    (JsonSchema({"type": "integer"}), ["4", "2"]),
    (FreeText(), ["f <c>", "3+3", "</c>", "<r>6</r>", " end"]),
    (FreeText(("calc",)), ["f ", "<c>", "3+3", "</c>", "<r>6</r>", " end"]),
]


@pytest.mark.parametrize("mode", ["grammar-eval", "grammar-no-eval"])
@pytest.mark.parametrize(("grammar", "written"), AFTER, ids=[type(grammar).__name__ for grammar, _ in AFTER])
def test_any_grammar_can_follow(grammar: Grammar, written: list[str], mode: str) -> None:
    expected = "".join(written)
    if mode == "grammar-eval":
        written = [token for token in written if not token.startswith("<r>")]
    else:
        written = [piece for token in written for piece in (token if token.startswith("<r>") else [token])]
    assert text(["<t>", "hm", "</t>", *written], Windows((THINK, grammar)), mode=mode) == f"<t>hm</t>{expected}"


def test_a_window_that_the_prompt_has_opened_starts_open() -> None:
    assert text(["hm", "</t>", "ab"], Windows((Window("</t>"), Regex("ab")))) == "hm</t>ab"


def test_the_model_must_open_a_window_that_is_not() -> None:
    assert text([{"no": 90.0, "<t>": 80.0}, "</t>", "ab"], Windows((THINK, Regex("ab")))) == "<t></t>ab"


def test_a_marker_ends_a_window_where_it_comes_first() -> None:
    window = Window("Answer:", gap=" ?")
    assert text(["An An", "swer", ":", " ", "7"], Windows((window, Regex("[0-9]")))) == "An Answer: 7"
    later = [*"Answer", ":", "7", "Answer:"]
    assert text(later, Windows((window, FreeText()))) == "Answer:7Answer:"


def test_a_marker_may_end_as_it_begins() -> None:
    assert text(["a#", "#", "b##", "#", "7"], Windows((Window("###"), Regex("[0-9]")))) == "a##b###7"


@pytest.mark.parametrize(("spans", "result"), [(False, ""), (True, "<r>2</r>")])
def test_spans_in_a_window_are_evaluated_where_it_says_so(spans: bool, result: str) -> None:
    windows = Windows((Window("</t>", "<t>", spans=spans), FreeText()))
    tokens = ["<t>", "<c>", "1+1", "</c>", "</t>", "<c>", "2+2", "</c>"]
    assert text(tokens, windows) == f"<t><c>1+1</c>{result}</t><c>2+2</c><r>4</r>"


def test_a_quiet_window_holds_any_text_but_results() -> None:
    tokens = ["<t>", "</c><c>a<t>```", {"<r>": 90.0, "x": 80.0}, "</t>", "ab"]
    assert text(tokens, Windows((THINK, Regex("ab")))) == "<t></c><c>a<t>```x</t>ab"


@pytest.mark.parametrize(
    ("answer", "between"),
    [
        (SAID, "It is "),
        (Sentence((Restate("calc", "[0-9]+"), ".")), ""),
        (LarkText('start: "It is " @calc.result "."'), "It is "),
        (structural({"type": "result_ref", "span": "calc"}, {"type": "const_string", "value": "."}), ""),
    ],
)
def test_a_result_of_the_reasoning_is_said_again_in_the_answer(answer: Grammar, between: str) -> None:
    tokens = ["<t>", "<c>", "40+2", "</c>", " well", "</t>", *([between] if between else []), "9", "."]
    events = play(tokens, registry=REGISTRY, grammar=Windows((LOUD, answer)))
    assert finished(events).text == f"<t><c>40+2</c><r>42</r> well</t>{between}42."
    assert [e.kind for e in events if isinstance(e, Injected)] == ["result", "restated"]


def test_a_document_with_a_span_of_its_own_has_it_in_the_window_too() -> None:
    own = {"type": "evaluated_tag", "begin": "<own>", "end": "</own>", "evaluator": "arithmetic", "name": "own"}
    answer = structural({"type": "const_string", "value": "n "}, own)
    tokens = ["<t>", "<own>", "1+1", "</own>", "</t>", "n ", "<own>", "2+2", "</own>"]
    assert text(tokens, Windows((LOUD, answer))) == (
        "<t><own>1+1</own><result>2</result></t>n <own>2+2</own><result>4</result>"
    )


def test_a_result_that_the_reasoning_has_not_got_ends_the_generation() -> None:
    events = play(["<t>", "</t>", "It is "], registry=REGISTRY, grammar=Windows((LOUD, SAID)))
    assert finished(events).reason == "evaluation_error"


def test_there_may_be_several_windows_and_grammars() -> None:
    grammar = Windows((THINK, JsonSchema({"type": "array", "items": {"type": "boolean"}}), THINK, Regex("[a-c]+")))
    tokens = ["<t>", "a", "</t>", " ", "[", "true", "]", "<t>", "b", "</t>", "cab"]
    assert text(tokens, grammar) == "<t>a</t> [true]<t>b</t>cab"


def test_a_part_in_the_middle_takes_all_it_can_and_is_not_the_end() -> None:
    grammar = Windows((THINK, Regex("[0-9]+"), Regex("[0-9a]+")))
    empty = machine_of(Windows((THINK, Regex("[0-9]*"), Regex("x"))), [b"</t>"])
    assert all(give(empty, piece, [b"</t>"]) for piece in (b"<", b"t", b">", b"</t>"))
    mask = empty.mask()
    assert mask is not None
    assert not mask[EOS]
    assert mask[ord("1")]
    assert mask[ord("x")]
    machine = machine_of(grammar, [b"</t>", b"1a"])
    for piece in (b"<", b"t", b">", b"</t>", b"1"):
        give(machine, piece, [b"</t>", b"1a"])
    mask = machine.mask()
    assert mask is not None
    assert not mask[EOS]
    assert mask[ord("1")] and mask[ord("a")] and not mask[ord("b")]
    give(machine, b"2", [b"</t>", b"1a"])
    give(machine, b"a", [b"</t>", b"1a"])
    mask = machine.mask()
    assert mask is not None
    assert mask[EOS] and mask[ord("1")]


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (["a", "b", "c", "d"], "abc</t>xy"),
        (["a", "b", "</t>"], "ab</t>xy"),
        (["a", "b", "<"], "ab<</t>xy"),
        (["a", "b", "é"], "abé</t>xy"),
    ],
)
def test_a_window_ends_when_its_tokens_are_used_up(tokens: list[str], expected: str) -> None:
    grammar = Windows((Window("</t>", max_tokens=3), Regex("xy")))
    events = play([*tokens[:3], "xy"], registry=REGISTRY, grammar=grammar)
    assert finished(events).text == expected
    closes = [e for e in events if isinstance(e, Injected)]
    assert [(e.span, e.kind, e.text) for e in closes] == [("reasoning", "close", "</t>")] * ("</t>" not in tokens)
    assert finished(events).sampled_tokens == 5  # with that of the end


def test_the_open_tag_and_the_close_do_not_count_for_a_window() -> None:
    grammar = Windows((Window("</t>", "<t>", max_tokens=2), Regex("xy")))
    assert text([*"<t>", "a", "b", "xy"], grammar) == "<t>ab</t>xy"


def test_a_window_is_not_closed_inside_a_character() -> None:
    grammar = Windows((Window("</t>", max_tokens=2), Regex("xy")))
    assert text(["a", b"\xe2", b"\x82", b"\xac", "xy"], grammar) == "a€</t>xy"


def test_a_window_without_a_mask_ends_even_inside_of_broken_characters() -> None:
    grammar = Windows((Window("</t>", max_tokens=2), FreeText()))
    found = text([b"\xf0"] * 7, grammar, mode="no-grammar")
    assert found == "\N{REPLACEMENT CHARACTER}" * 5 + "</t>" + "\N{REPLACEMENT CHARACTER}" * 2


def test_a_span_that_is_open_when_the_tokens_are_used_up_is_given_up() -> None:
    grammar = Windows((Window("</t>", spans=True, max_tokens=4), Regex("xy")))
    events = play(["a", "<c>", "1", "+", "xy"], registry=REGISTRY, grammar=grammar)
    assert finished(events).text == "a<c>1+</t>xy"
    assert [(e.span, e.input) for e in events if isinstance(e, UnclosedSpan)] == [("calc", "1+")]


def test_results_in_a_window_count_and_are_not_cut() -> None:
    grammar = Windows((Window("</t>", spans=True, max_tokens=4), SAID))
    events = play(["<c>", "1+1", "</c>", "It is ", "."], registry=REGISTRY, grammar=grammar)
    assert finished(events).text == "<c>1+1</c><r>2</r></t>It is 2."
    assert [e.kind for e in events if isinstance(e, Injected)] == ["result", "close", "restated"]


ANY_CONTENT = SHORT_TAGS.replace('content = "[0-9+/]+"\n', "")


def test_a_close_in_a_span_ends_the_window_and_gives_up_the_span() -> None:
    grammar = Windows((Window("</t>", spans=True), FreeText()))
    tokens = ["<c>", "1 </t>", "<c>", "2", "</c>"]
    events = play(tokens, registry=ANY_CONTENT, grammar=grammar, mode="no-grammar")
    assert finished(events).text == "<c>1 </t><c>2</c><r>2</r>"
    assert [(e.span, e.input) for e in events if isinstance(e, UnclosedSpan)] == [("calc", "1 ")]


def test_a_mask_keeps_the_close_out_of_spans() -> None:
    grammar = Windows((Window("</t>", spans=True), FreeText()))
    tokens = ["<c>", "1", {"</t>": 90.0, "+1": 80.0}, "<", "/t", {">": 90.0, "x": 80.0}, "</c>", "</t>", "."]
    assert text(tokens, grammar, registry=ANY_CONTENT).endswith("</e></t>.")
    assert text(tokens, grammar, registry=ANY_CONTENT).startswith("<c>1+1</tx</c>")


@pytest.mark.parametrize("mode", ["grammar-eval", "no-grammar"])
def test_the_channels_of_the_registry_are_text_in_a_window(mode: str) -> None:
    registry = SHORT_TAGS + '[[channel]]\nname = "code"\nopen = "```"\nclose = "```"\n'
    tokens = ["```", "<c>", "1", "</c>", "</t>", "```", "<c>", "2", "</c>"]
    found = text(tokens, Windows((Window("</t>", spans=True), FreeText())), registry=registry, mode=mode)
    assert found == "```<c>1</c><r>1</r></t>```<c>2</c>"


def test_a_marker_is_no_marker_in_what_follows() -> None:
    for grammar in (LarkText('start: "Answer:" "x"'), JsonSchema({"const": "Answer:"}), Regex("Answer:x")):
        tokens = ["Answer:", *('"Answer:"' if isinstance(grammar, JsonSchema) else "Answer:x")]
        assert text(tokens, Windows((Window("Answer:"), grammar))) == "".join(tokens)


def test_where_the_close_does_not_fit_the_generation_ends() -> None:
    grammar = Windows((Window("</t>", max_tokens=3), Regex("xy")))
    events = play([*"abc", "x"], registry=REGISTRY, grammar=grammar, max_tokens=7)
    assert finished(events).text == "abc</t>"
    assert finished(events).reason == "length"
    events = play([*"abc", "x"], registry=REGISTRY, grammar=grammar, max_tokens=6)
    assert finished(events).text == "abc"
    assert finished(events).reason == "length"


def test_without_a_mask_a_window_that_is_open_says_what_is_evaluated() -> None:
    tokens = ["<c>", "1", "</c>", " </t><c>", "2", "</c>"]
    for spans, expected in ((False, "<c>1</c> "), (True, "<c>1</c><r>1</r> ")):
        grammar = Windows((Window("</t>", spans=spans), FreeText()))
        assert text(tokens, grammar, mode="no-grammar") == f"{expected}</t><c>2</c><r>2</r>"


def test_what_needs_a_mask_is_refused_without_one() -> None:
    for grammar in (Windows((THINK, FreeText())), Windows((Window("</t>"), Regex("a")))):
        with pytest.raises(RequestError, match="no-grammar"):
            play(["a"], registry=REGISTRY, grammar=grammar, mode="no-grammar")
    limited = Windows((Window("</t>", max_tokens=3), FreeText()))
    with pytest.raises(RequestError, match="max_tokens"):
        play(["a"], registry=REGISTRY, grammar=limited, level="request")
    open_ = Windows((Window("</t>"), FreeText()))
    tokens = ["<c>", "1", "</t>", "<c>", "2", "</c>"]
    assert text(tokens, open_, level="request") == "<c>1</t><c>2</c><r>2</r>"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Windows((FreeText(),)), "at least one window"),
        (lambda: Windows((THINK,)), "must come last"),
        (lambda: Windows((FreeText(), THINK, Regex("a"))), "free text has no end"),
        (lambda: Windows((Windows((THINK, Regex("a"))), THINK, Regex("a"))), "do not nest"),
        (lambda: Window("x"), "2 to 64 characters"),
        (lambda: Window("</t>", "<"), "2 to 64 characters"),
        (lambda: Window("</t>", max_tokens=0), "1 or more"),
        (lambda: Windows((Window("</c>"), Regex("a"))).compile(REGISTRY, None), "is the tag of a span"),
        (lambda: Windows((Window("<c"), Regex("a"))).compile(REGISTRY, None), "contains the tag '<c'"),
        (lambda: Windows((Window("t>", "<t"), Regex("a"))).compile(REGISTRY, None), "is the start of"),
        (lambda: Windows((Window("End\n"), Regex("a"))).compile(REGISTRY, None), "printable"),
        (lambda: Windows((Window("</t>", gap="("), Regex("a"))).compile(REGISTRY, None), "the gap after a window"),
    ],
)
def test_windows_that_cannot_be_honoured_are_refused(make: Any, message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        make()


def test_a_fork_in_a_window_goes_on_by_itself() -> None:
    pieces = [b"</t>", b"xy"]
    machine = machine_of(Windows((Window("</t>", max_tokens=3), Regex("xy"))), pieces)
    assert give(machine, b"a", pieces)
    twin = machine.fork()
    assert give(machine, b"</t>", pieces)
    assert give(machine, b"xy", pieces)
    assert give(twin, b"b", pieces)
    assert give(twin, b"c", pieces)
    assert give(twin, b"\n", pieces)
    assert (bytes(machine.text), bytes(twin.text)) == (b"a</t>xy", b"abc</t>\n")


# Every token at every prefix, against a plain reading.

PIECES = [
    *(b"<", b"</", b"</t", b"</t>", b"t>", b"/t>", b">", b"x</t>", b"</t>x", b"</t>\n", b"<t>", b"<c>", b"</c>", b"1"),
    *(b"\n", b" \n", b"x", b"y", b"xy", b"\nx", b"<r", b"<r>", b"r>", b"\xc3", b"\xa9", b"<c>1</c>"),
]


def echo(name: str, data: bytes, rule: SpanRule | None) -> tuple[Outcome, float]:
    return Value("7", exact=True, fuel=1), 0.0


def machine_of(grammar: Grammar, pieces: list[bytes], registry: Registry = REGISTRY) -> SpanMachine:
    preparation = PREPARED.setdefault(
        (tuple(pieces), registry.digest), Preparation(registry, ScriptedTokenizer(pieces))
    )
    return preparation.machine(echo, mode="grammar-eval", grammar=grammar, max_tokens=10**6)


PREPARED: dict[Any, Preparation] = {}


def give(machine: SpanMachine, piece: bytes, pieces: list[bytes]) -> bool:
    """Whether the machine took the token, if its mask allows it."""
    token = ScriptedTokenizer(pieces).pieces.index(piece)
    mask = machine.mask()
    if mask is None or not mask[token]:
        return False
    machine.advance(token)
    return True


def is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return True


def in_window(data: bytes, *, spans: bool) -> bool:
    """Whether a text without the close may stand in the window; `\\0` is the end of a result."""
    if not is_text(data):
        return False
    if not spans:
        return not any(tag in data for tag in (b"<r>", b"</r>", b"<e>", b"</e>"))
    *closed, last = data.split(b"\0")
    for part in closed:
        before, found, content = part.partition(b"<c>")
        if (
            not found
            or any(tag in before for tag in SPAN_TAGS)
            or content[-4:] != b"</c>"
            or not content[:-4].isdigit()
        ):
            return False
    before, found, content = last.partition(b"<c>")
    if any(tag in before for tag in SPAN_TAGS) or (found and not is_whole(before)):
        return False
    digits, cut, rest = content.partition(b"<")
    return (
        not found
        or not content
        or (digits.isdigit() and (not cut or (b"</c>".startswith(cut + rest) and rest != b"/c>")))
    )


def is_whole(data: bytes) -> bool:
    try:
        return data.decode() is not None
    except UnicodeDecodeError:
        return False


SPAN_TAGS = (b"<c>", b"</c>", b"<r>", b"</r>", b"<e>", b"</e>")


def may_write(text: bytes, piece: bytes, *, spans: bool) -> bool:
    """Whether a token may come after a text: in the window, or in the gap or the part behind it, but not in two."""
    window, closed, after = text.partition(b"</t>")
    if not closed:
        whole = text + piece
        window, closed, rest = whole.partition(b"</t>")
        if closed:
            return not rest and in_window(window, spans=spans) and is_whole(window) and not opened(window, spans)
        if spans and whole.rpartition(b"\0")[2].endswith(b"</c>") and b"<c>" in whole.rpartition(b"\0")[2]:
            return in_window(whole + b"\0", spans=True)
        return in_window(whole, spans=spans)
    if not after.strip() and len(after + piece) <= 2 and not piece.strip():
        return True
    return any((after.strip() + piece) == b"xy"[:size] for size in (1, 2))


def opened(window: bytes, spans: bool) -> bool:
    return spans and b"<c>" in window.rpartition(b"\0")[2]


@pytest.mark.parametrize("spans", [False, True])
def test_every_token_at_every_prefix_agrees_with_a_plain_reading(spans: bool) -> None:
    grammar = Windows((Window("</t>", spans=spans), Regex("xy")))
    tokenizer = ScriptedTokenizer(PIECES)
    tokens = [tokenizer.pieces.index(piece) for piece in PIECES]
    prefixes: list[list[int]] = [[]]
    checked = 0
    for depth in range(4):
        longer = []
        for prefix in prefixes:
            machine = machine_of(grammar, PIECES)
            text = b""
            for token in prefix:
                text += tokenizer.pieces[token]
                if isinstance(machine.advance(token), Force):
                    text += b"\0"
            mask = machine.mask()
            assert mask is not None
            assert bool(mask[EOS]) == (text.partition(b"</t>")[2].strip() == b"xy"), text
            for token, piece in zip(tokens, PIECES, strict=True):
                expected = may_write(text, piece, spans=spans)
                assert bool(mask[token]) == expected, (text, piece)
                checked += 1
                if expected and (depth < 2 or (depth == 2 and token % 4 == 0)):  # of the longest, a quarter
                    longer.append([*prefix, token])
        prefixes = longer
    assert checked > 10_000


def test_two_parts_cannot_spell_a_tag_together() -> None:
    grammar = Windows((Window("</t>", gap=""), Regex("[<r]*"), Regex("[a-z>]*")))
    pieces = [b"</t>", b"r>", b"<r", b"x>"]
    for start, refused, taken in (
        ((b"</t>", b"<r"), b">", b"x>"),
        ((b"</t>", b"<"), b"r>", b"r"),
        ((b"</t>", b"<", b"c"), b">", b"x"),  # of a span, as of a result
        ((b"</t>", b"<", b"q"), b"<", b">"),
        ((b"</t>", b"<r", b"x"), b"<", b">"),
    ):
        machine = machine_of(grammar, pieces)
        assert all(give(machine, piece, pieces) for piece in start)
        assert not give(machine, refused, pieces), (start, refused)
        assert give(machine, taken, pieces), (start, taken)


def test_what_the_engine_writes_cannot_complete_a_tag_over_a_seam() -> None:
    grammar = Windows((Window("</t>", spans=True, gap=""), Regex("<r"), Sentence((Restate("calc", ".+"), "."))))
    registry = SHORT_TAGS.replace('"<r>"', '"<r2"').replace('"</r>"', '"</r2"')
    with pytest.raises(DecodeError, match="complete a tag"):
        play(["<c>", "1+1", "</c>", "</t>", "<r"], registry=registry, grammar=grammar)


# Structural tags have windows of their own.

REASONED = (
    {"type": "tag", "begin": "<think>", "content": {"type": "any_text"}, "end": "</think>"},
    {"type": "json_schema", "json_schema": {"type": "array", "items": {"type": "boolean"}}},
)


def test_the_reasoning_of_a_structural_tag_comes_before_its_schema() -> None:
    assert text(["<think>", "hm", "</think>", "[true]"], structural(*REASONED)) == "<think>hm</think>[true]"


def test_a_structural_tag_may_write_the_tags_of_a_channel() -> None:
    channel = '[[channel]]\nname = "reasoning"\nopen = "<think>"\nclose = "</think>"\n'
    content = {
        "type": "triggered_tags",
        "triggers": ["<c>"],
        "tags": [{"type": "evaluated_tag", "begin": "<c>", "end": "</c>", "evaluator": "arithmetic"}],
    }
    aloud = structural({**REASONED[0], "content": content}, {"type": "result_ref", "span": "calc"})
    tokens = ["<think>", "so ", "<c>", "20+1", "</c>", " it", "</think>"]
    registry = Registry.parse(SHORT_TAGS + channel)
    assert text(tokens, aloud, registry=registry) == "<think>so <c>20+1</c><r>21</r> it</think>21"
    assert text(["<think>", "hm", "</think>", "[]"], structural(*REASONED), registry=registry) == "<think>hm</think>[]"


@pytest.mark.model
def test_a_real_model_reasons_and_its_answer_is_exact() -> None:
    schema = JsonSchema(
        fields(
            expression={"type": "string", "pattern": r"^[1-9][0-9]{0,2}( [-+*] [1-9][0-9]{0,2}){1,3}$"},
            answer={"type": "integer", "x-evalspan": bind(input="/expression")},
        )
    )
    with Driver.open("llama_cpp", context_tokens=512) as driver:
        turns = [Message("user", "A box has 17 rows of 23 items, then 91 more are added. How many items are there?")]
        grammar = Windows((Window("</think>", "<think>", max_tokens=24), schema))
        result = driver.generate(turns, grammar=grammar, max_tokens=120)
        assert result.reason == "eos", result.text
        thought, _, answer = result.text.partition("</think>")
        assert thought.startswith("<think>")
        read = json.loads(answer)
        left = read["expression"].split()
        assert read["answer"] == eval_plain(left)


def eval_plain(words: list[str]) -> int:
    """The value of integers with + - *, product first."""
    total, sign, product_ = 0, 1, int(words[0])
    for operator, number in zip(words[1::2], words[2::2], strict=True):
        if operator == "*":
            product_ *= int(number)
        else:
            total += sign * product_
            sign, product_ = (1 if operator == "+" else -1), int(number)
    return total + sign * product_
