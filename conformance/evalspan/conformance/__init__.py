"""What must hold: operator vectors as data, and what runs them on every runtime."""

from evalspan.conformance.vectors import Case, Result, Suite, VectorError, builtin_suites, lint, load, run

__all__ = ["Case", "Result", "Suite", "VectorError", "builtin_suites", "lint", "load", "run"]
