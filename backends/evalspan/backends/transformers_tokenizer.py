"""The vocabulary of a tokenizer of transformers, by bytes: byte-level BPE, and sentencepiece with byte fallback.

What is read is the description that the fast tokenizer gives of itself. A tokenizer of another kind, or one whose
pieces do not spell what it encodes, is refused: a mask over wrong bytes would be no mask.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from evalspan.backends.vocabulary import vocabulary_digest
from evalspan.orchestrator.backend import Message
from evalspan.orchestrator.errors import BackendError, PromptError

__all__ = ["TransformersTokenizer"]

_WORD = "▁"  # a space in a sentencepiece vocabulary
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")  # a byte that no piece of the vocabulary spells

# Tokens that end a text where they are control tokens, whatever the model's files say of them: those of the common chat
# templates, and one that begins another document.
_ENDS = frozenset(
    {
        "<|endoftext|>",
        "<|end_of_text|>",
        "<|im_end|>",
        "<|eot_id|>",
        "<|eom_id|>",
        "<|eot|>",
        "<EOT>",
        "<|end|>",
        "<|return|>",
        "<|call|>",
        "<end_of_turn>",
        "<|END_OF_TURN_TOKEN|>",
        "<eos>",
        "</s>",
        "<reponame>",
    }
)

# Every kind of character that pieces are cut at, for the check that pieces and encoding agree.
_SAMPLE = 'a <calc>17 * 23 + 91</calc><result>482</result>\n\t{"x": -0.5}  naïve Ünïcode 漢字 × ÷ 😀 É\r\n…'


class TransformersTokenizer:
    """A tokenizer of transformers as `evalspan.orchestrator.backend.Tokenizer` wants it. It is copied, not changed."""

    def __init__(self, tokenizer: Any, *, ends: Iterable[int] = ()) -> None:
        """`ends` are the end tokens that the model's own files declare beside the tokenizer's.

        Raises:
        BackendError: the tokenizer is not of a kind whose pieces are known, or has no end token.
        """
        backend = getattr(tokenizer, "backend_tokenizer", None)
        if backend is None:
            raise BackendError(
                f"the tokenizer {type(tokenizer).__name__} does not show its vocabulary: evalspan needs a fast "
                "tokenizer of transformers (a tokenizer.json beside the model)"
            )
        description = json.loads(backend.to_str())
        self._template = tokenizer
        # Copies: in one the spelling of a special token is text, in the other it is the token.
        self._plain, self._marked = type(backend).from_str(backend.to_str()), type(backend).from_str(backend.to_str())
        self._plain.encode_special_tokens = True
        vocabulary: Mapping[str, int] = backend.get_vocab(with_added_tokens=True)
        added = {token["id"]: token for token in description.get("added_tokens", ())}
        special = {token for token, entry in added.items() if entry["special"]}
        named = {token for token in special if added[token]["content"] in _ENDS}
        self.eos_ids = frozenset(_declared_ends(tokenizer) | named | set(ends))
        if not self.eos_ids:
            raise BackendError("the model has no end token: name one in its generation_config.json")
        self.special_ids = frozenset(special | self.eos_ids)
        pieces = [b""] * (max(vocabulary.values()) + 1)
        spell = _spelling(description)
        known = set(self.special_ids)
        for text, token in vocabulary.items():
            known.add(token)
            if token not in self.special_ids:
                pieces[token] = text.encode() if token in added else spell(text)
        # A number without a token is a row of the logits that means nothing; it must not be written.
        self.special_ids |= frozenset(range(len(pieces))) - known
        self.pieces = tuple(pieces)
        self.digest = vocabulary_digest(self.pieces, self.special_ids, self.eos_ids)
        self._check()

    def _check(self) -> None:
        tokens = self.encode(_SAMPLE.encode())
        got = b"".join(self.pieces[token] for token in tokens).removeprefix(b" ")
        if got != _SAMPLE.encode() and not self._normalizes():
            raise BackendError(
                f"the pieces of this tokenizer do not spell what it encodes ({got[:40]!r}…): evalspan cannot use it"
            )

    def _normalizes(self) -> bool:
        """Whether the tokenizer only changes the sample before it encodes it, as NFC or NFKC do."""
        normalizer = self._plain.normalizer
        if normalizer is None:
            return False
        text = _SAMPLE
        for _ in range(2):
            text = normalizer.normalize_str(text)
        tokens = self.encode(_SAMPLE.encode())
        got = b"".join(self.pieces[token] for token in tokens)
        return got.removeprefix(b" ") == text.replace(_WORD, " ").removeprefix(" ").encode()

    def encode(self, text: bytes) -> list[int]:
        # Bytes that are no characters have no tokens here: what comes out spells something else, which the caller sees.
        return self._ids(self._plain, text.decode("utf-8", "replace"))

    def encode_prompt(self, prompt: str | Sequence[Message]) -> list[int]:
        if isinstance(prompt, str):
            return self._start() + self.encode(prompt.encode())
        if not getattr(self._template, "chat_template", None):
            turns = [f"{message.role.capitalize()}: {message.content}\n\n" for message in prompt]
            return self._start() + self.encode("".join([*turns, "Assistant:"]).encode())
        return self._conversation(prompt)

    def _conversation(self, messages: Sequence[Message]) -> list[int]:
        """The template's own text may spell special tokens; what the messages say is text, whatever it spells."""
        # The template sees a stand-in for each content, which no one can guess, and is cut there.
        fence = secrets.token_hex(8)
        stand_ins = [f"{fence}-{i}-{fence}" for i in range(len(messages))]
        turns = [
            {"role": message.role, "content": stand_in} for message, stand_in in zip(messages, stand_ins, strict=True)
        ]
        try:
            rest: str = self._template.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        except Exception as error:  # noqa: BLE001  a template raises what it likes
            raise PromptError(f"the model's chat template refuses the conversation: {error}") from None
        tokens: list[int] = []
        for message, stand_in in zip(messages, stand_ins, strict=True):
            before, found, rest = rest.partition(stand_in)
            if not found:
                raise PromptError(f"the model's chat template leaves out the {message.role} message")
            tokens += self._ids(self._marked, before) + self.encode(message.content.encode())
        tokens += self._ids(self._marked, rest)
        start = self._start()
        return tokens if tokens[: len(start)] == start else start + tokens

    def _start(self) -> list[int]:
        """What the tokenizer puts before a text by itself; what it puts behind one ends it, and is left out."""
        return [token for token in self._marked.encode("").ids if token not in self.eos_ids]

    @staticmethod
    def _ids(tokenizer: Any, text: str) -> list[int]:
        ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        return ids


