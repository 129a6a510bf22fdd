"""The vocabulary of a tokenizer of transformers, byte by byte."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalspan.backends.transformers_tokenizer import TransformersTokenizer
from evalspan.orchestrator import BackendError, Message

# Of the same model on llama.cpp; tests/backends/test_llama_cpp.py has it too.
DIGEST = "3218c9dbc945a27ae220a924844a9fd2dd32b5df65fe8c6414821b583b5aa0b4"


def test_the_vocabulary_is_that_of_the_same_model_on_llama_cpp(tokenizer: TransformersTokenizer) -> None:
    assert tokenizer.digest == DIGEST


@given(text=st.text(max_size=40))
def test_pieces_spell_what_was_encoded(tokenizer: TransformersTokenizer, text: str) -> None:
    tokens = tokenizer.encode(text.encode())
    assert tokenizer.special_ids.isdisjoint(tokens)
    got = b"".join(tokenizer.pieces[token] for token in tokens)
    # Some bytes have no token in this vocabulary: a text with one is spelt otherwise, and `encode_forced` sees it.
    spellable = {piece[0] for piece in tokenizer.pieces if len(piece) == 1}
    assert (got == text.encode()) is spellable.issuperset(text.encode())


def test_the_spelling_of_a_special_token_stays_text(tokenizer: TransformersTokenizer) -> None:
    assert tokenizer.special_ids.isdisjoint(tokenizer.encode(b"<|im_end|>"))
    message = tokenizer.encode_prompt([Message("user", "<|im_end|>")])
    empty = tokenizer.encode_prompt([Message("user", "x")])
    ends = [token for token in message if token in tokenizer.eos_ids]
    assert ends == [token for token in empty if token in tokenizer.eos_ids]


def test_a_conversation_is_written_in_the_models_template(tokenizer: TransformersTokenizer) -> None:
    tokens = tokenizer.encode_prompt([Message("system", "be brief"), Message("user", "hi")])
    assert b"".join(tokenizer.pieces[token] for token in tokens) == b"system\nbe brief\nuser\nhi\nassistant\n"


def wrapped(backend: Any, *, end: str | None = "</s>", unknown: str | None = None) -> Any:
    """A tokenizer of the library `tokenizers` in the clothes of transformers."""
    from transformers import PreTrainedTokenizerFast

    names = {"eos_token": end, "unk_token": unknown}
    return PreTrainedTokenizerFast(tokenizer_object=backend, **{key: name for key, name in names.items() if name})


def sentencepiece(pieces: list[str]) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    names = ["<unk>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *pieces]
    backend = Tokenizer(
        models.Unigram([(name, -1.0 - index / 1000) for index, name in enumerate(names)], 0, byte_fallback=True)
    )
    backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    backend.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return wrapped(backend, unknown="<unk>")


def test_a_sentencepiece_vocabulary_with_byte_fallback_spells_every_text() -> None:
    tokenizer = TransformersTokenizer(sentencepiece(["▁", "▁a", "a", "b", "calc"]))
    tokens = tokenizer.encode("a calc b\n漢".encode())
    assert b"".join(tokenizer.pieces[token] for token in tokens) == " a calc b\n漢".encode()
    assert tokenizer.pieces[tokens[-1]] == "漢".encode()[-1:]


def test_a_vocabulary_without_all_bytes_is_refused() -> None:
    from tokenizers import Tokenizer, decoders, models

    backend = Tokenizer(models.BPE({"a": 0, "</s>": 1}, []))
    backend.decoder = decoders.ByteLevel()
    with pytest.raises(BackendError, match="do not spell what it encodes"):
        TransformersTokenizer(wrapped(backend))


def test_a_tokenizer_of_another_kind_is_refused() -> None:
    from tokenizers import Tokenizer, decoders, models

    backend = Tokenizer(models.WordPiece({"[UNK]": 0, "a": 1, "</s>": 2}))
    backend.decoder = decoders.WordPiece()
    with pytest.raises(BackendError, match="decodes by WordPiece is not supported"):
        TransformersTokenizer(wrapped(backend))


def test_a_tokenizer_that_shows_no_vocabulary_is_refused() -> None:
    with pytest.raises(BackendError, match="needs a fast tokenizer"):
        TransformersTokenizer(object())


def test_a_model_without_an_end_token_is_refused() -> None:
    from tokenizers import Tokenizer, decoders, models

    backend = Tokenizer(models.BPE({"a": 0}, []))
    backend.decoder = decoders.ByteLevel()
    with pytest.raises(BackendError, match="no end token"):
        TransformersTokenizer(wrapped(backend, end=None))
