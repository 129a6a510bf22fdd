"""A mutant: edits of source text, applied while the modules are imported, in a process of its own.

The edit is made where Python reads the module, so whoever imports it has the mutant, however it imports it. A place
that is not there exactly once is an error: a change of the code cannot disarm a mutant unnoticed.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

from evalspan.policies.errors import EvalspanError

__all__ = ["Edit", "Mutant", "MutantError", "install"]


class MutantError(EvalspanError):
    """A mutant that cannot be made: its place is gone."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A place in a module, and what stands there in the mutant."""

    module: str
    before: str
    after: str

    def apply(self, source: str) -> str:
        """The source with the edit.

        Raises:
            MutantError: the place is not there exactly once.
        """
        found = source.count(self.before)
        if found != 1:
            raise MutantError(f"{self.module} has {found} places, not one, with {self.before!r}")
        return source.replace(self.before, self.after)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault. `kills` are the requirements that must fail with it, each by itself."""

    name: str
    fault: str
    """What is wrong with it, in a line."""
    edits: tuple[Edit, ...]
    kills: tuple[str, ...]


class _Loader(SourceFileLoader):
    """Loads a module with its edits, never from a cache of compiled code."""

    def __init__(self, name: str, path: str, edits: Sequence[Edit]) -> None:
        super().__init__(name, path)
        self._edits = edits

    def get_code(self, fullname: str) -> CodeType:
        source = self.get_data(self.get_filename(fullname)).decode()
        for edit in self._edits:
            source = edit.apply(source)
        return self.source_to_code(source.encode(), self.path)


class _Finder(MetaPathFinder):
    def __init__(self, edits: Mapping[str, Sequence[Edit]]) -> None:
        self._edits = edits
        self.made: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self._edits:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None:
            raise MutantError(f"there is no module {fullname}")
        spec.loader = _Loader(fullname, spec.origin, self._edits[fullname])
        self.made.add(fullname)
        return spec


def install(mutant: Mutant) -> _Finder:
    """From now on this process imports the mutant; `made` of the answer are the modules that it has edited.

    What was imported on the way here is forgotten, and imported anew where it is needed.
    """
    edits: dict[str, list[Edit]] = {}
    for edit in mutant.edits:
        edits.setdefault(edit.module, []).append(edit)
    finder = _Finder(edits)
    sys.meta_path.insert(0, finder)
    for name in [name for name in sys.modules if name.startswith("evalspan.")]:
        del sys.modules[name]
    return finder
