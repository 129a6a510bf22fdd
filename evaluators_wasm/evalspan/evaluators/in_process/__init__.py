"""The operators in Python: written from the specification pages alone, sharing no code with the modules.

They are the second opinion that a module must agree with, and the in-process runtime that its overhead is
measured against. A reference module has three names: `SPEC`, `OPTIONS` and `evaluate`.
"""

from evalspan.evaluators.in_process.reference import SPECS, OptionSpec, Reference, load_reference

__all__ = ["SPECS", "OptionSpec", "Reference", "load_reference"]
