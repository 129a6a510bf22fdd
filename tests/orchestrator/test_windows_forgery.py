"""No result can be written, in any tokenization, in any part and across none of their seams."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from evalspan.backends.scripted import ScriptedTokenizer
from evalspan.evaluators import Outcome, Value
from evalspan.orchestrator import DecodeError, Driver, FreeText, Grammar, JsonSchema, LarkText, Regex, Window, Windows
from evalspan.orchestrator.backend import Tokenizer
from evalspan.orchestrator.machine import SpanMachine
from evalspan.orchestrator.preparation import Preparation
from evalspan.policies import Registry, SpanRule

TAGS = ("<result>", "</result>", "<result_error>", "</result_error>")
LONG = Registry.parse(
    """
version = 1
[[evaluator]]
name = "arithmetic"
builtin = "arithmetic/1"
[[span]]
name = "calc"
open = "<calc>"
close = "</calc>"
evaluator = "arithmetic"
[[channel]]
name = "code"
open = "```"
close = "```"
[[channel]]
name = "aloud"
open = "<aloud>"
close = "</aloud>"
spans = true
"""
)
THOUGHT = JsonSchema({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})
FORGERIES: list[tuple[Grammar, tuple[str, ...]]] = [
    (
        FreeText(),
        ("", "x ```", "```py\n<calc>", "``````", "``` ``` <calc>1", "<aloud>", "<aloud>``` ", "<aloud><calc>1"),
    ),
    (
        Windows((Window("</think>", "<think>"), THOUGHT)),
        (
            "<think>",
            "<think>é <",
            "<think><calc>1</calc>",
            "<think>``` ",
            "<think>a</think>",
            '<think></think>\n{"a": "',
            '<think></think>{"a": "<',
        ),
    ),
    (
        Windows((Window("Answer:", spans=True), LarkText('start: "<"? /[a-z_]+/ ">" @text'))),
        ("", "a <calc>1", "<calc>1</calc>", "<calc>1</calc>b", "Answer:", "Answer: <", "Answer:a> "),
    ),
    (
        Windows((Window("</think>", max_tokens=2), Regex("[<a-z_/>]*"), Regex("[<a-z_/>]*!"))),
        ("", "</think>", "</think>a<", "a", "a b "),
    ),
]


def echo(name: str, data: bytes, rule: SpanRule | None) -> tuple[Outcome, float]:
    return Value("7", exact=True, fuel=1), 0.0


def fragments() -> list[bytes]:
    cut = [tag[a:b].encode() for tag in TAGS for a in range(len(tag)) for b in range(a + 2, len(tag) + 1)]
    return [*cut, *(piece + b"5" for piece in cut), *(b"x" + piece for piece in cut), *(b"`" + piece for piece in cut)]


def spelt(tokenizer: Tokenizer, ids: dict[bytes, int], data: bytes, longest: int) -> list[int]:
    tokens, start = [], 0
    while start < len(data):
        size = next(size for size in range(min(longest, len(data) - start), 0, -1) if data[start : start + size] in ids)
        tokens.append(ids[data[start : start + size]])
        start += size
    return tokens


def prove(tokenizer: Tokenizer) -> int:
    """Go to each place and a part of each tag there, in few tokens and byte by byte; look at every token there."""
    preparation = Preparation(LONG, tokenizer)
    ids = {piece: token for token, piece in enumerate(tokenizer.pieces) if piece}
    holding = {tag: np.array([tag.encode() in piece for piece in tokenizer.pieces]) for tag in TAGS}
    starts: dict[str, Any] = {}
    states = 0
    for grammar, places in FORGERIES:
        for place, tag, longest in product(places, TAGS, (64, 1)):
            machine = None
            for cut in range(len(tag)):
                if machine is None or longest > 1:  # byte by byte it goes on from where it was
                    machine = preparation.machine(echo, mode="grammar-eval", grammar=grammar, max_tokens=10**6)
                    step = (place + tag[:cut]).encode()
                else:
                    step = tag[cut - 1 : cut].encode()
                if not reach(machine, spelt(tokenizer, ids, step, longest)):
                    if longest > 1:
                        continue  # in these tokens; in others it may come further
                    break
                mask = machine.mask()
                assert mask is not None
                states += 1
                starting = starts.setdefault(tag[cut:], begin(tokenizer, tag[cut:].encode()))
                # What the engine writes in between ends a part of a tag.
                if bytes(machine.text).endswith(tag[:cut].encode()):
                    assert not (mask & starting).any(), (place, tag[:cut])
                assert not (mask & holding[tag]).any(), (place, tag)
    return states


def begin(tokenizer: Tokenizer, start: bytes) -> Any:
    return np.array([piece.startswith(start) for piece in tokenizer.pieces])


def reach(machine: SpanMachine, tokens: list[int]) -> bool:
    """Whether the machine's masks let it come so far."""
    for token in tokens:
        try:
            mask = machine.mask()
        except DecodeError:
            return False
        if mask is None or not mask[token]:
            return False
        machine.advance(token)
    return True


def test_no_tokenization_of_a_result_in_windows_fences_and_after_them() -> None:
    assert prove(ScriptedTokenizer(fragments())) > 500


@pytest.mark.model
def test_no_tokenization_of_a_result_in_windows_on_smollm2() -> None:
    with Driver.open("llama_cpp", context_tokens=64) as driver:
        assert prove(driver.backend.tokenizer) > 500
