"""Opening the backends that a run names: `llama_cpp`, or `vllm:path=sessions` with options of that backend alone."""

from __future__ import annotations

from collections.abc import Mapping

from evalspan.conformance.suite.baseline import SuiteError
from evalspan.conformance.suite.subject import Subject, subject
from evalspan.conformance.suite.toy import toy_backend
from evalspan.orchestrator.backend import Backend, BackendOptions, check_engine_options
from evalspan.orchestrator.errors import BackendError
from evalspan.orchestrator.plugins import backend_class

__all__ = ["check_name", "models_of", "open_subject"]

_SLOTS = 3
"""One generation with a neighbour on both sides; some requirements ask more than that, so that some wait."""

_CONTEXT_TOKENS = 1024  # twice what any requirement needs, so that a prompt that is too long is quickly made


def check_name(name: str) -> None:
    """Whether a backend of this name can be opened at all; nothing is loaded.

    Raises:
        PluginError: no such backend is installed.
        BackendError: it has no such option.
    """
    kind, options = _parsed(name)
    check_engine_options(backend_class(kind), options)


def open_subject(name: str, model: str | None) -> Subject:
    """The backend, opened.

    Raises:
        BackendError: the engine is not installed, or the model cannot be read; the text says what to do.
    """
    kind, options = _parsed(name)
    if kind == "scripted":
        return subject(name, toy_backend())
    return subject(name, _opened(backend_class(kind), model, options))


def models_of(names: tuple[str, ...], given: tuple[str, ...]) -> dict[str, str | None]:
    """The model of each backend: `NAME=MODEL` is one backend's, `MODEL` that of all others.

    Raises:
        SuiteError: two models for one backend.
    """
    found: dict[str, str | None] = {}
    others: list[str] = []
    for text in given:
        name, equals, model = text.partition("=")
        if not equals or name not in names:
            others.append(text)
        elif name in found:
            raise SuiteError(f"--model gives {name} two models")
        else:
            found[name] = model
    if len(others) > 1:
        raise SuiteError(f"--model gives {others[0]!r} and {others[1]!r}: say which backend's with NAME=MODEL")
    return {name: found.get(name, others[0] if others else None) for name in names}


def _opened(chosen: type[Backend], model: str | None, engine: Mapping[str, str]) -> Backend:
    try:
        return chosen(BackendOptions(model=model, slots=_SLOTS, context_tokens=_CONTEXT_TOKENS, engine=engine))
    except BackendError:
        # Some engines know better how many generations they can run, and how long: they are taken as they are.
        return chosen(BackendOptions(model=model, engine=engine))


def _parsed(name: str) -> tuple[str, dict[str, str]]:
    kind, _, rest = name.partition(":")
    options: dict[str, str] = {}
    for item in rest.split(",") if rest else ():
        key, equals, value = item.partition("=")
        if not (key and equals and value):
            raise SuiteError(f"--backend {name!r}: after the colon come options as NAME=VALUE, with commas between")
        options[key] = value
    return kind, options
