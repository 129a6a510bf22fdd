"""The requirements, by what they are about; `REQUIREMENTS` are all, in the order of the matrix."""

from evalspan.conformance.suite.requirement import Requirement
from evalspan.conformance.suite.requirements import (
    batches,
    budgets,
    crossing,
    errors,
    evaluators,
    forgery,
    grammars,
    injection,
    lifetime,
    masks,
    overshoot,
    prompts,
    receipts,
    resuming,
    sampling,
    streams,
    tokens,
)

__all__ = ["REQUIREMENTS"]

REQUIREMENTS: tuple[Requirement, ...] = (
    *evaluators.REQUIREMENTS,
    *masks.REQUIREMENTS,
    *grammars.REQUIREMENTS,
    *injection.REQUIREMENTS,
    *overshoot.REQUIREMENTS,
    *forgery.REQUIREMENTS,
    *prompts.REQUIREMENTS,
    *streams.REQUIREMENTS,
    *tokens.REQUIREMENTS,
    *resuming.REQUIREMENTS,
    *budgets.REQUIREMENTS,
    *sampling.REQUIREMENTS,
    *batches.REQUIREMENTS,
    *lifetime.REQUIREMENTS,
    *errors.REQUIREMENTS,
    *crossing.REQUIREMENTS,
    *receipts.REQUIREMENTS,
)
