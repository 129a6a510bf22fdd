"""The subjects by name. Each is imported where it runs: the grammars need no sandbox, the parsers no engine."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import NamedTuple

from evalspan.conformance.fuzz.errors import FuzzError
from evalspan.conformance.fuzz.host.subject import Subject

__all__ = ["HOST", "SUBJECTS", "SubjectEntry", "host_name", "open_subject"]

HOST = "host:"
"""What the names of these targets begin with on the command line."""


class SubjectEntry(NamedTuple):
    """Where a subject is, and what it reads."""

    module: str
    factory: str
    title: str


SUBJECTS: Mapping[str, SubjectEntry] = MappingProxyType(
    {
        "registry": SubjectEntry("registries", "RegistrySubject", "registry files in TOML, and what is built on them"),
        "regex": SubjectEntry("grammars", "regex", "regular expressions, and generations under them"),
        "lark": SubjectEntry("grammars", "lark", "Lark grammars, and generations under them"),
        "gbnf": SubjectEntry("grammars", "gbnf", "GBNF grammars, and generations under them"),
        "structural": SubjectEntry("grammars", "structural", "structural tags, and generations under them"),
        "schema": SubjectEntry("grammars", "schema", "JSON Schemas with bound values, and generations under them"),
        "receipt": SubjectEntry("receipts", "JsonReceipts", "receipts in JSON, read and verified"),
        "receipt-csv": SubjectEntry("receipts", "CsvReceipts", "receipts in CSV"),
        "module": SubjectEntry("modules", "ModuleSubject", "module bytes: inspected, loaded and run on both paths"),
        "abi": SubjectEntry("answers", "AnswerSubject", "guests that answer any pointer, length and bytes"),
        "stream": SubjectEntry("streams", "StreamSubject", "texts through the span machine in every chunking"),
        "sse": SubjectEntry("servers", "EventSubject", "server-sent events in every chunking"),
        "completion": SubjectEntry("servers", "CompletionSubject", "streamed completions in every chunking"),
        "server": SubjectEntry("servers", "ServerSubject", "all replies of a server, over the HTTP client"),
    }
)


def host_name(name: str) -> str:
    """The subject's name in `host:NAME`.

    Raises:
        FuzzError: there is none; the text names those that there are.
    """
    subject = name.removeprefix(HOST)
    if subject not in SUBJECTS:
        raise FuzzError(f"{name!r} is no part of the host: there are {', '.join(HOST + known for known in SUBJECTS)}")
    return subject


def open_subject(name: str) -> Subject:
    """Open a subject by its name, or by `module:factory` where it is none of evalspan's."""
    entry = SUBJECTS.get(name)
    module, factory = name.split(":") if entry is None else (f"{__name__}.{entry.module}", entry.factory)
    subject: Subject = getattr(import_module(module), factory)()
    return subject
