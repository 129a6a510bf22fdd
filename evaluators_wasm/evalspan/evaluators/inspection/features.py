"""The features of WebAssembly that are off: their names, and how to tell a compiler not to use them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FEATURES", "Feature", "FeatureUse", "Uses"]


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature that no evaluator may use."""

    name: str
    what: str
    rustc: str
    """What turns it off in rustc."""
    clang: str
    """What turns it off in clang and in `zig cc`."""


def _target(name: str, what: str, feature: str) -> Feature:
    """A feature that both compilers call by one name."""
    return Feature(name, what, f"-C target-feature=-{feature}", f"-mno-{feature}")


_NO_C = "C and C++ do not use it"
_NO_RUST = "Rust does not use it"

_ALL = (
    _target("simd", "128-bit vectors", "simd128"),
    _target("relaxed_simd", "vector operations whose results differ between machines", "relaxed-simd"),
    Feature(
        "threads",
        "shared memory and atomic operations",
        "-C target-feature=-atomics, without --shared-memory",
        "-mno-atomics, without -pthread and --shared-memory",
    ),
    _target("tail_call", "calls that replace their caller", "tail-call"),
    Feature(
        "exceptions",
        "tags, throw and catch",
        "-C panic=abort -C target-feature=-exception-handling",
        "-fno-exceptions -mno-exception-handling, without -fwasm-exceptions and setjmp",
    ),
    _target("multi_memory", "more than one memory", "multimemory"),
    Feature("memory64", "64-bit memories and tables", "--target wasm32-unknown-unknown", "-target wasm32-freestanding"),
    _target("wide_arithmetic", "128-bit additions and products", "wide-arithmetic"),
    Feature("custom_page_sizes", "pages of other than 64 KiB", "no --page-size for the linker", "no -Wl,--page-size"),
    Feature("host_references", "references to objects of the host", _NO_RUST, "no __externref_t; -mno-reference-types"),
    Feature("function_references", "typed references to functions", _NO_RUST, _NO_C),
    Feature("gc", "objects that the host collects", _NO_RUST, _NO_C),
    Feature("stack_switching", "continuations", _NO_RUST, _NO_C),
)

FEATURES = {feature.name: feature for feature in _ALL}
"""By name, which is that of `engine.PROPOSALS_OFF` where wasmtime has a switch for it."""


@dataclass(frozen=True, slots=True)
class FeatureUse:
    """Where a module uses a feature that is off."""

    feature: Feature
    count: int
    """How many times."""
    offset: int
    """Byte of the file where the first is."""


class Uses:
    """Collects what a module uses while it is read."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, int]] = {}

    def add(self, name: str, offset: int) -> None:
        """The feature is used at a byte of the file."""
        count, first = self._found.get(name, (0, offset))
        self._found[name] = count + 1, min(first, offset)

    def list(self) -> tuple[FeatureUse, ...]:
        """The uses, in the order of `FEATURES`."""
        found = self._found
        return tuple(FeatureUse(feature, *found[name]) for name, feature in FEATURES.items() if name in found)
