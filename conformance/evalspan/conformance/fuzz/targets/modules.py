"""The module behind an evaluator's name, and what its manifest says about inputs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path

from evalspan.conformance.fuzz.targets.target import TargetSpec
from evalspan.conformance.fuzz.vocabulary import Vocabulary, builtin_vocabulary
from evalspan.conformance.generators import GENERATORS
from evalspan.conformance.generators.library import GRAMMARS, user_grammar
from evalspan.evaluators.manifest import POLICY_OPTIONS, Manifest
from evalspan.evaluators.module_files import check_file, read_module_bytes
from evalspan.policies import Limits, Registry

__all__ = ["FoundModule", "chosen_vocabulary", "found_module"]


@dataclass(frozen=True, slots=True)
class FoundModule:
    """A module that passed the checks of its file."""

    path: Path
    size: int
    manifest: Manifest
    builtin: bool
    base: Mapping[str, int]
    """The options and limits that the registry sets for it."""

    @property
    def spec(self) -> str:
        """The operator specification."""
        return self.manifest.spec

    @property
    def has_reference(self) -> bool:
        """Whether the specification is one that evalspan defines."""
        return self.spec in GENERATORS


@contextmanager
def found_module(target: TargetSpec) -> Iterator[FoundModule]:
    """The module of a `.wasm` file or of an evaluator in a registry.

    Raises:
        RegistryError: there is no such registry or evaluator.
        ModuleRefused: the file fails a check.
    """
    if target.kind == "module":
        yield _checked(target.name, Path(target.name), {})
        return
    registry = Registry.load(target.registry)
    entry = registry.evaluator(target.name)
    limits = registry.limits_for(entry)
    base = dict(entry.options)
    defaults = Limits()
    names = (*POLICY_OPTIONS, "fuel", "memory_pages", "max_stack_bytes")
    base |= {name: getattr(limits, name) for name in names if getattr(limits, name) != getattr(defaults, name)}
    if entry.builtin is None:
        yield _checked(entry.name, registry.module_path(entry), base)
        return
    folder = files("evalspan.evaluators").joinpath("modules")
    released = json.loads(folder.joinpath("modules.json").read_text("utf-8"))["modules"]
    with as_file(folder.joinpath(released[entry.builtin.partition("/")[0]]["file"])) as path:
        yield _checked(entry.name, path, base, builtin=True)


def chosen_vocabulary(target: TargetSpec, module: FoundModule | None = None) -> Vocabulary:
    """What inputs are made of: the grammar that the user names, else the specification's, else the manifest's words.

    Raises:
        GrammarNotationError: the user's grammar cannot be read.
    """
    name = target.grammar or (None if module is None else module.spec.partition("/")[0])
    sets = None if module is None or module.has_reference else _option_sets(module.manifest)
    base = {} if module is None else module.base
    vocabulary = builtin_vocabulary(name, base=base, options=sets if module is not None else ({},))
    if target.grammar is not None and target.grammar not in GRAMMARS:
        vocabulary = replace(vocabulary, grammar=user_grammar(Path(target.grammar)), text=None)
    if module is None or module.has_reference:
        return vocabulary
    manifest = module.manifest
    sample = () if manifest.sample is None else (manifest.sample.encode(),)
    words = tuple(word.encode() for word in manifest.functions)
    calls = tuple(word + b"(" for word in words)
    fragments = (*words, *calls, *words, *calls, *vocabulary.fragments)  # twice: they are what the syntax is about
    return replace(vocabulary, fragments=fragments, seeds=(*sample, *words))


def _checked(name: str, path: Path, base: Mapping[str, int], *, builtin: bool = False) -> FoundModule:
    file = check_file(name, read_module_bytes(name, path))
    return FoundModule(path, len(file.code), file.manifest, builtin, base)


def _option_sets(manifest: Manifest) -> tuple[Mapping[str, int], ...]:
    """The defaults twice, the least and the most of everything: only what the host's own ceilings allow."""
    least: dict[str, int] = {}
    most: dict[str, int] = {}
    ceilings = {"max_input_bytes": 16_384, "max_depth": 64, "max_digits": 1024, "max_result_bytes": 16_384}
    for option in manifest.options:
        least[option.name] = max(1, option.minimum) if option.name in POLICY_OPTIONS else option.minimum
        most[option.name] = min(ceilings.get(option.name, option.maximum), option.maximum)
    most["max_input_bytes"] = min(ceilings["max_input_bytes"], manifest.max_input_bytes)
    small = {name: value for name, value in least.items() if name not in ("max_input_bytes", "max_result_bytes")}
    return ({}, {}, least, small, most)
