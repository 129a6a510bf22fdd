"""The validity ladder: what share of outputs parses, holds its schema, agrees with itself and its source, is right."""

from evalspan.conformance.ladder.climb import RUNGS, Climb, Ladder, Rung
from evalspan.conformance.ladder.errors import LadderError
from evalspan.conformance.ladder.rates import RESAMPLES, LadderReport, RungReport, report
from evalspan.conformance.ladder.records import Line, read_lines, read_schema_file

__all__ = [
    "RESAMPLES",
    "RUNGS",
    "Climb",
    "Ladder",
    "LadderError",
    "LadderReport",
    "Line",
    "Rung",
    "RungReport",
    "read_lines",
    "read_schema_file",
    "report",
]
