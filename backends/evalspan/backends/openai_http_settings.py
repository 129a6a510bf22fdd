"""Where an OpenAI-compatible server is, who asks, and how long to wait: from `--model` and the environment."""

from __future__ import annotations

import ipaddress
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit, urlunsplit

from evalspan.orchestrator.errors import BackendError, ModelError

__all__ = ["ApiKey", "HttpSettings"]

URL_VARIABLE = "EVALSPAN_HTTP_URL"
_DIGITS = 3  # of a number of retries: a thousand are a day
KEY_VARIABLES = ("EVALSPAN_HTTP_KEY", "OPENAI_API_KEY")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A secret and the environment variable it came from; only the latter is ever shown."""

    variable: str
    secret: str = field(repr=False)

    def __str__(self) -> str:
        return f"the key in {self.variable}"


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """How to reach a server. Times are in seconds."""

    url: str
    """The base address, which ends with the version: `http://127.0.0.1:8000/v1`."""
    model: str | None = None
    """The name of the model; None takes the only one that is served."""
    key: ApiKey | None = None
    connections: int = 8
    """Requests at once. Servers batch them; more than their batch only waits there."""
    context_tokens: int | None = None
    """None takes what the server says."""
    connect_timeout: float = 10.0
    """A round trip to anywhere is below 1 s; the rest is for a server that has just been started."""
    read_timeout: float = 120.0
    """Between two pieces of an answer; the first comes after the prefill, a minute of a CPU for long prompts."""
    total_timeout: float = 1800.0
    """Of one completion: half an hour is 4,096 tokens at 2 tokens/s."""
    retries: int = 4
    """After a failure; with the waits below that bridges a restart of some 10 s."""
    backoff: float = 0.5
    """The longest first wait; it doubles each time, and is drawn from 0 up (full jitter), so that clients spread."""
    longest_wait: float = 60.0
    """A `Retry-After` beyond it is an error, not a wait."""

    def __post_init__(self) -> None:
        if self.connections < 1:
            raise BackendError(f"connections must be 1 or more, got {self.connections}")
        if self.retries < 0:
            raise BackendError(f"retries must be 0 or more, got {self.retries}")
        for name in ("connect_timeout", "read_timeout", "total_timeout", "backoff", "longest_wait"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise BackendError(f"{name} must be a number of seconds above 0, got {value}")

    @property
    def root(self) -> str:
        """The address without the version, below which servers keep their own endpoints."""
        return self.url.removesuffix("/v1")

    @classmethod
    def read(
        cls,
        address: str | None,
        *,
        context_tokens: int | None = None,
        connections: int | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> HttpSettings:
        """The settings for an address as `--model` takes it, `URL` or `URL#model`, and the environment.

        Raises:
            ModelError: there is no address, or it is none.
            BackendError: a variable is no number, or a key cannot be sent.
        """
        environment = os.environ if environment is None else environment
        address = address or environment.get(URL_VARIABLE)
        if not address:
            raise ModelError(f"no server: name one with --model http://HOST:PORT/v1 or with {URL_VARIABLE}")
        url, model = _address(address)
        settings = cls(url, model, _key(environment, url), context_tokens=context_tokens)
        if connections is not None:
            settings = replace(settings, connections=connections)
        return replace(
            settings,
            connect_timeout=_number(environment, "EVALSPAN_HTTP_CONNECT_TIMEOUT", settings.connect_timeout),
            read_timeout=_number(environment, "EVALSPAN_HTTP_READ_TIMEOUT", settings.read_timeout),
            total_timeout=_number(environment, "EVALSPAN_HTTP_TOTAL_TIMEOUT", settings.total_timeout),
            retries=_count(environment, "EVALSPAN_HTTP_RETRIES", settings.retries),
        )


def _address(address: str) -> tuple[str, str | None]:
    try:
        parts = urlsplit(address.strip())
        port = parts.port  # raises where it is no number
    except ValueError:
        raise ModelError(f"{address!r} is no address: write http://HOST:PORT/v1") from None
    if parts.username is not None or parts.password is not None:
        raise ModelError(f"an address must not hold a password: put the key into {KEY_VARIABLES[0]}")
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ModelError(f"{address!r} is no address of a server: write http://HOST:PORT/v1")
    if parts.query:
        raise ModelError(f"{address!r}: an address has no query; write http://HOST:PORT/v1")
    path = parts.path.rstrip("/")
    if path.endswith(("/completions", "/models")):
        raise ModelError(f"{address!r}: give the address that endpoints are below, which ends with /v1")
    if not path.endswith("/v1"):
        path += "/v1"
    return urlunsplit((parts.scheme, parts.netloc, path, "", "")), parts.fragment or None


def _number(environment: Mapping[str, str], variable: str, default: float) -> float:
    if variable not in environment:
        return default
    try:
        return float(environment[variable])
    except ValueError:
        raise BackendError(f"{variable} must be a number, got {environment[variable]!r}") from None


def _count(environment: Mapping[str, str], variable: str, default: int) -> int:
    if variable not in environment:
        return default
    value = environment[variable].strip()
    if not (value.isascii() and value.isdigit() and len(value) <= _DIGITS):
        raise BackendError(f"{variable} must be a whole number below 1000, got {value!r}")
    return int(value)


def _key(environment: Mapping[str, str], url: str) -> ApiKey | None:
    """The key to send. One that is meant for OpenAI is not sent in clear text over a network."""
    own, openai = KEY_VARIABLES
    if secret := environment.get(own):
        key = ApiKey(own, secret)
    elif (secret := environment.get(openai)) and _private(url):
        key = ApiKey(openai, secret)
    else:
        return None
    if not all("!" <= character <= "~" for character in key.secret):
        raise BackendError(f"{key} has a character that a header cannot hold, such as a space or a line end")
    return key


def _private(url: str) -> bool:
    """Whether nobody between here and the server can read along."""
    parts = urlsplit(url)
    if parts.scheme == "https" or parts.hostname == "localhost":
        return True
    try:
        return ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False
