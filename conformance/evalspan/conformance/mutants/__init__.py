"""Mutants: faults in the real code, one each, and the requirement that must notice it."""

from evalspan.conformance.mutants.mutant import Edit, Mutant, MutantError

__all__ = ["Edit", "Mutant", "MutantError"]
