"""Imports point one way, and importing evalspan brings in no engine."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ORDER = ("policies", "evaluators", "orchestrator", "backends", "conformance")
SOURCES = {
    "policies": ROOT / "policies/evalspan/policies",
    "evaluators": ROOT / "evaluators_wasm/evalspan/evaluators",
    "orchestrator": ROOT / "orchestrator/evalspan/orchestrator",
    "backends": ROOT / "backends/evalspan/backends",
    "conformance": ROOT / "conformance/evalspan/conformance",
}
ENGINES = ("llama_cpp", "vllm", "torch", "transformers", "regex", "dateutil")


def imported(path: Path) -> set[str]:
    """The evalspan packages that a module imports anywhere, in functions too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
    return {name.split(".")[1] for name in names if name.startswith("evalspan.")}


@pytest.mark.parametrize("package", ORDER)
def test_a_package_imports_only_what_is_before_it(package: str) -> None:
    allowed = set(ORDER[: ORDER.index(package) + 1])
    modules = list(SOURCES[package].rglob("*.py"))
    assert modules
    for module in modules:
        assert imported(module) <= allowed, module


@pytest.mark.parametrize("package", ORDER)
def test_importing_a_package_imports_no_engine(package: str) -> None:
    code = f"import sys, evalspan.{package}; print([name for name in {ENGINES!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


def test_the_plugin_of_the_built_in_backends_imports_no_engine() -> None:
    code = f"import sys, evalspan.backends.plugin; print([name for name in {ENGINES!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


@pytest.mark.parametrize("folder", ["orchestrator", "backends", "evaluators_wasm", "policies", "conformance"])
def test_the_namespace_has_no_init(folder: str) -> None:
    assert not (ROOT / folder / "__init__.py").exists()
    assert not (ROOT / folder / "evalspan" / "__init__.py").exists()
    assert list((ROOT / folder / "evalspan").glob("*/py.typed"))


@pytest.mark.parametrize("package", ORDER)
def test_what_a_package_exports_is_sorted_and_there(package: str) -> None:
    module = __import__(f"evalspan.{package}", fromlist=["__all__"])
    names = list(module.__all__)
    assert names == sorted(names)
    assert all(hasattr(module, name) for name in names)


def test_the_example_registry_is_right() -> None:
    from evalspan.policies import Registry

    assert Registry.load(ROOT / "examples/registry.toml").span("sum").open == "[sum]"


def test_the_lazy_names_of_the_orchestrator_are_those_that_a_type_checker_sees() -> None:
    import evalspan.orchestrator as package

    tree = ast.parse((SOURCES["orchestrator"] / "__init__.py").read_text())
    seen = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("evalspan.")
        for alias in node.names
    }
    assert sorted(seen) == package.__all__
    for name, module in seen.items():
        assert getattr(package, name).__module__ in (module, "typing", "types", "collections.abc"), name
        assert name in package._MODULES[module.removeprefix("evalspan.orchestrator.")].split()
