"""Channels and code fences: what is read and what is allowed in them, against a plain reading of the text."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import SHORT_TAGS, finished, kinds, play

from evalspan.backends.scripted import EOS, ScriptedTokenizer
from evalspan.evaluators import Outcome, Value
from evalspan.orchestrator import FreeText, GrammarError
from evalspan.orchestrator.engines import ENGINES, EngineName, check_engine
from evalspan.orchestrator.events import Evaluated
from evalspan.orchestrator.machine import SpanMachine
from evalspan.orchestrator.matcher import CompiledGrammar, Vocabulary
from evalspan.orchestrator.plan import SpanPlan
from evalspan.policies import Registry, RegistryError, SpanRule

CODE = '[[channel]]\nname = "code"\nopen = "```"\nclose = "```"\n'
THOUGHT = '[[channel]]\nname = "thought"\nopen = "<t>"\nclose = "</t>"\n'
LOUD = "spans = true\n"

REGISTRIES = {
    "fence": CODE,
    "evaluated fence": CODE + LOUD,
    "thought": THOUGHT,
    "evaluated thought": THOUGHT + LOUD,
    "both": CODE + THOUGHT + LOUD,
}

SPAN_TAGS = ("<c>", "</c>", "<r>", "</r>", "<e>", "</e>")
RESULTS = SPAN_TAGS[2:]

AWKWARD = [
    *(b"`", b"``", b"```", b"`" * 4, b"``````", b"`<c>", b"```p\n", b"x```", b"<c>", b"1", b"</c", b">", b"<", b"t>"),
    *(b"<t>", b"</t>", b"</t><", b"<r", b"<r>", b"`1</c>", b"<c>1</c>", b"x", b"\xc3", b"\xa9"),
]


class Reading(NamedTuple):
    """What a text is: whether the model may have written it, where it stands, and the inputs of its spans."""

    allowed: bool
    channel: str | None = None
    in_span: bool = False
    closed: bool = False
    inputs: tuple[str, ...] = ()


def read(text: str, registry: Registry, *, masked: bool = True) -> Reading:
    """Plain searching from tag to tag; no automaton, no grammar. `masked`: nothing may follow a span's close."""
    at = 0
    channel: str | None = None
    inputs: list[str] = []
    allowed = True
    channels = {channel.name: channel for channel in registry.channels}
    while True:
        here = channels.get(channel) if channel is not None else None
        if here is None:
            stops = [*SPAN_TAGS, *(tag for c in registry.channels for tag in (c.open, c.close))]
        else:
            stops = [*(SPAN_TAGS if here.spans else RESULTS), here.close]
        found = min(((text.find(tag, at), tag) for tag in stops if tag in text[at:]), default=None)
        if found is None:
            return Reading(allowed, channel, inputs=tuple(inputs))
        place, tag = found
        at = place + len(tag)
        if here is not None and tag == here.close:
            channel = None
        elif here is None and (entered := [c.name for c in registry.channels if c.open == tag]):
            channel = entered[0]
        elif tag == "<c>":
            end = text.find("</c>", at)
            content = text[at:] if end < 0 else text[at:end]
            if end < 0:
                content = next((content[:-size] for size in (3, 2, 1) if content.endswith("</c>"[:size])), content)
            allowed = allowed and set(content) <= set("0123456789+/") and (content != "" or text[at:] == "")
            if end < 0:
                return Reading(allowed, channel, in_span=True, inputs=tuple(inputs))
            inputs.append(text[at:end])
            at = end + len("</c>")
            if masked:
                return Reading(allowed and at == len(text), channel, closed=True, inputs=tuple(inputs))
        else:
            allowed = False


