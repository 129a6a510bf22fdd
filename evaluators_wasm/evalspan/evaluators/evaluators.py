"""`Evaluators`: the evaluators of a registry, behind the limits and the result policy."""

from __future__ import annotations

import hashlib
import os
import threading
from dataclasses import dataclass
from typing import Self, cast, get_args

from evalspan.evaluators.bound import BoundEvaluator
from evalspan.evaluators.errors import EvaluatorUnavailable
from evalspan.evaluators.manifest import Option
from evalspan.evaluators.options import option_values
from evalspan.evaluators.outcome import Outcome
from evalspan.evaluators.runtime import Description, Runtime, RuntimeName, SandboxMode, SandboxPath
from evalspan.evaluators.shared import Shared
from evalspan.policies import EvaluatorEntry, Limits, Registry, ResultPolicy, SpanRule

__all__ = ["EvaluatorInfo", "Evaluators"]

_MAX_BINDINGS = 1024  # a registry has tens; a caller that makes a rule for each call must not fill memory


@dataclass(frozen=True, slots=True)
class EvaluatorInfo:
    """What is known of an evaluator once it is loaded."""

    name: str
    runtime: RuntimeName
    spec: str
    """The operator specification, such as `arithmetic/1`."""
    digest: str
    """SHA-256 of the module, or of the Python source that answers."""
    size: int
    """Bytes of that module or source."""
    options: tuple[Option, ...]
    """What it takes, in the manifest's order."""
    values: tuple[int, ...]
    """The value in force of each option."""
    limits: Limits
    """The limits in force, without a span's."""
    unicode: str | None
    sample: str | None
    functions: tuple[str, ...]


