"""Any server with OpenAI's `/v1/completions`: the text is watched as it streams in, and resumed after each result."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from evalspan.backends.openai_http_client import HttpClient, StatusError
from evalspan.backends.openai_http_dialects import DIALECTS
from evalspan.backends.openai_http_engine import HttpEngine
from evalspan.backends.openai_http_settings import HttpSettings
from evalspan.backends.openai_http_vocabulary import (
    LlamaCppText,
    LlamaServerText,
    PlainText,
    ServerTokens,
    ServerVocabulary,
)
from evalspan.orchestrator.backend import BackendOptions, Tokenizer
from evalspan.orchestrator.encoding import is_text
from evalspan.orchestrator.errors import BackendError, ModelError

__all__ = ["OpenAIHttpBackend"]

_UNKNOWN_CONTEXT = 2**31 - 1  # tokens; where the server does not say, its own limit holds and ends a generation
_LISTED = 8  # models in an error


class OpenAIHttpBackend:
    """A model behind an address. Which kind of server it is, is asked once, when it is opened."""

    name: ClassVar[str] = "openai_http"
    description: ClassVar[str] = "any server with OpenAI's completions: vLLM, llama-server, SGLang; --model URL"

    def __init__(self, options: BackendOptions) -> None:
        settings = HttpSettings.read(options.model, context_tokens=options.context_tokens, connections=options.slots)
        self._open(settings, chosen=options.slots is not None)

    @classmethod
    def connect(cls, settings: HttpSettings) -> OpenAIHttpBackend:
        """A backend with settings of your own, which the environment has no part in."""
        backend = cls.__new__(cls)
        backend._open(settings, chosen=True)
        return backend

    def _open(self, settings: HttpSettings, *, chosen: bool) -> None:
        self._client = HttpClient(settings)
        try:
            self.engine = _engine(self._client, settings, chosen)
        except BaseException:
            self._client.close()
            raise
        self.model = f"{self.engine.model} at {settings.url} ({self.engine.dialect.name}, {self.engine.path})"

    @property
    def tokenizer(self) -> Tokenizer:
        raise BackendError("backend 'openai_http' has no vocabulary at hand: it stays with the server")

    def shutdown(self) -> None:
        self._client.close()


def _engine(client: HttpClient, settings: HttpSettings, chosen: bool) -> HttpEngine:
    """The engine for the server, after asking it what it is; `chosen` connections are the user's own number."""
    cards = _cards(client, settings)
    model, card = _model(cards, settings)
    kind = _kind(client, settings, card)
    dialect = DIALECTS[kind]
    if dialect.connections is not None and settings.connections > dialect.connections:
        if chosen:
            raise BackendError(f"{dialect.name} works on {dialect.connections} request at a time: use --slots 1")
        settings = replace(settings, connections=dialect.connections)
    context = settings.context_tokens or _context(client, settings, kind, card)
    vocabulary = _vocabulary(client, settings, kind, model)
    return HttpEngine(client, settings, dialect, model, vocabulary, context)


def _cards(client: HttpClient, settings: HttpSettings) -> list[dict[str, Any]]:
    """The models that the server lists; none where it has no list and the user has named one."""
    try:
        answer = client.ask("GET", f"{settings.url}/models")
    except StatusError as error:
        if error.status == 404 and settings.model is not None:
            return []
        raise
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list):
        raise ModelError(f"{settings.url}/models lists no models: is it an OpenAI-compatible server?")
    return [card for card in data if isinstance(card, dict) and _is_name(card.get("id"))]


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and is_text(value)


def _model(cards: list[dict[str, Any]], settings: HttpSettings) -> tuple[str, dict[str, Any]]:
    if settings.model is not None:
        for card in cards:
            if card["id"] == settings.model:
                return settings.model, card
        if not cards:
            return settings.model, {}
    elif len(cards) == 1:
        return cards[0]["id"], cards[0]
    names = ", ".join(card["id"] for card in cards[:_LISTED]) + (", …" if len(cards) > _LISTED else "")
    wrong = f"serves no model {settings.model!r}" if settings.model else "serves no single model"
    raise ModelError(f"{settings.url} {wrong}; name one with --model {settings.url}#NAME: {names or 'there is none'}")


_OWNERS = {"vllm": "vllm", "sglang": "sglang", "llamacpp": "llama_server"}
"""Who a server says owns its models, and the dialect that it has."""


def _kind(client: HttpClient, settings: HttpSettings, card: dict[str, Any]) -> str:
    owner = card.get("owned_by")
    if isinstance(owner, str) and owner in _OWNERS:
        return _OWNERS[owner]
    if owner == "me":  # llama_cpp.server says so, and it alone has this endpoint
        try:
            count = client.ask("POST", f"{settings.root}/extras/tokenize/count", {"input": "1 < 2"})
        except StatusError:
            return "other"
        if isinstance(count, dict) and isinstance(count.get("count"), int):
            return "llama_cpp"
    return "other"


def _context(client: HttpClient, settings: HttpSettings, kind: str, card: dict[str, Any]) -> int:
    """Tokens that a request can hold, as far as the server says."""
    size = card.get("max_model_len")
    if kind == "llama_server":
        try:
            properties = client.ask("GET", f"{settings.root}/props")
            size = properties["default_generation_settings"]["n_ctx"]
        except (StatusError, KeyError, TypeError):
            size = None
    return size if type(size) is int and size > 0 else _UNKNOWN_CONTEXT


def _vocabulary(client: HttpClient, settings: HttpSettings, kind: str, model: str) -> ServerVocabulary:
    """What there is to ask about tokens; a server behind a gateway may let completions through and no more."""
    if kind == "llama_server":
        return LlamaServerText(client, settings.root)
    if kind == "llama_cpp":
        return LlamaCppText(client, settings.root, DIALECTS[kind].name)
    if kind in ("vllm", "sglang"):
        try:
            return ServerTokens(client, settings.root, model, "prompt" if kind == "vllm" else "text")
        except BackendError:
            pass
    return PlainText(DIALECTS[kind].name)
