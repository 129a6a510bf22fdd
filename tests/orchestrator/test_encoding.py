"""Forced text becomes tokens that spell it, or an error; never something else."""

import unicodedata

import pytest

from evalspan.backends.scripted import ScriptedBackend, ScriptedTokenizer
from evalspan.evaluators import Outcome, Value
from evalspan.orchestrator import Driver, Failed, TokenizerError
from evalspan.orchestrator.encoding import encode_forced, spell
from evalspan.policies import ErrorCode, SpanRule


class Normalizing(ScriptedTokenizer):
    """Applies NFC to what it encodes, as some real tokenizers do."""

    def encode(self, text: bytes) -> list[int]:
        return super().encode(unicodedata.normalize("NFC", text.decode()).encode())


class LeadingSpace(ScriptedTokenizer):
    """Puts a space before what it takes for the start of a document, as SentencePiece does."""

    def encode(self, text: bytes) -> list[int]:
        return super().encode(b" " + text)


@pytest.mark.parametrize("text", ["e\u0301", "\u212b", "a\u030a"])
def test_text_that_a_tokenizer_normalizes_is_an_error(text: str) -> None:
    with pytest.raises(TokenizerError):
        encode_forced(Normalizing([]), text.encode(), b"</calc>")


def test_the_left_context_keeps_a_leading_space_out() -> None:
    tokenizer = LeadingSpace([b" <", b"<r>"])
    tokens = encode_forced(tokenizer, b"<r>5", b"</c>")
    assert spell(tokenizer, tokens) == b"<r>5"


def test_a_merge_over_the_boundary_is_not_taken() -> None:
    tokenizer = ScriptedTokenizer([b"><", b"<r>"])
    tokens = encode_forced(tokenizer, b"<r>5", b"</c>")
    assert spell(tokenizer, tokens) == b"<r>5"


def test_a_result_that_does_not_survive_is_refused_and_the_reason_injected(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = ScriptedBackend.replay(["<calc>", "1", "</calc>", "."])
    backend.tokenizer = Normalizing([b"<calc>", b"</calc>"])

    def decomposed(name: str, data: bytes, rule: SpanRule | None = None) -> Outcome:
        return Value("e\u0301")

    with Driver(backend) as driver:
        monkeypatch.setattr(driver.evaluators, "evaluate", decomposed)
        events = list(driver.stream("go", mode="no-grammar"))
    failed = next(event for event in events if isinstance(event, Failed))
    assert failed.code is ErrorCode.REFUSED
    assert "does not survive the tokenizer" in failed.message