def _declared_ends(tokenizer: Any) -> set[int]:
    """The end tokens that the tokenizer names itself."""
    end = getattr(tokenizer, "eos_token_id", None)
    return {end} if isinstance(end, int) else set()


def _spelling(description: Mapping[str, Any]) -> Any:
    """A function from a token's name in the vocabulary to its bytes."""
    kinds = list(_kinds(description.get("decoder")))
    if "ByteLevel" in kinds:
        table = _byte_characters()
        return lambda text: b"".join(table.get(character) or character.encode() for character in text)
    if "Metaspace" in kinds or "ByteFallback" in kinds:
        return _sentencepiece
    raise BackendError(
        f"a tokenizer that decodes by {', '.join(kinds) or 'nothing'} is not supported: evalspan takes byte-level and "
        "sentencepiece vocabularies"
    )


def _kinds(decoder: Mapping[str, Any] | None) -> Iterator[str]:
    if decoder is None:
        return
    yield str(decoder["type"])
    for part in decoder.get("decoders", ()):
        yield from _kinds(part)


def _sentencepiece(text: str) -> bytes:
    if byte := _BYTE.fullmatch(text):
        return bytes([int(byte[1], 16)])
    return text.replace(_WORD, " ").encode()


def _byte_characters() -> dict[str, bytes]:
    """The byte-level alphabet: printable Latin-1 stands for itself, the other bytes for characters from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(0x100) if byte not in printable]
    table = {chr(byte): bytes([byte]) for byte in printable}
    return table | {chr(0x100 + index): bytes([byte]) for index, byte in enumerate(others)}
