"""The conformance suite: requirements with stable ids, asked of any backend, and a matrix of the answers."""

from evalspan.conformance.suite.outcome import Fault, Outcome, Unsupported, expect
from evalspan.conformance.suite.requirement import Requirement
from evalspan.conformance.suite.subject import Subject

__all__ = ["Fault", "Outcome", "Requirement", "Subject", "Unsupported", "expect"]
