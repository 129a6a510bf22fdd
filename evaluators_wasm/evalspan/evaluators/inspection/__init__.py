"""What `evalspan inspect` shows: a module's outline, its verdict, and what to do about it."""

from evalspan.evaluators.inspection.inspection import Inspection, inspect_file, inspect_module
from evalspan.evaluators.inspection.outline import Extern, Outline

__all__ = ["Extern", "Inspection", "Outline", "inspect_file", "inspect_module"]
