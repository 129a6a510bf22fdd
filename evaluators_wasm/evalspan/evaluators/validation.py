"""Load-time validation of a compiled module: what it imports, exports and claims."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import wasmtime

from evalspan.evaluators.abi import EVALUATE, HEAP, MEMORY, REQUEST
from evalspan.evaluators.errors import ModuleRefused
from evalspan.evaluators.module_files import ModuleFile
from evalspan.evaluators.traps import innermost
from evalspan.policies import Limits

__all__ = ["GuestModule", "check_memory", "compile_module", "validated"]


@dataclass(frozen=True, slots=True)
class GuestModule:
    """A compiled module that keeps the rules, and what its types say."""

    file: ModuleFile
    module: wasmtime.Module
    maximum_pages: int | None
    """Pages that the module lets its memory grow to; None where it sets no bound of its own."""
    reports_heap: bool
    """Whether it exports `evalspan_heap`."""

    @property
    def address(self) -> int:
        """Address of the module, for the C API; valid until the module is closed."""
        return ctypes.cast(self.module.ptr(), ctypes.c_void_p).value or 0

    def most_pages(self, limits: Limits) -> int:
        """The pages that its memory can have under `limits`."""
        return limits.memory_pages if self.maximum_pages is None else min(self.maximum_pages, limits.memory_pages)

    def check_request(self, address: int, memory_bytes: int) -> None:
        """Refuse a request buffer that is not in memory.

        Raises:
            ModuleRefused: with the check `memory`.
        """
        size = self.file.manifest.request_bytes
        if address + size > memory_bytes:
            raise ModuleRefused(
                self.file.name,
                "memory",
                f"request buffer of {size} bytes at {address} passes the end of {memory_bytes} bytes",
            )


def check_memory(file: ModuleFile, limits: Limits) -> None:
    """Refuse a module whose memory is larger from the start than the limits allow.

    Raises:
        ModuleRefused: with the check `memory`.
    """
    if file.memory_pages > limits.memory_pages:
        raise ModuleRefused(
            file.name,
            "memory",
            f"starts with {file.memory_pages} pages of memory, the limit memory_pages is {limits.memory_pages}; "
            "raise it, or link with a smaller stack (-zstack-size)",
        )


def compile_module(engine: wasmtime.Engine, file: ModuleFile) -> GuestModule:
    """Compile a module and check its imports and exports.

    Raises:
        ModuleRefused: with the checks `code`, `imports`, `exports` and `memory`, in that order.
    """
    try:
        module = wasmtime.Module(engine, file.code)
    except wasmtime.WasmtimeError as error:
        raise ModuleRefused(file.name, "code", innermost(str(error))) from None
    return validated(file, module)


def validated(file: ModuleFile, module: wasmtime.Module) -> GuestModule:
    """Check the imports and exports of a compiled module.

    Raises:
        ModuleRefused: with the checks `imports`, `exports` and `memory`, in that order.
    """
    _check_imports(file.name, module)
    return _check_exports(file, module)


def _check_imports(name: str, module: wasmtime.Module) -> None:
    imports = module.imports
    if imports:
        first = imports[0]
        more = f" and {len(imports) - 1} more" if len(imports) > 1 else ""
        reason = f"imports {_quoted(first.module)}.{_quoted(first.name)}{more}; an evaluator has no imports"
        raise ModuleRefused(name, "imports", reason)


def _check_exports(file: ModuleFile, module: wasmtime.Module) -> GuestModule:
    name = file.name
    types = {export.name: export.type for export in module.exports}
    for wanted in (MEMORY, REQUEST, EVALUATE):
        if wanted not in types:
            raise ModuleRefused(name, "exports", f"does not export {wanted!r}")
    memory = types[MEMORY]
    if not isinstance(memory, wasmtime.MemoryType):
        raise ModuleRefused(name, "exports", f"{MEMORY!r} is not a memory")
    if memory.is_64 or memory.is_shared:
        raise ModuleRefused(name, "memory", f"{MEMORY!r} is 64-bit or shared")
    for address in (REQUEST, HEAP):
        exported = types.get(address)
        if exported is not None and not _is_address(exported):
            raise ModuleRefused(name, "exports", f"{address!r} is not an immutable i32 global")
    evaluate = types[EVALUATE]
    if not isinstance(evaluate, wasmtime.FuncType):
        raise ModuleRefused(name, "exports", f"{EVALUATE!r} is not a function")
    if [str(t) for t in evaluate.params] != ["i32"] or [str(t) for t in evaluate.results] != ["i64"]:
        raise ModuleRefused(name, "exports", f"{EVALUATE!r} is not of type (i32) -> i64")
    return GuestModule(file, module, memory.limits.max, HEAP in types)


def _is_address(exported: object) -> bool:
    if not isinstance(exported, wasmtime.GlobalType):
        return False
    return str(exported.content) == "i32" and not exported.mutable


def _quoted(name: str | None) -> str:
    """A name out of a module, short and printable: it may be anything."""
    return repr((name or "")[:40])
