"""The vocabulary and the chat template of a GGUF model."""

from __future__ import annotations

import ctypes
import secrets
from collections.abc import Sequence
from typing import Any

from evalspan.backends.vocabulary import vocabulary_digest
from evalspan.orchestrator.backend import Message
from evalspan.orchestrator.errors import BackendError, PromptError

__all__ = ["LlamaTokenizer"]


class LlamaTokenizer:
    """A model's tokenizer as `evalspan.orchestrator.backend.Tokenizer` wants it."""

    def __init__(self, lib: Any, model: Any) -> None:
        self._lib = lib
        self._vocab = lib.llama_model_get_vocab(model)
        count = lib.llama_vocab_n_tokens(self._vocab)
        self.eos_ids = frozenset(t for t in range(count) if lib.llama_vocab_is_eog(self._vocab, t))
        if not self.eos_ids:
            raise BackendError("the model has no end token")
        control = {t for t in range(count) if lib.llama_vocab_is_control(self._vocab, t)}
        self.special_ids = frozenset(control | self.eos_ids)
        self.pieces = tuple(b"" if t in self.special_ids else self._piece(t) for t in range(count))
        self.digest = vocabulary_digest(self.pieces, self.special_ids, self.eos_ids)
        template = lib.llama_model_chat_template(model, None)
        self._template = template.decode() if template else None

    def _piece(self, token: int, special: bool = False) -> bytes:
        size = 64  # bytes; nearly every piece is shorter
        while True:
            buffer = ctypes.create_string_buffer(size)
            length = self._lib.llama_token_to_piece(self._vocab, token, buffer, size, 0, special)
            if length >= 0:
                return buffer.raw[:length]
            size = -length

    def encode(self, text: bytes) -> list[int]:
        return self._tokenize(text, special=False)

    def encode_prompt(self, prompt: str | Sequence[Message]) -> list[int]:
        if isinstance(prompt, str):
            return self._start() + self.encode(prompt.encode())
        if self._template is None:
            turns = [f"{message.role.capitalize()}: {message.content}\n\n" for message in prompt]
            return self._start() + self.encode("".join([*turns, "Assistant:"]).encode())
        return self._conversation(self._template, prompt)

    def _conversation(self, template: str, messages: Sequence[Message]) -> list[int]:
        """The template's own text may spell special tokens; what the messages say is text, whatever it spells."""
        from jinja2 import TemplateError
        from llama_cpp.llama_chat_format import Jinja2ChatFormatter

        # The template sees a stand-in for each content, which no one can guess, and is cut there.
        fence = secrets.token_hex(8)
        stand_ins = [f"{fence}-{i}-{fence}" for i in range(len(messages))]
        turns: Any = [
            {"role": message.role, "content": stand_in} for message, stand_in in zip(messages, stand_ins, strict=True)
        ]
        bos, eos = (
            self._piece(token, special=True).decode("utf-8", "replace") if token >= 0 else ""
            for token in (self._lib.llama_vocab_bos(self._vocab), self._lib.llama_vocab_eos(self._vocab))
        )
        try:
            rest = Jinja2ChatFormatter(template=template, eos_token=eos, bos_token=bos)(messages=turns).prompt
        except TemplateError as error:
            raise PromptError(f"the model's chat template refuses the conversation: {error}") from None
        tokens: list[int] = [] if bos and rest.startswith(bos) else self._start()
        for message, stand_in in zip(messages, stand_ins, strict=True):
            before, found, rest = rest.partition(stand_in)
            if not found:
                raise PromptError(f"the model's chat template leaves out the {message.role} message")
            tokens += self._tokenize(before.encode(), special=True) + self.encode(message.content.encode())
        return tokens + self._tokenize(rest.encode(), special=True)

    def _start(self) -> list[int]:
        if self._lib.llama_vocab_get_add_bos(self._vocab):
            return [self._lib.llama_vocab_bos(self._vocab)]
        return []

    def _tokenize(self, text: bytes, special: bool) -> list[int]:
        if not text:
            return []
        size = len(text) + 8
        while True:
            tokens = (ctypes.c_int32 * size)()
            count = self._lib.llama_tokenize(self._vocab, text, len(text), tokens, size, False, special)
            if count >= 0:
                return list(tokens[:count])
            size = -count
