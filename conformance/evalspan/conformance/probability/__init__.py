"""What a generation draws from: that it is a distribution, the right one, and which question it answers."""

from evalspan.conformance.probability.example import Row, example_table
from evalspan.conformance.probability.finding import Finding
from evalspan.conformance.probability.fit import check_frequencies
from evalspan.conformance.probability.ledger import check_ledger, check_steps
from evalspan.conformance.probability.normalization import TOLERANCE, check_normalization

__all__ = [
    "TOLERANCE",
    "Finding",
    "Row",
    "check_frequencies",
    "check_ledger",
    "check_normalization",
    "check_steps",
    "example_table",
]
