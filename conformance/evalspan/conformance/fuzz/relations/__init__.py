"""Metamorphic relations: what two different inputs have to do with each other, without knowing either answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from evalspan.conformance.fuzz.oracles.trial import Objection, Trial
from evalspan.conformance.fuzz.relations import arithmetic, checksums, common, dates, strings

__all__ = ["RELATIONS"]

Relation = Callable[[Trial], Objection | None]

RELATIONS: Mapping[str, Mapping[str, Relation]] = MappingProxyType(
    {
        "": {},
        "arithmetic/1": {
            "white space": common.white_space,
            "parentheses": common.parentheses,
            "result again": common.result_again,
            "commutes": arithmetic.commutes,
            "undoes": arithmetic.undoes,
            "quotient and remainder": arithmetic.quotient_and_remainder,
            "rounding": arithmetic.rounding,
        },
        "strings/1": {
            "white space": common.white_space,
            "quoted result": strings.quoted_result,
            "lengths": strings.lengths,
            "slices": strings.slices,
            "searches": strings.searches,
            "orders": strings.orders,
        },
        "dates/1": {
            "white space": common.white_space,
            "parentheses": common.parentheses,
            "result again": common.result_again,
            "there and back": dates.there_and_back,
            "between": dates.between,
            "weekdays": dates.weekdays,
            "durations": dates.durations,
        },
        "checksums/1": {
            "white space": common.white_space,
            "check digit": checksums.check_digit,
            "one wrong digit": checksums.one_wrong_digit,
            "linear": checksums.linear,
            "remainder": checksums.remainder,
        },
    }
)
"""By specification and by name; those of "" hold for every evaluator, and there are none such."""
