"""What to do about what is wrong with a module."""

from __future__ import annotations

from evalspan.evaluators.abi import EVALUATE, MEMORY, REQUEST
from evalspan.evaluators.inspection.outline import Extern, Outline

__all__ = ["advice_for"]

_MAX_IMPORTS = 8
"""Imports that get advice of their own; those behind them are usually of the same kind."""

_EXPORTS = {
    MEMORY: "export the memory: link without --import-memory, or with --export-memory",
    REQUEST: 'export the request buffer: #[export_name = "evalspan_request"] on a pub static of a cdylib in Rust; '
    "-Wl,--export=evalspan_request for clang and zig cc",
    EVALUATE: 'export the function: #[export_name = "evalspan_evaluate"] pub extern "C" fn of a cdylib in Rust; '
    '__attribute__((export_name("evalspan_evaluate"))) in C',
}


def advice_for(outline: Outline, check: str | None, memory_pages: int) -> list[str]:
    """What to do, a line each, about all that can be seen, not only what was refused first.

    `check` is the load-time check that failed, None where all passed; `memory_pages` is the limit in force.
    """
    if check is None:
        return []
    lines = _format_advice(outline, check)
    for use in outline.features:
        feature = use.feature
        line = f"{feature.name} is off ({feature.what}); rustc: {feature.rustc}; clang, zig cc: {feature.clang}"
        lines.append(line)
    lines += dict.fromkeys(_import_advice(extern) for extern in outline.imports[:_MAX_IMPORTS])
    if outline.has_start:
        lines.append(
            "remove the start function: link a library (crate-type cdylib, -Wl,--no-entry), do not run code first"
        )
    if outline.problem is None:
        exported = {extern.name for extern in outline.exports}
        lines += [line for name, line in _EXPORTS.items() if name not in exported]
    if outline.memories and outline.memories[0].minimum > memory_pages:
        lines.append(
            "start with less memory: a smaller stack (rustc: -C link-arg=-zstack-size=65536; clang, zig cc: "
            "-Wl,-z,stack-size=65536) and smaller static data; or raise memory_pages in the registry"
        )
    if check == "manifest":
        lines.append("the custom section 'evalspan' holds the manifest in JSON: docs/abi.md has its keys")
    if check == "size":
        lines.append('make the code smaller: opt-level = "s" and lto = true for Rust, -Os for clang and zig cc')
    return lines


def _format_advice(outline: Outline, check: str) -> list[str]:
    if check != "format":
        return []
    if outline.problem is not None and "component" in outline.problem:
        return [
            "build a core module: --target wasm32-unknown-unknown for Rust, not wasm32-wasip2 and no cargo component"
        ]
    return ["the file is no WebAssembly module, or it is cut short or damaged: compare it with what the compiler wrote"]


def _import_advice(extern: Extern) -> str:
    if extern.module.startswith("wasi"):
        return (
            "do without an operating system: build for wasm32-unknown-unknown (Rust) or wasm32-freestanding (zig cc); "
            "an evaluator has no files, clock, randomness or output"
        )
    if extern.module.startswith("__wbindgen"):
        return "do without wasm-bindgen: an evaluator exports plain functions"
    if extern.module.startswith("GOT.") or extern.name in (
        "__memory_base",
        "__table_base",
        "__indirect_function_table",
    ):
        return "link a program, not a shared library: without -shared, -fPIC and --import-table"
    if extern.kind == "memory":
        return "let the module have a memory of its own: link without --import-memory"
    return "define what is imported, or link the library that has it; without --allow-undefined the linker names it"
