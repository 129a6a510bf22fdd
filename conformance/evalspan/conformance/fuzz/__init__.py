"""The fuzzer of expression evaluators: inputs from a grammar and a corpus, guided by fuel, judged by oracles."""

from evalspan.conformance.fuzz.errors import FuzzError
from evalspan.conformance.fuzz.findings import Finding

__all__ = ["Finding", "FuzzError"]
