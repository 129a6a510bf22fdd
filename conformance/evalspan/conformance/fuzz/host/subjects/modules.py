"""Module bytes: what inspecting says of them, and what loading and running them does on both paths to wasmtime."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evalspan.conformance.fuzz.host.guests import module_bytes
from evalspan.conformance.fuzz.host.subject import Disagreement
from evalspan.evaluators import Evaluators, Failure, ModuleRefused, OptionError, Outcome, Value
from evalspan.evaluators.inspection import inspect_module
from evalspan.evaluators.runtime import SandboxMode
from evalspan.policies import ErrorCode, Limits, Registry, ResultPolicy

__all__ = ["ModuleSubject", "run_guest"]

_REGISTRY = """
version = 1
[policy.default]
fuel = 200_000
deadline_ms = 60_000
memory_pages = 24
max_result_bytes = 64
[[evaluator]]
name = "guest"
module = "guest.wasm"
[[span]]
name = "calc"
open = "<calc>"
close = "</calc>"
evaluator = "guest"
"""
_INPUTS = (b"1+1", b'crc32("a")', b"")
_PATHS: tuple[SandboxMode, ...] = ("fast", "portable")


class ModuleSubject:
    """Loads what a recipe makes, as a file that a registry names."""

    def __init__(self) -> None:
        self._registry = Registry.parse(_REGISTRY, folder=Path())

    def run(self, data: bytes) -> str:
        """The verdict, which must be the same on both paths and for who inspects; then answers, if it loads."""
        code = module_bytes(data)
        inspected = inspect_module(code, self._registry).check
        said, check = run_guest(self._registry, code, _INPUTS)
        if inspected != check:
            raise Disagreement("inspecting says otherwise than loading", f"{inspected} and {check}")
        return said


def run_guest(registry: Registry, code: bytes, inputs: Sequence[bytes]) -> tuple[str, str | None]:
    """What came of a module, and the check that refused it. `registry` has it as `guest` in `guest.wasm`.

    Raises:
        Disagreement: the paths differ, a second answer does, or an answer breaks what is promised of it.
        ModuleRefused, OptionError: the module's verdict, where there is nothing to compare.
    """
    Path("guest.wasm").write_bytes(code)
    fast, portable = (_answers(registry, mode, inputs) for mode in _PATHS)
    if fast != portable:
        raise Disagreement("the two paths differ", f"{fast} and {portable}"[:200])
    if isinstance(fast, str):
        return f"refused {fast}", fast
    for outcome, data in zip(fast, inputs, strict=True):
        _check(registry, outcome, data)
    return " ".join(outcome.code if isinstance(outcome, Failure) else "value" for outcome in fast), None


def _answers(registry: Registry, mode: SandboxMode, inputs: Sequence[bytes]) -> list[Outcome] | str:
    """The answers, each asked for twice; the name of the check where the module is refused."""
    with Evaluators(registry, sandbox=mode) as evaluators:
        try:
            evaluators.describe("guest")
        except (ModuleRefused, OptionError) as refusal:
            if not str(refusal).isprintable():
                raise
            return refusal.check if isinstance(refusal, ModuleRefused) else "option"
        rule = registry.span("calc")
        found = [evaluators.evaluate("guest", data, rule) for data in inputs]
        again = [evaluators.evaluate("guest", data, rule) for data in inputs]
    if found != again:
        raise Disagreement("a second run answers otherwise", f"{found} and {again}"[:200])
    return found


def _check(registry: Registry, outcome: Outcome, data: bytes) -> None:
    limits: Limits = registry.limits_for(registry.evaluator("guest"), registry.span("calc"))
    if outcome.fuel is not None and not 0 <= outcome.fuel <= limits.fuel:
        raise Disagreement("fuel is not within its limit", f"{outcome.fuel}")
    results = ResultPolicy(registry.tags, limits.max_result_bytes)
    if isinstance(outcome, Value):
        if (objection := results.objection(outcome.text)) is not None:
            raise Disagreement("a value breaks the policy", objection)
        return
    if outcome.code not in ErrorCode:
        raise Disagreement("an error code of nobody", f"{outcome.code}")
    said = f"{outcome.code}: {outcome.message}"
    objection = ResultPolicy(registry.tags, 1 << 20).objection(said)
    if objection is not None:
        raise Disagreement("an error text breaks the policy", f"{objection}: {said}")
    if len(said) > _MOST_SAID:
        raise Disagreement("an error text is too long", f"{len(said)} characters")
    if not 0 <= (outcome.offset or 0) <= len(data):
        raise Disagreement("an error is outside its input", f"{outcome.offset} of {len(data)}")


_MOST_SAID = 320
"""Characters: a message of 200 bytes, a piece of 32, the code, and what stands between them."""
