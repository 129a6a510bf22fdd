"""What a server can tell about its tokens and its chat template; the vocabulary itself stays with it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from evalspan.backends.openai_http_client import HttpClient, StatusError
from evalspan.orchestrator.backend import Message, PromptText, Spelling
from evalspan.orchestrator.encoding import is_text
from evalspan.orchestrator.errors import BackendError, PromptError, TokenizerError

__all__ = ["LlamaCppText", "LlamaServerText", "PlainText", "ServerTokens", "ServerVocabulary"]

_CONTROL = (
    *("<|", "|>", "<｜", "｜>", "<s>", "</s>", "<bos>", "<eos>", "<pad>", "<unk>", "<mask>", "<start_of_turn>"),
    *("<end_of_turn>", "<0x", "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "[CLS]", "[SEP]", "[gMASK]"),
)
"""Spellings of control tokens, or parts of them, in the common families of models. A server that takes text alone
reads control tokens in it, and says of none what it is."""


class ServerVocabulary(Protocol):
    """How a server reads prompts and forced texts."""

    @property
    def tells_tokens(self) -> bool:
        """Whether prompts can go there as token ids."""
        ...

    def prompt(self, prompt: str | Sequence[Message]) -> PromptText:
        """As `TextEngine.prompt`."""
        ...

    def spell(self, text: bytes, context: bytes) -> Spelling:
        """As `TextEngine.spell`."""
        ...

    def fitted(self, tokens: tuple[int, ...], text: bytes, context: str) -> tuple[int, ...]:
        """The tokens of a text that the last of `tokens` may run past; none where there are none."""
        ...


class PlainText:
    """A server that takes text and tells nothing: a forced text costs as many tokens as it has bytes, at most."""

    tells_tokens = False

    def __init__(self, name: str) -> None:
        self._name = name

    def prompt(self, prompt: str | Sequence[Message]) -> PromptText:
        if not isinstance(prompt, str):
            raise PromptError(
                f"{self._name} has no way to put a conversation into its chat template: give the whole text to "
                "continue, template included (--raw)"
            )
        return PromptText(encoded(prompt), None, 0)

    def spell(self, text: bytes, context: bytes) -> Spelling:
        if any(part in text.decode() for part in _CONTROL):
            raise TokenizerError(text, b"")
        return Spelling((), len(text))

    def fitted(self, tokens: tuple[int, ...], text: bytes, context: str) -> tuple[int, ...]:
        return ()


class LlamaCppText(PlainText):
    """llama_cpp.server: text, and the tokens of a prompt are counted. It does one thing at a time, so nothing is asked
    while a completion runs, which it would end."""

    def __init__(self, client: HttpClient, root: str, name: str) -> None:
        super().__init__(name)
        self._client = client
        self._root = root

    def prompt(self, prompt: str | Sequence[Message]) -> PromptText:
        read = super().prompt(prompt)
        answer = self._client.ask("POST", f"{self._root}/extras/tokenize/count", {"input": prompt})
        count = answer.get("count") if isinstance(answer, dict) else None
        return PromptText(read.text, None, count if type(count) is int else 0)


class LlamaServerText:
    """llama-server: text, with the template applied and tokens counted there."""

    tells_tokens = False

    def __init__(self, client: HttpClient, root: str) -> None:
        self._client = client
        self._root = root

    def prompt(self, prompt: str | Sequence[Message]) -> PromptText:
        if isinstance(prompt, str):
            text = prompt
        else:
            for message in prompt:
                if message.content and self._tokens(message.content, True) != self._tokens(message.content, False):
                    raise PromptError(f"the {message.role} message spells a control token of the model")
            body = {"messages": [{"role": message.role, "content": message.content} for message in prompt]}
            text = _string(self._client.ask("POST", f"{self._root}/apply-template", body), "prompt")
        data = encoded(text)
        return PromptText(data, None, len(self._tokens(text, True)))

    def spell(self, text: bytes, context: bytes) -> Spelling:
        plain = self._tokens(text.decode(), False)
        if plain != self._tokens(text.decode(), True):
            raise TokenizerError(text, b"")
        return Spelling((), len(plain))

    def fitted(self, tokens: tuple[int, ...], text: bytes, context: str) -> tuple[int, ...]:
        return ()

    def _tokens(self, text: str, special: bool) -> list[int]:
        body = {"content": text, "add_special": False, "parse_special": special}
        return _ids(self._client.ask("POST", f"{self._root}/tokenize", body))


class ServerTokens:
    """A server that speaks in token ids: what it is sent is what was there, token by token."""

    tells_tokens = True

    def __init__(self, client: HttpClient, root: str, model: str, answer: str) -> None:
        """`answer` is the key of the text in an answer of `/detokenize`.

        Raises:
            BackendError: it does not tell, or not what was asked.
        """
        self._client = client
        self._root = root
        self._model = model
        self._answer = answer
        self._known: dict[bytes, tuple[int, ...]] = {}
        self._pieces: dict[int, str] = {}
        """What tokens that were met spell, in the server's own way; as many as the vocabulary has, at most."""
        if self._text(self._tokens("1 < 2")) != "1 < 2":
            raise BackendError("the server's tokens do not spell the text they are of")

    def prompt(self, prompt: str | Sequence[Message]) -> PromptText:
        if isinstance(prompt, str):
            encoded(prompt)
            tokens = self._tokens(prompt, add_special_tokens=True)
        else:
            tokens = self._conversation(prompt)
        return PromptText(encoded(self._text(tokens)), tuple(tokens), len(tokens))

    def spell(self, text: bytes, context: bytes) -> Spelling:
        if context not in self._known:
            self._known[context] = tuple(self._tokens(context.decode())) if context else ()
            if len(self._known) > _CONTEXTS:
                del self._known[next(iter(self._known))]
        before = self._known[context]
        whole = (context + text).decode()
        together = self._tokens(whole)
        attempts: list[Callable[[], list[int]]] = [
            lambda: together[len(before) :] if tuple(together[: len(before)]) == before else [],
            lambda: self._tokens(text.decode()),
            lambda: self._apart(text.decode()),
        ]
        for attempt in attempts:
            tokens = attempt()
            # With its context, since a tokenizer may add a space at the start of a text, and drop it when it spells it.
            if tokens and not self._control(tokens) and self._text([*before, *tokens]) == whole:
                return Spelling(tuple(tokens), len(tokens))
        raise TokenizerError(text, self._text(together).encode())

    def fitted(self, tokens: tuple[int, ...], text: bytes, context: str) -> tuple[int, ...]:
        if self._text(tokens).encode() == text:
            return tokens
        try:
            return self.spell(text, context.encode()).tokens
        except TokenizerError:
            return ()

    def _conversation(self, messages: Sequence[Message]) -> list[int]:
        """The conversation in the model's template; what the messages say is text, whatever it spells."""
        turns = [{"role": message.role, "content": message.content} for message in messages]
        tokens = self._template(turns)
        if not any(self._control(self._tokens(message.content)) for message in messages if message.content):
            return tokens
        # The template sees a stand-in for each content, which no one can guess, and is cut there.
        fence = secrets.token_hex(8)
        stand_ins = [f"{fence}-{index}-{fence}" for index in range(len(messages))]
        rest = self._text(
            self._template([{**turn, "content": stand_in} for turn, stand_in in zip(turns, stand_ins, strict=True)])
        )
        whole, spelt = "", list[int]()
        for message, stand_in in zip(messages, stand_ins, strict=True):
            before, found, rest = rest.partition(stand_in)
            if not found:
                raise PromptError(f"the model's chat template leaves out the {message.role} message")
            whole += before + message.content
            spelt += self._tokens(before) + self._apart(message.content)
        whole += rest
        spelt += self._tokens(rest)
        if self._text(spelt) != whole:
            raise PromptError("a message spells a control token, and the server's tokenizer cannot keep it as text")
        return spelt

    def _template(self, turns: list[dict[str, str]]) -> list[int]:
        body = {"model": self._model, "messages": turns, "add_generation_prompt": True}
        try:
            return _ids(self._client.ask("POST", f"{self._root}/tokenize", body))
        except StatusError as error:
            raise PromptError(
                f"the server does not put the conversation into a chat template ({error}): give the whole text to "
                "continue, template included (--raw)"
            ) from None

    def _tokens(self, text: str, *, add_special_tokens: bool = False) -> list[int]:
        if not text:
            return []
        body = {
            "model": self._model,
            "prompt": text,
            "add_special_tokens": add_special_tokens,
            "return_token_strs": True,  # where it is known: one answer, instead of one for each token
        }
        answer = self._client.ask("POST", f"{self._root}/tokenize", body)
        tokens = _ids(answer)
        pieces = answer.get("token_strs")
        if isinstance(pieces, list) and len(pieces) == len(tokens):
            self._pieces |= {
                token: piece for token, piece in zip(tokens, pieces, strict=True) if isinstance(piece, str)
            }
        return tokens

    def _text(self, tokens: Sequence[int]) -> str:
        if not tokens:
            return ""
        body = {"model": self._model, "tokens": list(tokens), "skip_special_tokens": False}
        return _string(self._client.ask("POST", f"{self._root}/detokenize", body), self._answer)

    def _control(self, tokens: Sequence[int]) -> bool:
        """Whether one of the tokens may be a control token: these spell something in brackets."""
        for token in tokens:
            if token not in self._pieces:
                self._pieces[token] = self._text([token])
        return any(_bracketed(self._pieces[token]) for token in tokens)

    def _apart(self, text: str) -> list[int]:
        """Tokens of a text that is cut inside of whatever is in brackets, so that none of it is a control token."""
        tokens: list[int] = []
        start = 0
        for index, character in enumerate(text):
            if character in "<[":
                tokens += self._tokens(text[start : index + 1])
                start = index + 1
        return tokens + self._tokens(text[start:])


_CONTEXTS = 64  # contexts whose tokens are kept: the close tags, and some words before a cut token


def _bracketed(piece: str) -> bool:
    piece = piece.strip(" ▁Ġ")  # spaces, as vocabularies write them
    return len(piece) > 2 and (piece[0] + piece[-1]) in ("<>", "[]")


def encoded(text: str) -> bytes:
    """UTF-8 of a text.

    Raises:
        PromptError: it has a half of a character.
    """
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise PromptError(f"the prompt has a lone surrogate at character {error.start}: it is no text") from None


def _ids(answer: Any) -> list[int]:
    tokens = answer.get("tokens") if isinstance(answer, dict) else None
    if not isinstance(tokens, list) or not all(type(token) is int and token >= 0 for token in tokens):
        raise BackendError("the server's tokenizer answers with no list of token ids")
    return tokens


def _string(answer: Any, key: str) -> str:
    text = answer.get(key) if isinstance(answer, dict) else None
    if not isinstance(text, str):
        raise BackendError(f"the server answers without the text {key!r} that was asked for")
    if not is_text(text):
        raise BackendError(f"the server answers with half a character in the text {key!r}")
    return text
