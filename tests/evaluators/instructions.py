"""Instructions of every kind in text, by the feature that they need: what a reader of binaries must pass.

wasmtime's own assembler encodes them, and it does not validate: every index is 18, which as an opcode would be a
`return_call`, so that a reader which takes an operand for an instruction finds one.
"""

from __future__ import annotations

import struct

__all__ = ["INSTRUCTIONS"]


def _each(names: str, prefix: str = "", operands: str = "") -> list[str]:
    return [f"{prefix}{name} {operands}".strip() for name in names.split()]


_FLOAT = struct.unpack("<f", b"\x12" * 4)[0].hex()
_DOUBLE = struct.unpack("<d", b"\x12" * 8)[0].hex()
_COMPARED = "eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u"
_COMPUTED = "clz ctz popcnt add sub mul div_s div_u rem_s rem_u and or xor shl shr_s shr_u rotl rotr"
_FLOATS = "eq ne lt gt le ge abs neg ceil floor trunc nearest sqrt add sub mul div min max copysign"
_LOADS = "load load8_s load8_u load16_s load16_u store store8 store16"
_ATOMIC = "atomic.load atomic.load8_u atomic.load16_u atomic.store atomic.store8 atomic.store16"
_ATOMIC_CHANGES = "add sub and or xor xchg cmpxchg"
_VECTORS = "all_true bitmask splat add sub"

_ALLOWED = [
    *_each("nop unreachable return drop select"),
    *["select (result i32)", "br 18", "br_if 18", "br_table 18 18 18", "call 18", "call_indirect 18 (type 18)"],
    *_each("get set tee", "local.", "18"),
    *_each("get set", "global.", "18"),
    *_each("get set grow size fill", "table.", "18"),
    *["table.copy 18 18", "table.init 18 18", "elem.drop 18"],
    *["memory.init 18", "data.drop 18", "memory.copy", "memory.fill", "memory.size", "memory.grow"],
    *["i32.const 18", "i32.const -64", "i64.const -9223372036854775808", f"f32.const {_FLOAT}", f"f64.const {_DOUBLE}"],
    *["ref.null func", "ref.is_null", "ref.func 18"],
    *["block end", "block (result i32) end", "block (type 18) end", "loop end", "if end", "if (result i64) else end"],
    *_each(f"{_COMPARED} {_COMPUTED} eqz extend8_s extend16_s", "i32."),
    *_each(f"{_COMPARED} {_COMPUTED} eqz extend8_s extend16_s extend32_s extend_i32_s extend_i32_u", "i64."),
    *_each(_FLOATS, "f32."),
    *_each(_FLOATS, "f64."),
    *_each("wrap_i64 reinterpret_f32 trunc_f32_s trunc_f32_u trunc_f64_s trunc_f64_u", "i32."),
    *_each("reinterpret_f64 trunc_f32_s trunc_f32_u trunc_f64_s trunc_f64_u", "i64."),
    *_each("trunc_sat_f32_s trunc_sat_f32_u trunc_sat_f64_s trunc_sat_f64_u", "i32."),
    *_each("trunc_sat_f32_s trunc_sat_f32_u trunc_sat_f64_s trunc_sat_f64_u", "i64."),
    *_each("convert_i32_s convert_i32_u convert_i64_s convert_i64_u demote_f64 reinterpret_i32", "f32."),
    *_each("convert_i32_s convert_i32_u convert_i64_s convert_i64_u promote_f32 reinterpret_i64", "f64."),
    *_each(_LOADS, "i32.", "offset=18 align=1"),
    *_each(f"{_LOADS} load32_s load32_u store32", "i64.", "offset=18 align=1"),
    *_each("load store", "f32.", "offset=4294967295"),
    *_each("load store", "f64.", "offset=18"),
]

INSTRUCTIONS = {
    "": _ALLOWED,
    "tail_call": ["return_call 18", "return_call_indirect 18 (type 18)"],
    "function_references": [
        *["call_ref 18", "return_call_ref 18", "ref.as_non_null", "br_on_null 18", "br_on_non_null 18", "ref.null 18"],
        "block (result (ref null 18)) end",
    ],
    "host_references": ["ref.null extern", "select (result externref)", "block (result externref) end"],
    "exceptions": [
        *["throw 18", "throw_ref", "ref.null exn"],
        "try_table (catch 18 18) (catch_ref 18 18) (catch_all 18) (catch_all_ref 18) end",
        "try catch 18 catch_all rethrow 18 end",
        "try delegate 18",
    ],
    "multi_memory": ["i32.load 18 offset=18 align=1", "i64.store8 18 offset=18"],
    "wide_arithmetic": _each("add128 sub128 mul_wide_s mul_wide_u", "i64."),
    "gc": [
        *["ref.eq", "struct.new 18", "struct.new_default 18", "struct.get 18 18", "struct.get_s 18 18"],
        *["struct.get_u 18 18", "struct.set 18 18", "array.new 18", "array.new_default 18", "array.new_fixed 18 18"],
        *["array.new_data 18 18", "array.new_elem 18 18", "array.get 18", "array.get_s 18", "array.get_u 18"],
        *["array.set 18", "array.len", "array.fill 18", "array.copy 18 18", "array.init_data 18 18"],
        *["array.init_elem 18 18", "ref.i31", "i31.get_s", "i31.get_u", "any.convert_extern", "extern.convert_any"],
        *["ref.test (ref any)", "ref.test (ref null any)", "ref.cast (ref eq)", "ref.cast (ref null eq)"],
        *["br_on_cast 18 anyref eqref", "br_on_cast_fail 18 anyref (ref struct)", "ref.null none"],
    ],
    "simd": [
        *_each(_VECTORS, "i8x16."),
        *_each(f"{_VECTORS} mul neg", "i64x2."),
        *_each("any_true not and andnot bitselect", "v128."),
        *["v128.const i64x2 0x1212121212121212 0x1212121212121212", f"i8x16.shuffle{' 18' * 16}", "i8x16.swizzle"],
        *_each(
            "load store load8x8_s load32x2_u load8_splat load64_splat load32_zero load64_zero", "v128.", "offset=18"
        ),
        *["i8x16.extract_lane_s 11", "i8x16.replace_lane 11", "i64x2.extract_lane 1", "f64x2.replace_lane 1"],
        *["v128.load8_lane offset=18 11", "v128.load64_lane offset=18 1", "v128.store8_lane offset=18 11"],
        *["f32x4.demote_f64x2_zero", "f64x2.promote_low_f32x4", "block (result v128) end", "select (result v128)"],
    ],
    "relaxed_simd": ["i8x16.relaxed_swizzle", "f32x4.relaxed_madd", "i16x8.relaxed_dot_i8x16_i7x16_s"],
    "threads": [
        *["atomic.fence", "memory.atomic.notify offset=18", "memory.atomic.wait32 offset=18"],
        "memory.atomic.wait64 offset=18",
        *_each(_ATOMIC, "i32.", "offset=18"),
        *_each(f"{_ATOMIC} atomic.load32_u atomic.store32", "i64.", "offset=18"),
        *_each(_ATOMIC_CHANGES, "i32.atomic.rmw.", "offset=18"),
        *[f"i64.atomic.rmw32.{name}_u offset=18" for name in _ATOMIC_CHANGES.split()],
    ],
}
"""By the name of the feature, '' for those that are on."""
