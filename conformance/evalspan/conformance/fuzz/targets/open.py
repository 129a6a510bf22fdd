"""From what the user wrote to a target."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

from evalspan.conformance.fuzz.errors import FuzzError
from evalspan.conformance.fuzz.host.subjects import HOST, host_name
from evalspan.conformance.fuzz.targets.target import Target, TargetSpec
from evalspan.policies import Registry

__all__ = ["open_target", "resolve"]

_CALLABLE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
"""`package.module:function`; a name of the user's own, on the command line."""


def resolve(name: str | None, command: str | None, settings: TargetSpec) -> TargetSpec:
    """What a target is: an evaluator of the registry, a module, a callable or a command, in that order.

    `settings` has everything but the kind, the name and the command.

    Raises:
        FuzzError: there is nothing of that name; the text says what there could be.
        RegistryError: the registry cannot be read.
    """
    if command is not None:
        words = _words(command)
        return replace(settings, kind="command", name=name or command, command=_executable(words))
    if name is None:
        raise FuzzError("name a TARGET: an evaluator, a .wasm file, package.module:function, or --command 'program …'")
    if name.startswith(HOST):
        host_name(name)
        return replace(settings, kind="host", name=name)
    registry = Registry.load(settings.registry)
    names = [entry.name for entry in registry.evaluators]
    if name in names:
        return replace(settings, kind="evaluator", name=name)
    if name.endswith(".wasm"):
        return replace(settings, kind="module", name=name)
    if _CALLABLE.fullmatch(name):
        return replace(settings, kind="python", name=name)
    if Path(name).is_file() and os.access(name, os.X_OK):
        return replace(settings, kind="command", name=name, command=(str(Path(name).absolute()),))
    listed = ", ".join(names)
    raise FuzzError(
        f"{name!r} is no evaluator ({listed}), no .wasm file, no package.module:function, no executable file and not "
        f"{HOST}NAME"
    )


def open_target(spec: TargetSpec) -> Target:
    """Open a target.

    Raises:
        FuzzError, RegistryError, EvaluatorError, GrammarNotationError: it cannot be opened.
    """
    # Each is imported when it is asked for: a command needs no sandbox.
    if spec.kind == "python":
        from evalspan.conformance.fuzz.targets.python import PythonTarget

        return PythonTarget(spec)
    if spec.kind == "command":
        from evalspan.conformance.fuzz.targets.command import CommandTarget

        return CommandTarget(spec)
    if spec.kind == "host":
        from evalspan.conformance.fuzz.host.target import HostTarget

        return HostTarget(spec)
    from evalspan.conformance.fuzz.targets.evaluator import EvaluatorTarget

    return EvaluatorTarget(spec)


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise FuzzError(f"--command {command!r}: {error}") from None
    if not words:
        raise FuzzError("--command names no program")
    return words


def _executable(words: list[str]) -> tuple[str, ...]:
    found = shutil.which(words[0])
    if found is None:
        raise FuzzError(f"--command: there is no program {words[0]!r}")
    return (found, *words[1:])
