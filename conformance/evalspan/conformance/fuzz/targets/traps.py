"""Where a module traps: what tells one trap from another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

import wasmtime

from evalspan.evaluators.abi import EVALUATE, MEMORY, REQUEST, option_words
from evalspan.evaluators.manifest import POLICY_OPTIONS, Manifest
from evalspan.policies import Limits

__all__ = ["TrapSite"]

_FUEL = 1_000_000_000
_PAGE_BYTES = 65_536


class TrapSite:
    """Runs a module once more, through wasmtime's public API, which tells the frames of a trap."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self._path = path
        self._manifest = manifest
        self._compiled: tuple[wasmtime.Engine, wasmtime.Module] | None = None

    def find(self, data: bytes, options: Mapping[str, int]) -> str | None:
        """The function and the offset in the module of the innermost frame; None where it does not trap here."""
        if self._compiled is None:
            config = wasmtime.Config()
            config.consume_fuel = True
            engine = wasmtime.Engine(config)
            self._compiled = engine, wasmtime.Module(engine, self._path.read_bytes())
        engine, module = self._compiled
        store = wasmtime.Store(engine)
        try:
            pages = options.get("memory_pages", Limits().memory_pages)
            store.set_limits(memory_size=pages * _PAGE_BYTES)
            store.set_fuel(_FUEL)
            exports = wasmtime.Instance(store, module, []).exports(store)
            address = cast(wasmtime.Global, exports[REQUEST]).value(store)
            request = option_words(self._values(options)) + data
            cast(wasmtime.Memory, exports[MEMORY]).write(store, request, int(cast(int, address)))
            cast(wasmtime.Func, exports[EVALUATE])(store, len(data))
        except wasmtime.Trap as trap:
            frames = trap.frames
            return f"function {frames[0].func_index} at {frames[0].module_offset:#x}" if frames else None
        except (wasmtime.WasmtimeError, IndexError):
            return None
        finally:
            store.close()
        return None

    def _values(self, options: Mapping[str, int]) -> list[int]:
        """The options' values in the manifest's order, as the host would give them."""
        limits = Limits()
        values = []
        for option in self._manifest.options:
            default = getattr(limits, option.name) if option.name in POLICY_OPTIONS else option.default
            values.append(min(options.get(option.name, default), option.maximum))
        return values