def characters(data: bytes) -> str | None:
    """The whole characters of the data; None where it is no beginning of UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return data[: error.start].decode() if error.reason == "unexpected end of data" else None


def may_start(data: bytes, registry: Registry) -> bool:
    text = characters(data)
    if text is None:
        return False
    reading = read(text, registry)
    return reading.allowed and (len(text.encode()) == len(data) or (not reading.in_span and not reading.closed))


def may_end(data: bytes, registry: Registry) -> bool:
    text = characters(data)
    if text is None or len(text.encode()) < len(data):
        return False
    reading = read(text, registry)
    fences = {channel.name for channel in registry.channels if channel.is_fence}
    return reading.allowed and not reading.in_span and not reading.closed and reading.channel in {None, *fences}


def echo(name: str, data: bytes, rule: SpanRule | None) -> tuple[Outcome, float]:
    return Value("1", exact=True, fuel=1), 0.0


def evaluated(chunks: Iterator[bytes] | list[bytes], registry: Registry) -> list[str]:
    machine = SpanMachine(SpanPlan(registry), echo, max_tokens=10**6, tokenizer=None)
    for chunk in chunks:
        machine.advance_bytes(chunk)
    return [event.input for event in machine.drain() if isinstance(event, Evaluated)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("channels", REGISTRIES)
def test_the_grammar_and_the_machine_agree_with_a_plain_reading_on_prefixes(channels: str, engine: EngineName) -> None:
    try:
        check_engine(engine)
    except GrammarError as error:
        pytest.skip(str(error))
    registry = Registry.parse(SHORT_TAGS + REGISTRIES[channels])
    tokenizer = ScriptedTokenizer(AWKWARD)
    vocabulary = Vocabulary(tokenizer, engine)
    grammar = CompiledGrammar(FreeText().compile(registry, vocabulary.marks), vocabulary)
    tokens = [tokenizer.pieces.index(piece) for piece in AWKWARD]
    prefixes: list[list[int]] = [[]]
    checked = 0
    for depth in range(4):
        longer = []
        for prefix in prefixes:
            matcher = grammar.matcher()
            for token in prefix:
                matcher.consume(token)
            text = b"".join(tokenizer.pieces[token] for token in prefix)
            reading = read(characters(text) or "", registry)
            allowed = matcher.mask()
            assert matcher.result_due() == reading.closed, text
            assert bool(allowed[EOS]) == may_end(text, registry), text
            # What the machine makes of it: is a span that comes next evaluated?
            if not reading.closed and not reading.in_span:
                loud = reading.channel is None or next(c for c in registry.channels if c.name == reading.channel).spans
                probe = [*(tokenizer.pieces[token] for token in prefix), b" <c>1</c>"]
                assert evaluated(probe, registry) == (["1"] if loud else []), text
            for token in tokens:
                expected = not reading.closed and may_start(text + tokenizer.pieces[token], registry)
                assert bool(allowed[token]) == expected, (text, tokenizer.pieces[token])
                checked += 1
                if expected and (depth < 2 or (depth == 2 and token % 3 == 0)):  # of the longest, a third
                    longer.append([*prefix, token])
        prefixes = longer
    assert checked > 10_000


PIECES = ["`", "``", "```", "````", "<c>", "</c>", "1", "<t>", "</t>", "x\n", "<c>2</c>"]


@settings(deadline=None)
@given(st.sampled_from(sorted(REGISTRIES)), st.lists(st.sampled_from(PIECES), max_size=12), st.data())
def test_without_a_mask_the_same_spans_are_evaluated_in_every_chunking(
    channels: str, pieces: list[str], data: st.DataObject
) -> None:
    registry = Registry.parse(SHORT_TAGS.replace('content = "[0-9+/]+"\n', "") + REGISTRIES[channels])
    text = "".join(pieces)
    chunks = []
    rest = text.encode()
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        chunks.append(rest[:size])
        rest = rest[size:]
    # A chunk that runs past a close tag loses what follows it; bytes do not.
    expected = read(text, registry, masked=False).inputs
    assert evaluated([bytes([byte]) for byte in text.encode()], registry) == list(expected)
    if all(b"</c>" not in chunk[:-1] or chunk.endswith(b"</c>") for chunk in chunks) and text.count("</c>") <= 1:
        assert evaluated(chunks, registry) == list(expected)


@pytest.mark.parametrize("mode", ["no-grammar", "grammar-eval"])
def test_a_span_in_a_code_fence_is_text(mode: str) -> None:
    tokens = ["see ", "```", "python\n", "<c>", "1+1", "</c>", "\n```", " is ", "<c>", "2+2", "</c>", "."]
    events = play(tokens, registry=SHORT_TAGS + CODE, mode=mode)
    assert finished(events).text == "see ```python\n<c>1+1</c>\n``` is <c>2+2</c><r>4</r>."
    assert kinds(events) == ["span_opened", "evaluated", "injected", "finished"]


def test_a_span_in_a_code_fence_is_text_where_the_model_writes_the_results() -> None:
    tokens = ["```", "<c>", "1", "</c>", "```", "<c>", "2", "</c>", "<r>", "3", "</r>", "."]
    events = play(tokens, registry=SHORT_TAGS + CODE, mode="grammar-no-eval")
    assert finished(events).text == "```<c>1</c>```<c>2</c><r>3</r>."


@pytest.mark.parametrize("mode", ["no-grammar", "grammar-eval", "grammar-no-eval"])
def test_a_fence_that_never_closes_is_harmless(mode: str) -> None:
    tokens = ["a ", "```", "py\n", "<c>", "1", "</c>", " and so on"]
    events = play(tokens, registry=SHORT_TAGS + CODE, mode=mode)
    assert finished(events).text == "a ```py\n<c>1</c> and so on"
    assert finished(events).reason == "eos"


def test_a_result_cannot_be_written_in_a_fence() -> None:
    tokens = ["```", {"<r>": 90.0, "x": 80.0}, "<", "r", {">": 90.0, "y": 80.0}]
    assert finished(play(tokens, registry=SHORT_TAGS + CODE)).text == "```x<ry"


def test_in_a_channel_the_tags_of_another_are_text() -> None:
    tokens = ["<t>", "a ```", " b ", "</t>", "<c>", "1", "</c>"]
    assert finished(play(tokens, registry=SHORT_TAGS + CODE + THOUGHT)).text == "<t>a ``` b </t><c>1</c><r>1</r>"


@pytest.mark.parametrize(
    ("channels", "message"),
    [
        (CODE + CODE.replace('"code"', '"more"'), "already opens the channel 'code'"),
        (CODE + THOUGHT.replace("</t>", "```"), "one tag, one meaning"),
        (CODE + THOUGHT.replace("<t>", "<t`"), "is the start of"),
        (THOUGHT.replace("<t>", "aba"), "the end of 'aba' is the start of 'aba'"),
        (CODE.replace("```", "<c>"), "one tag, one meaning"),
    ],
)
def test_tags_of_channels_that_could_be_read_in_two_ways_are_refused(channels: str, message: str) -> None:
    with pytest.raises(RegistryError, match=message):
        Registry.parse(SHORT_TAGS + channels)


def test_a_hundred_spans_a_fence_and_a_channel_with_spans_answer() -> None:
    spans = "".join(
        f'[[span]]\nname = "s{i}"\nopen = "<s{i}>"\nclose = "</s{i}>"\nevaluator = "arithmetic"\n' for i in range(100)
    )
    tokens = ["```", "<s7>", "```", "<t>", "```", "<s99>", "1+1", "</s99>", "</t>", "."]
    events = play(tokens, registry=SHORT_TAGS + spans + CODE + THOUGHT + LOUD)
    assert finished(events).text == "```<s7>```<t>```<s99>1+1</s99><result>2</result></t>."