class Evaluators:
    """The evaluators of a registry in one runtime. Each is loaded when first used.

    Safe to share between threads and over a fork: each thread of each process has instances of its own.
    Close it, or use it as a context manager.
    """

    def __init__(
        self, registry: Registry, runtime: RuntimeName = "wasm", *, sandbox: SandboxMode | None = None
    ) -> None:
        """`sandbox` says how the `wasm` runtime calls wasmtime.

        None is what the environment variable EVALSPAN_SANDBOX says, `auto` where it is not set.

        Raises:
            ValueError: there is no such runtime or mode.
        """
        mode = os.environ.get("EVALSPAN_SANDBOX", "auto") if sandbox is None else sandbox
        if runtime not in get_args(RuntimeName):
            raise ValueError(f"no runtime is called {runtime!r}")
        if mode not in get_args(SandboxMode):
            modes = ", ".join(get_args(SandboxMode))
            raise ValueError(f"EVALSPAN_SANDBOX or `sandbox` is {mode!r}, must be one of {modes}")
        self.registry = registry
        self.runtime: RuntimeName = runtime
        self._closed = False
        self._local = threading.local()
        self._shared = Shared(registry, cast(SandboxMode, mode))
        self._abandoned: list[object] = []

    def evaluate(self, name: str, data: bytes, rule: SpanRule | None = None) -> Outcome:
        """The answer of the evaluator `name` to `data`, the raw bytes of a span.

        `rule` is the span's: it may tighten the limits, and its pattern holds for the value. A `Value` may be
        injected as it is. The message of a `Failure` is final: it quotes the offending piece where the policy
        allows, and `code: message` as a whole keeps the policy.

        Raises:
            RegistryError: there is no such evaluator.
            EvaluatorError: it cannot be loaded; after a first answer this does not happen.
        """
        try:
            state: _ThreadState = self._local.state
            bound = state.bound[name, id(rule)]
        except (AttributeError, KeyError):
            bound = self._bind(name, rule)
        else:
            if state.pid != os.getpid():
                bound = self._bind(name, rule)
        return bound(data)

    def evaluate_bound(self, name: str, data: bytes) -> Outcome:
        """As `evaluate`, for the input of a bound JSON value: the policy's `max_bound_input_bytes` is its limit.

        Raises:
            As `evaluate`.
        """
        state = self._state(name)
        bound = state.for_values.get(name)
        if bound is None:
            entry = self.registry.evaluator(name)
            limits = self.registry.bound_limits_for(entry)
            bound = state.for_values[name] = self._new_bound(state, entry, None, limits)
        return bound(data)

    def answer(self, name: str, data: bytes) -> Outcome:
        """The evaluator's own answer to `data`, before the result policy: for comparing evaluators, never to inject.

        Raises:
            As `evaluate`.
        """
        return self._bind(name, None).answer(data)

    def describe(self, name: str) -> EvaluatorInfo:
        """Load the evaluator `name` and say what it is.

        Raises:
            RegistryError: there is no such evaluator.
            EvaluatorError: it cannot be loaded.
        """
        entry = self.registry.evaluator(name)
        bound = self._bind(name, None)
        description = self._state(name).runtime.describe(entry)
        return EvaluatorInfo(
            name=name,
            runtime=self.runtime,
            spec=description.spec,
            digest=description.digest,
            size=description.size,
            options=description.options,
            values=bound.options,
            limits=bound.limits,
            unicode=description.unicode,
            sample=description.sample,
            functions=description.functions,
        )

    def open(self) -> None:
        """Load every evaluator, bind every span rule, and evaluate nothing with each.

        What is wrong then shows before a generation, and the first answer takes no longer than the others.

        Raises:
            EvaluatorError: one cannot be loaded.
        """
        for entry in self.registry.evaluators:
            self._bind(entry.name, None)
        for rule in self.registry.spans:
            self._bind(rule.evaluator, rule)(b"")

    @property
    def sandbox(self) -> SandboxPath | None:
        """How the `wasm` runtime calls wasmtime, which `auto` finds out with a self-test; None for the others."""
        return self._shared.path if self.runtime == "wasm" else None

    @property
    def identity(self) -> str:
        """SHA-256 over the registry's digest and that of each evaluator's code, in the registry's order.

        Raises:
            EvaluatorError: one cannot be loaded.
        """
        identity = hashlib.sha256(f"registry {self.registry.digest}\n".encode())
        for entry in self.registry.evaluators:
            description = self._state(entry.name).runtime.describe(entry)
            identity.update(f"{entry.name} {description.digest}\n".encode())
        return identity.hexdigest()

    def close(self) -> None:
        """Free this thread's instances, and let those of other threads go when their threads end."""
        self._closed = True
        state: _ThreadState | None = getattr(self._local, "state", None)
        self._local = threading.local()
        if state is not None and state.pid == os.getpid():
            state.close()
        if self._shared.pid == os.getpid():
            self._shared.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _bind(self, name: str, rule: SpanRule | None) -> BoundEvaluator:
        state = self._state(name)
        bound = state.bound.get((name, id(rule)))
        if bound is None:
            entry = self.registry.evaluator(name)
            bound = self._new_bound(state, entry, rule, self.registry.limits_for(entry, rule))
            if len(state.bound) >= _MAX_BINDINGS:
                state.bound.clear()
            state.bound[name, id(rule)] = bound
        return bound

    def _new_bound(
        self, state: _ThreadState, entry: EvaluatorEntry, rule: SpanRule | None, limits: Limits
    ) -> BoundEvaluator:
        description: Description = state.runtime.describe(entry)
        most = min(limits.max_input_bytes, description.max_input_bytes)
        limits = limits.model_copy(update={"max_input_bytes": most})
        options = option_values(entry.name, description.options, entry.options, limits)
        tags = self.registry.tags if rule is None else (*self.registry.tags, *rule.tags)
        pattern = None if rule is None else rule.result.pattern
        return BoundEvaluator(
            run=state.runtime.bind(entry, limits, options),
            limits=limits,
            options=options,
            results=ResultPolicy(tags, limits.max_result_bytes, pattern),
            tags=tags,
            rule=rule,
        )

    def _state(self, name: str) -> _ThreadState:
        """This thread's state, made anew where there is none or it is of the process before a fork."""
        if self._closed:
            raise EvaluatorUnavailable(name, "its `Evaluators` is closed")
        pid = os.getpid()
        state: _ThreadState | None = getattr(self._local, "state", None)
        if state is not None and state.pid == pid:
            return state
        if state is not None:
            # Its engine may hold locks of threads that the child does not have: never free it.
            self._abandoned.append(state)
        shared = self._shared
        if shared.pid != pid:
            self._abandoned.append(shared)
            shared = self._shared = shared.after_fork()
        state = self._local.state = _ThreadState(pid, self._new_runtime(shared))
        return state

    def _new_runtime(self, shared: Shared) -> Runtime:
        # Each runtime is imported when it is asked for: wasmtime alone takes 30 ms.
        if self.runtime == "wasm":
            from evalspan.evaluators.sandbox import WasmRuntime

            return WasmRuntime(shared.path, shared.files, shared.artefacts, shared.clock, self.registry.limits)
        if self.runtime == "subprocess":
            from evalspan.evaluators.worker import SubprocessRuntime

            return SubprocessRuntime(self.registry.evaluators)
        from evalspan.evaluators.local import InProcessRuntime

        return InProcessRuntime()


class _ThreadState:
    """What one thread of one process has."""

    def __init__(self, pid: int, runtime: Runtime) -> None:
        self.pid = pid
        self.runtime = runtime
        self.bound: dict[tuple[str, int], BoundEvaluator] = {}
        self.for_values: dict[str, BoundEvaluator] = {}

    def close(self) -> None:
        self.bound.clear()
        self.for_values.clear()
        self.runtime.close()
