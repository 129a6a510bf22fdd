"""What is compared: four runtimes on the same expressions, all behind the same limits and result policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

from evalspan.evaluators import Evaluators, Failure, Outcome, Value
from evalspan.evaluators.module_files import ModuleFiles
from evalspan.evaluators.runtime import SandboxPath
from evalspan.policies import Registry

__all__ = ["CASES", "RUNTIMES", "CaseName", "Subject", "Variant", "inputs", "opened"]

Variant = Literal["wasm", "wasm_fresh", "in_process", "subprocess"]
"""A runtime. `wasm_fresh` is the `wasm` runtime on the same modules loaded as a third party's: a fresh instance for
each evaluation, where a module that ships with evalspan has its memory restored."""

RUNTIMES: tuple[Variant, ...] = ("wasm", "wasm_fresh", "in_process", "subprocess")

CaseName = Literal["short", "typical", "limit"]
"""How long the input is; `limit` is as long as the policy allows."""

CASES: tuple[CaseName, ...] = ("short", "typical", "limit")


class _Expressions(NamedTuple):
    span: str
    """The rule of the default registry that evaluates them."""
    short: str
    typical: str
    head: str
    """The longest input is this, then `unit` as often as it fits, then `tail`, then spaces."""
    unit: str
    tail: str


_EXPRESSIONS: Mapping[str, _Expressions] = {
    "arithmetic": _Expressions("calc", "1 + 1", "17 * 23 + 91", "17 * 23 + 91", " + 17 * 23 + 91", ""),
    "strings": _Expressions(
        "strop", 'len("a")', 'count("strawberry", "r")', 'count("strawberry', " strawberry", '", "r")'
    ),
    "dates": _Expressions("date", "2024-01-31", "2024-01-31 + 1 month", "2024-01-31", " + 1 month", ""),
    "checksums": _Expressions("check", 'crc32("a")', 'crc32("123456789")', 'crc32("', "123456789", '")'),
}


class Subject(NamedTuple):
    """One evaluation that is measured."""

    evaluator: str
    case: CaseName
    runtime: Variant
    run: partial[Outcome]
    """Answers the input through `Evaluators.evaluate`, under the rule of the span."""
    answer: Value
    """The right one. Its fuel is what the evaluation consumes; None where the runtime has none."""

    @property
    def fuel(self) -> int | None:
        """Units of fuel that the evaluation consumes."""
        return self.answer.fuel

    def check(self) -> None:
        """Evaluate once more.

        Raises:
            RuntimeError: the answer is not what it was.
        """
        if self.run() != self.answer:
            raise RuntimeError(
                f"{self.runtime}: {self.evaluator} does not give its first answer to the {self.case} input"
            )


def inputs(evaluator: str, limit: int) -> dict[CaseName, bytes]:
    """The inputs of an evaluator; the longest has `limit` bytes."""
    made = _EXPRESSIONS[evaluator]
    units = (limit - len(made.head) - len(made.tail)) // len(made.unit)
    longest = made.head + units * made.unit + made.tail
    return {
        "short": made.short.encode(),
        "typical": made.typical.encode(),
        "limit": longest.ljust(limit).encode(),
    }


@contextmanager
def opened() -> Iterator[tuple[list[list[Subject]], SandboxPath]]:
    """Every subject, those of one evaluator and case together, and how the sandbox runs. Each has answered once.

    Raises:
        EvaluatorError: a runtime lacks an evaluator.
        RuntimeError: two runtimes gave different answers: there would be nothing to compare.
    """
    registry = Registry.load()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="evalspan-bench-")))
        runtimes: dict[Variant, Evaluators] = {
            "wasm": Evaluators(registry),
            "wasm_fresh": Evaluators(_third_party(registry, folder)),
            "in_process": Evaluators(registry, "in_process"),
            "subprocess": Evaluators(registry, "subprocess"),
        }
        for evaluators in runtimes.values():
            stack.enter_context(evaluators)
        groups = [
            _group(runtimes, evaluator, case, data)
            for evaluator in _EXPRESSIONS
            for case, data in inputs(evaluator, registry.limits.max_input_bytes).items()
        ]
        yield groups, runtimes["wasm"].sandbox or "portable"


def _third_party(registry: Registry, folder: Path) -> Registry:
    """The default registry with its built-in modules, copied to `folder`, as modules of a third party."""
    files = ModuleFiles(registry)
    text = resources.files("evalspan.policies").joinpath("default.toml").read_text("utf-8")
    for entry in registry.evaluators:
        folder.joinpath(f"{entry.name}.wasm").write_bytes(files.get(entry).code)
        text = text.replace(f'builtin = "{entry.builtin}"', f'module = "{entry.name}.wasm"')
    return Registry.parse(text, source="default registry with modules of a third party", folder=folder)


def _group(runtimes: Mapping[Variant, Evaluators], evaluator: str, case: CaseName, data: bytes) -> list[Subject]:
    """One expression on every runtime."""
    group: list[Subject] = []
    for runtime, evaluators in runtimes.items():
        rule = evaluators.registry.span(_EXPRESSIONS[evaluator].span)
        run = partial(evaluators.evaluate, evaluator, data, rule)
        outcome = run()
        if isinstance(outcome, Failure):
            raise RuntimeError(f"{runtime}: {evaluator} answers {outcome.code} to the {case} input: {outcome.message}")
        group.append(Subject(evaluator, case, runtime, run, outcome))
    if len({subject.answer.text for subject in group}) > 1:
        raise RuntimeError(f"the runtimes do not agree on the {case} input of {evaluator}")
    return group
