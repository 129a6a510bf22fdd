"""Whether a module would load, why not, and what it is: everything that can be known of a file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from evalspan.evaluators.binary import FormatError
from evalspan.evaluators.bound import BoundEvaluator
from evalspan.evaluators.errors import ModuleRefused, OptionError
from evalspan.evaluators.inspection.advice import advice_for
from evalspan.evaluators.inspection.outline import Outline, read_outline
from evalspan.evaluators.manifest import Manifest, ManifestError, read_manifest
from evalspan.evaluators.module_files import ModuleFile, ModuleFiles, check_file, read_module_bytes
from evalspan.evaluators.options import option_values
from evalspan.evaluators.outcome import Outcome
from evalspan.policies import EvaluatorEntry, Limits, Registry, ResultPolicy

__all__ = ["Inspection", "inspect_file", "inspect_module"]


@dataclass(frozen=True, slots=True)
class Inspection:
    """What is known of a module."""

    size: int
    """Bytes of the file."""
    digest: str | None
    """SHA-256 of the file, as a registry pins it; None of one too large to be read."""
    outline: Outline
    manifest: Manifest | None
    """None where there is none that can be used."""
    check: str | None
    """The load-time check that refuses it (`ModuleRefused.check`, or `option`); None where it would load."""
    reason: str | None
    """Why that check refuses it."""
    advice: tuple[str, ...]
    """What to do about it."""
    sample: Outcome | None
    """The answer to the manifest's sample, with its fuel."""

    @property
    def loads(self) -> bool:
        """Whether the module would load."""
        return self.check is None


def inspect_file(path: Path, registry: Registry) -> Inspection:
    """As `inspect_module`, of a file.

    Raises:
        ModuleRefused: with the check `file`: it cannot be read.
        EvaluatorUnavailable: the calling thread cannot run modules.
    """
    try:
        code = read_module_bytes(path.name, path)
    except ModuleRefused as error:
        if error.check == "file":
            raise
        return _inspection(path.stat().st_size, None, Outline(), None, error, registry, None)
    return inspect_module(code, registry)


def inspect_module(code: bytes, registry: Registry) -> Inspection:
    """What `code` is, and whether it would load under the limits of `registry`.

    If it would, the manifest's sample is evaluated, and its answer kept to the registry's result policy.

    Raises:
        EvaluatorUnavailable: the calling thread cannot run modules.
    """
    refusal: ModuleRefused | OptionError | None = None
    sample = None
    try:
        sample = _try(check_file("module", code), registry)
    except (ModuleRefused, OptionError) as error:
        refusal = error
    digest = hashlib.sha256(code).hexdigest()
    return _inspection(len(code), digest, read_outline(code), _manifest(code), refusal, registry, sample)


def _inspection(
    size: int,
    digest: str | None,
    outline: Outline,
    manifest: Manifest | None,
    refusal: ModuleRefused | OptionError | None,
    registry: Registry,
    sample: Outcome | None,
) -> Inspection:
    check = reason = None
    if isinstance(refusal, OptionError):
        check, reason = "option", refusal.reason
    elif refusal is not None:
        check, reason = refusal.check, refusal.detail
    advice = tuple(advice_for(outline, check, registry.limits.memory_pages))
    return Inspection(size, digest, outline, manifest, check, reason, advice, sample)


def _manifest(code: bytes) -> Manifest | None:
    try:
        return read_manifest(code)
    except (FormatError, ManifestError):
        return None


class _OneFile(ModuleFiles):
    """Files of which there is one."""

    def __init__(self, file: ModuleFile, registry: Registry) -> None:
        super().__init__(registry)
        self._file = file

    def get(self, entry: EvaluatorEntry) -> ModuleFile:
        return self._file


def _try(file: ModuleFile, registry: Registry) -> Outcome | None:
    """Load a module on the portable path, as an evaluator without entries of its own, and evaluate its sample.

    Raises:
        EvaluatorError: it cannot be loaded.
    """
    from evalspan.evaluators.artefacts import Artefacts
    from evalspan.evaluators.epochs import EpochClock
    from evalspan.evaluators.module_cache import ModuleCache
    from evalspan.evaluators.sandbox import WasmRuntime

    entry = EvaluatorEntry(name=file.name, module="")
    clock = EpochClock()
    files = _OneFile(file, registry)
    # Without a cache: what is asked is whether it compiles, not whether it once did.
    runtime = WasmRuntime("portable", files, Artefacts(cache=ModuleCache(None)), clock, registry.limits)
    try:
        description = runtime.describe(entry)
        limits = _within(registry.limits, description.max_input_bytes)
        options = option_values(file.name, description.options, {}, limits)
        run = runtime.bind(entry, limits, options)
        if description.sample is None:
            return None
        tags = registry.tags
        results = ResultPolicy(tags, limits.max_result_bytes)
        bound = BoundEvaluator(run=run, limits=limits, options=options, results=results, tags=tags, rule=None)
        return bound(description.sample.encode())
    finally:
        runtime.close()
        clock.close()


def _within(limits: Limits, max_input_bytes: int) -> Limits:
    return limits.model_copy(update={"max_input_bytes": min(limits.max_input_bytes, max_input_bytes)})
