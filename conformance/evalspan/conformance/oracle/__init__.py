"""The exhaustive oracle: masks, ends and forced texts against bounded languages that are enumerated by other means."""

from evalspan.conformance.oracle.cases import CASES, OracleCase
from evalspan.conformance.oracle.check import check
from evalspan.conformance.oracle.drivers import DEFAULT_ENGINE, awkward_driver
from evalspan.conformance.oracle.paths import Effort
from evalspan.conformance.oracle.report import Disagreement, OracleReport

__all__ = [
    "CASES",
    "DEFAULT_ENGINE",
    "Disagreement",
    "Effort",
    "OracleCase",
    "OracleReport",
    "awkward_driver",
    "check",
]
