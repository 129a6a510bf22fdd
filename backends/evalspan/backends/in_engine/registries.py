"""Which registries a server offers: those of a path that is set when it starts, never of a request."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from evalspan.backends.in_engine.options import Options, OptionsError, grammar_of
from evalspan.evaluators import Failure, Outcome
from evalspan.orchestrator.backend import Message
from evalspan.orchestrator.errors import GrammarError, PromptError
from evalspan.orchestrator.preparation import Preparation
from evalspan.policies import ErrorCode, Registry, RegistryError, SpanRule

__all__ = ["REGISTRIES", "SWITCH", "check_options", "load_registries", "switched_off"]

REGISTRIES = "EVALSPAN_REGISTRIES"
"""The environment variable with the path: a folder of registries, each named as its file, or one file."""

SWITCH = "EVALSPAN_VLLM"
"""The environment variable that turns the processor off where it is `off`."""

DEFAULT = "default"


def switched_off() -> bool:
    """Whether this server is to have nothing to do with evalspan."""
    return os.environ.get(SWITCH, "") == "off"


def load_registries() -> Mapping[str, Registry]:
    """The registries by name. `default` is the one that ships, unless the path has one of that name or is one file.

    Raises:
        RegistryError: the path cannot be read, has no registry, or one that cannot be used.
    """
    return _load(os.environ.get(REGISTRIES, ""))


@lru_cache(maxsize=1)  # they are read at the start; a change takes a new start, in every process alike
def _load(path: str) -> Mapping[str, Registry]:
    if not path:
        return {DEFAULT: Registry.load()}
    place = Path(path)
    if place.is_file():
        registry = Registry.load(place)
        return {DEFAULT: registry, place.stem: registry}
    try:
        files = sorted(file for file in place.iterdir() if file.suffix == ".toml")
    except OSError as error:
        raise RegistryError(path, [("", f"{REGISTRIES} cannot be read: {error.strerror}")]) from None
    if not files:
        raise RegistryError(path, [("", f"{REGISTRIES} names a folder without a .toml file")])
    found = {file.stem: Registry.load(file) for file in files}
    return found if DEFAULT in found else {DEFAULT: Registry.load(), **found}


def check_options(options: Options) -> None:
    """Whether this server can honour a request that opts in; the model's vocabulary is not needed.

    Raises:
        OptionsError: there is no such registry or span, or the grammar does not compile.
    """
    registries = load_registries()
    if options.registry not in registries:
        raise OptionsError(f"there is no registry {options.registry!r}; this server has {', '.join(registries)}")
    problem = _problem(options.registry, options.mode, options.grammar_kind, options.grammar_text, options.required)
    if problem is not None:
        raise OptionsError(problem)


@lru_cache(maxsize=256)  # as many as are compiled at once elsewhere; what is refused is remembered too
def _problem(registry: str, mode: str, kind: str | None, text: str, required: tuple[str, ...]) -> str | None:
    """What is wrong with a grammar, by compiling it for a vocabulary of bytes."""
    options = Options(registry, mode, kind, text, required)  # type: ignore[arg-type]  # it was checked
    try:
        _checker(registry).check(options)
    except OptionsError as error:
        return str(error)
    except GrammarError as error:
        return f"{kind or 'evalspan_required'}: {error}"
    return None


@lru_cache(maxsize=64)  # registries of a server
def _checker(registry: str) -> _Checker:
    return _Checker(load_registries()[registry])


class _Checker:
    """Compiles grammars with the spans of one registry. A server may check requests in several threads."""

    def __init__(self, registry: Registry) -> None:
        self._preparation = Preparation(registry, _Bytes())
        self._lock = threading.Lock()

    def check(self, options: Options) -> None:
        grammar = grammar_of(options)
        with self._lock:
            self._preparation.machine(_no_evaluation, mode=options.mode, grammar=grammar, max_tokens=1).mask()


def _no_evaluation(name: str, data: bytes, rule: SpanRule | None) -> tuple[Outcome, float]:
    return Failure(ErrorCode.INTERNAL, "nothing is written here, so nothing is evaluated"), 0.0


class _Bytes:
    """A vocabulary of one token for each byte, and an end: enough to see whether a grammar compiles."""

    pieces = (*(bytes([byte]) for byte in range(256)), b"")
    special_ids = frozenset({256})
    eos_ids = frozenset({256})
    digest = ""

    def encode(self, text: bytes) -> list[int]:
        return list(text)

    def encode_prompt(self, prompt: str | Sequence[Message]) -> list[int]:
        raise PromptError("a vocabulary of bytes has no prompts")
