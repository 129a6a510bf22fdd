"""What every instance may use beside its memory, whichever way it is called."""

from __future__ import annotations

__all__ = ["MAX_TABLES", "MAX_TABLE_ELEMENTS", "PAGE_BYTES", "START_FUEL"]

PAGE_BYTES = 65_536
"""A page of linear memory."""

MAX_TABLE_ELEMENTS = 10_000
"""8 bytes each in the host; a compiled module has one for each function whose address is taken."""

MAX_TABLES = 4
"""Compilers make one."""

START_FUEL = 1 << 62
"""Fuel while a module is instantiated: its size bounds what that costs, since none of its functions runs.

An evaluation then starts with one unit more than its limit: wasmtime looks at fuel at calls and loops only, and an
evaluation that ends with none left has passed the limit.
"""
