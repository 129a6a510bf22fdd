"""Evaluators in the sandbox: built-in ones, those of a registry, and any module of ABI 1."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

from evalspan.conformance.differential import FUEL
from evalspan.conformance.fuzz.complaint import Complaint
from evalspan.conformance.fuzz.errors import FuzzError
from evalspan.conformance.fuzz.oracles import Oracle, every_time, in_turn
from evalspan.conformance.fuzz.oracles.agreement import reference
from evalspan.conformance.fuzz.oracles.trial import Objection, Subject, Trial
from evalspan.conformance.fuzz.targets.modules import chosen_vocabulary, found_module
from evalspan.conformance.fuzz.targets.target import Described, TargetSpec
from evalspan.conformance.fuzz.targets.traps import TrapSite
from evalspan.conformance.generators import Sample
from evalspan.conformance.runtimes import Bench
from evalspan.conformance.vectors import builtin_suites
from evalspan.evaluators import Outcome, Value
from evalspan.policies import ErrorCode, Limits

__all__ = ["EvaluatorTarget"]

_GUEST_CODES = tuple(code for code in ErrorCode if not code.from_host_only)
_REFERENCE = "reference"


class EvaluatorTarget:
    """One evaluator. Its answers are judged with a second instance, and with the reference where there is one."""

    def __init__(self, target: TargetSpec) -> None:
        """Open the evaluator that `target` names.

        Raises:
            RegistryError, EvaluatorError, FuzzError: it cannot be opened.
        """
        self._stack = ExitStack()
        try:
            self._open(target)
        except BaseException:
            self._stack.close()
            raise

    def _open(self, target: TargetSpec) -> None:
        enter = self._stack.enter_context
        module = enter(found_module(target))
        spec = module.spec
        # What evalspan specifies is given all the fuel that there is, so that a bound of its own can be seen broken.
        fuel = FUEL if module.has_reference else module.base.get("fuel", Limits().fuel)
        bench = enter(Bench(spec, "wasm", fuel=fuel, module=None if module.builtin else module.path))
        twin = enter(Bench(spec, "wasm", fuel=fuel, module=module.path))
        bench.describe(module.base)
        other = enter(Bench(spec, "in_process")) if module.has_reference and target.reference_every else None
        codes = builtin_suites()[spec].errors if module.has_reference else _GUEST_CODES
        self._every = target.reference_every
        self._site = TrapSite(module.path, module.manifest)
        self._subject = Subject(
            spec=spec,
            ask=bench.answer,
            twin=twin.answer,
            injected=bench.injected,
            reference=None if other is None else other.answer,
            codes=frozenset(codes),
            allowed=frozenset(map(_code, target.allow)),
            fuel_limit=fuel,
        )
        self._always: dict[str, Oracle] = every_time(has_twin=True)
        self._turns: dict[str, Oracle] = in_turn(spec)
        self._order = list(self._turns.items())
        names = (*self._always, *(() if other is None else (_REFERENCE,)), *self._turns)
        self.described = Described(f"{target.name} ({spec}, {module.size} bytes of WebAssembly)", "fuel", names)
        self.vocabulary = chosen_vocabulary(target, module)

    def ask(self, sample: Sample) -> Outcome:
        """The answer of the evaluator."""
        return self._subject.ask(sample.data, sample.options)

    def kind_of(self, answer: Outcome) -> str:
        """`value`, or the error code and its message."""
        if isinstance(answer, Value):
            return "value" if answer.exact else "rounded value"
        return f"{answer.code.value} {answer.message}"

    def cost_of(self, answer: Outcome) -> int:
        """Its fuel; 0 where the host answered before it."""
        return answer.fuel or 0

    def check(self, sample: Sample, answer: Outcome, turn: int) -> Iterator[Complaint]:
        """What the oracles object to."""
        trial = Trial(self._subject, sample.data, sample.options, answer)
        for name, oracle in self._always.items():
            objection = oracle(trial)
            if objection is not None:
                yield self._complaint(name, objection, sample)
        if self._subject.reference is not None and turn % self._every == 0:
            objection = reference(trial)
            if objection is not None:
                yield self._complaint(_REFERENCE, objection, sample)
        name, oracle = self._order[turn % len(self._order)]
        objection = oracle(trial)
        if objection is not None:
            yield self._complaint(name, objection, sample)

    def complaints(self, sample: Sample, oracle: str | None = None) -> Iterator[Complaint]:
        """Ask an input and all oracles, or one of them."""
        answer = self.ask(sample)
        for name, each in {**self._always, _REFERENCE: reference, **self._turns}.items():
            if oracle in (None, name):
                # A trial of its own: an oracle's choices must not depend on which ones were asked before.
                objection = each(Trial(self._subject, sample.data, sample.options, answer))
                if objection is not None:
                    yield self._complaint(name, objection, sample)

    def _complaint(self, name: str, objection: Objection, sample: Sample) -> Complaint:
        cause = objection.cause
        if name == "trap":
            site = self._site.find(sample.data, sample.options)
            cause = cause if site is None else f"{cause} ({site})"
        return Complaint(name, cause, objection.detail, coarse=name == _REFERENCE)

    def close(self) -> None:
        """Free instances and engines."""
        self._stack.close()


def _code(name: str) -> ErrorCode:
    try:
        return ErrorCode(name)
    except ValueError:
        codes = ", ".join(code.value for code in ErrorCode)
        raise FuzzError(f"--allow {name}: an evaluator answers one of {codes}") from None
