"""Verifying a receipt: everything in it is made again from its inputs, and nothing that it stores is trusted."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Literal, Self, cast

from evalspan.evaluators import Evaluators
from evalspan.orchestrator.backend import StepEngine, Tokenizer
from evalspan.orchestrator.engines import ENGINES, EngineName, engine_identity
from evalspan.orchestrator.errors import GrammarError, PromptError, RequestError
from evalspan.orchestrator.grammar import Grammar
from evalspan.orchestrator.matcher import Vocabulary
from evalspan.orchestrator.receipts.canonical import ReceiptError
from evalspan.orchestrator.receipts.difference import Problem, differences
from evalspan.orchestrator.receipts.facts import (
    Course,
    identity_facts,
    output_facts,
    request_facts,
    sampling_params,
)
from evalspan.orchestrator.receipts.grammars import described
from evalspan.orchestrator.receipts.ledger import TOLERANCE, ModelRun, consistency
from evalspan.orchestrator.receipts.model import Receipt, digest_of
from evalspan.orchestrator.receipts.rebuild import rebuild
from evalspan.orchestrator.replay import Replayer
from evalspan.policies import Registry

__all__ = ["ModelCheck", "Report", "Verifier", "verify"]

ModelCheck = Literal["confirmed", "consistent", "unconfirmed"]
"""`confirmed`: the model ran again. `consistent`: it did not, and its ledger does not contradict itself.
`unconfirmed`: its engine showed no logits, so there is no ledger."""


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a verification."""

    receipt: Receipt
    problems: tuple[Problem, ...]
    model: ModelCheck
    largest_difference: float
    """Of a logit, where the model ran again."""

    @property
    def holds(self) -> bool:
        """Whether everything that was looked at is as it was recorded."""
        return not self.problems


class Verifier:
    """Verifies receipts of one model and one registry. Close it, or use it as a context manager.

    For one thread at a time.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        registry: Registry | None = None,
        *,
        engine: StepEngine | None = None,
        tolerance: float = TOLERANCE,
    ) -> None:
        """The registry is the one that ships by default. With an `engine` the model runs again, and its logits may
        differ by `tolerance`; else its ledger is only looked at.

        Raises:
            EvaluatorError: an evaluator of the registry cannot be loaded.
        """
        self._tokenizer = tokenizer
        self._registry = registry or Registry.load()
        self._engine = engine
        self._tolerance = tolerance
        self._stack = ExitStack()
        self._evaluators = self._stack.enter_context(Evaluators(self._registry))
        self._replayers: dict[EngineName | None, Replayer] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the evaluators."""
        self._stack.close()

    def verify(self, receipt: Receipt) -> Report:
        """Rebuild a receipt and compare.

        Raises:
            BackendError: the engine cannot run the tokens.
        """
        problems = list(self._foreign(receipt))
        if (now := digest_of(receipt.value())) != receipt.digest:
            problems.insert(0, Problem("digest", f"{receipt.digest} is recorded, and the contents have {now}"))
        if any(problem.path != "digest" for problem in problems):
            return self._report(receipt, problems)  # what follows from another identity says nothing more
        try:
            params = sampling_params(receipt.model.sampling)
            grammar = described(receipt.request.grammar, "request.grammar")
        except ReceiptError as error:
            return self._report(receipt, [*problems, Problem(error.path, error.message)])
        prompt = self._prompt(receipt)
        problems += consistency(receipt, params)
        runs = not problems and prompt == list(receipt.request.prompt_tokens) and receipt.model.engine == "logits"
        with ExitStack() as stack:
            model = None
            if self._engine is not None and runs:
                model = stack.enter_context(ModelRun(self._engine, receipt, params, self._tolerance))
            try:
                rebuilt = rebuild(receipt, self._replayer(receipt), len(self._tokenizer.pieces), grammar, model)
            except (GrammarError, RequestError) as error:
                path = "request.grammar" if isinstance(error, GrammarError) else "request"
                return self._report(receipt, [*problems, Problem(path, str(error))])
        problems += rebuilt.problems
        if rebuilt.course is not None:
            problems += self._different(receipt, grammar, prompt, rebuilt.course)
        return self._report(receipt, problems, model)

    def _report(self, receipt: Receipt, problems: list[Problem], model: ModelRun | None = None) -> Report:
        check: ModelCheck = "consistent" if receipt.model.engine == "logits" else "unconfirmed"
        if model is None:
            return Report(receipt, tuple(problems), check, 0.0)
        return Report(receipt, tuple(problems), "confirmed", model.largest)

    def _foreign(self, receipt: Receipt) -> list[Problem]:
        """The identities that differ: of another tokenizer, registry, module or grammar engine."""
        try:
            engine = engine_identity(_engine_name(receipt)) if receipt.request.mode != "no-grammar" else None
        except GrammarError as error:
            return [Problem("identity.grammar_engine", str(error))]
        here = identity_facts(self._registry, self._evaluators, self._tokenizer, engine)
        return list(differences(receipt.value()["identity"], here, "identity"))

    def _different(self, receipt: Receipt, grammar: Grammar, prompt: list[int], course: Course) -> list[Problem]:
        recorded, stop = receipt.value(), receipt.request.stop
        request = request_facts(
            self._registry,
            self._tokenizer,
            mode=receipt.request.mode,
            grammar=grammar,
            prompt=receipt.request.conversation,
            prompt_tokens=prompt,
            keep_stop=stop is not None and stop.keep,
            course=course,
        )
        return [
            *differences(recorded["output"], output_facts(course), "output"),
            *differences(recorded["request"], request, "request"),
        ]

    def _replayer(self, receipt: Receipt) -> Replayer:
        name = _engine_name(receipt) if receipt.request.mode != "no-grammar" else None
        if name not in self._replayers:
            vocabulary = Vocabulary(self._tokenizer, name) if name is not None else None
            replayer = Replayer(self._registry, self._tokenizer, vocabulary)
            self._replayers[name] = self._stack.enter_context(replayer)
        return self._replayers[name]

    def _prompt(self, receipt: Receipt) -> list[int]:
        """The tokens of the prompt; none where the tokenizer refuses it."""
        try:
            return self._tokenizer.encode_prompt(receipt.request.conversation)
        except PromptError:
            return []


def verify(
    receipt: Receipt,
    tokenizer: Tokenizer,
    registry: Registry | None = None,
    *,
    engine: StepEngine | None = None,
    tolerance: float = TOLERANCE,
) -> Report:
    """Rebuild one receipt and compare; as `Verifier`, which is for many."""
    with Verifier(tokenizer, registry, engine=engine, tolerance=tolerance) as verifier:
        return verifier.verify(receipt)


def _engine_name(receipt: Receipt) -> EngineName:
    """The grammar engine that the receipt names; `engine_identity` says whether there is one."""
    return cast(EngineName, (receipt.identity.grammar_engine or ENGINES[0]).partition(" ")[0])
