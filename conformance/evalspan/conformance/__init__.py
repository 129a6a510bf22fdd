"""What must hold: vectors, and the machinery that runs them."""

from evalspan.conformance.vectors import Case, load_cases, run

__all__ = ["Case", "load_cases", "run"]
