"""Which value each option of an evaluator has: from the limits, from the registry, or its default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalspan.evaluators.errors import OptionError
from evalspan.evaluators.manifest import POLICY_OPTIONS, Option
from evalspan.policies import Limits

__all__ = ["option_values"]


def option_values(name: str, options: Sequence[Option], chosen: Mapping[str, int], limits: Limits) -> tuple[int, ...]:
    """The values, in the order of `options`, of the evaluator called `name`.

    `chosen` is what the registry sets. The options of `POLICY_OPTIONS` come from `limits`, cut to what the
    evaluator can do.

    Raises:
        OptionError: `chosen` has an option that is the policy's or unknown, a value is outside its range, or
            a limit is tighter than the evaluator can keep.
    """
    own = [option.name for option in options if option.name not in POLICY_OPTIONS]
    for key in chosen:
        if key in POLICY_OPTIONS:
            raise OptionError(name, key, "is set by the policy's limit of that name")
        if key not in own:
            raise OptionError(name, key, f"is unknown; it takes {', '.join(own) or 'none'}")
    values = []
    for option in options:
        if option.name in POLICY_OPTIONS:
            value = min(getattr(limits, option.name), option.maximum)
            if value < option.minimum:
                reason = f"the limit is {value}, the least that the evaluator can keep is {option.minimum}"
                raise OptionError(name, option.name, reason)
        else:
            value = chosen.get(option.name, option.default)
            if not option.minimum <= value <= option.maximum:
                reason = f"is {value}, must be from {option.minimum} to {option.maximum}"
                raise OptionError(name, option.name, reason)
        values.append(value)
    return tuple(values)
